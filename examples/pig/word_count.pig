-- The words of a text that occur most often.
--   incoop pig examples/pig/word_count.pig -param in=corpus -param out=words
%default least '2'

lines   = LOAD '$in' AS (line: chararray);
words   = FOREACH lines GENERATE FLATTEN(TOKENIZE(LOWER(line))) AS word;
known   = FILTER words BY word IS NOT NULL;
grouped = GROUP known BY word;
counted = FOREACH grouped GENERATE group AS word, COUNT(known) AS n;
often   = FILTER counted BY n >= $least;
sorted  = ORDER often BY n DESC, word;
STORE sorted INTO '$out';
