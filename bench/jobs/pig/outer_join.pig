-- Views by state, also of users that nobody knows.
views = LOAD '$views' AS (user: chararray, action: int, spent: int, query: chararray, region: int, day: int, revenue: double);
users = LOAD '$users' AS (name: chararray, phone: chararray, city: chararray, state: int);
both = JOIN views BY user LEFT OUTER, users BY name;
states = GROUP both BY state;
counted = FOREACH states GENERATE group, COUNT_STAR(both), SUM(both.spent);
STORE counted INTO '$out/counted';
