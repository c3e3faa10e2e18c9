-- Who visits a site, with what, and what they look for: from an access log in nginx's or Apache's combined format.
--   incoop pig examples/pig/visits.pig -param in=access.log -param out=visits
REGISTER 'agents.py' USING jython AS agents;
IMPORT 'macros.pig';

lines = LOAD '$in' USING TextLoader() AS (line: chararray);
parts = FOREACH lines GENERATE FLATTEN(REGEX_EXTRACT_ALL(line,
    '^(\\S+) \\S+ \\S+ \\[([^:]+):(\\d+)[^\\]]*\\] "(\\S+) (\\S+)[^"]*" (\\d+) (\\d+) "([^"]*)" "([^"]*)".*$'))
    AS (address: chararray, day: chararray, hour: int, method: chararray, page: chararray, status: int, bytes: long,
        referrer: chararray, agent: chararray);
SPLIT parts INTO good IF status < 400, bad IF status >= 400, malformed IF status IS NULL;

days = FOREACH (GROUP good BY day) {
    visitors = DISTINCT good.address;
    GENERATE group AS day, COUNT(good) AS requests, COUNT(visitors) AS visitors, SUM(good.bytes) AS bytes;
}
STORE days INTO '$out/days';

pages = FOREACH (GROUP good BY page) GENERATE group AS page, COUNT(good) AS requests;
first = most(pages, requests, 10);
STORE first INTO '$out/pages';

seen = FOREACH good GENERATE agents.device(agent) AS device, address, hour;
devices = FOREACH (GROUP seen BY (device, hour)) GENERATE FLATTEN(group) AS (device, hour), COUNT(seen) AS requests;
STORE devices INTO '$out/devices' USING PigStorage(',');

lost = FOREACH (GROUP bad BY (status, page)) GENERATE FLATTEN(group) AS (status, page), COUNT(bad) AS times;
STORE lost INTO '$out/lost';

left = FOREACH (GROUP malformed ALL) GENERATE COUNT_STAR(malformed);
DUMP left;
