-- All names that occur anywhere.
views = LOAD '$views' AS (user: chararray, action: int, spent: int, query: chararray, region: int, day: int, revenue: double);
users = LOAD '$users' AS (name: chararray, phone: chararray, city: chararray, state: int);
seen = FOREACH views GENERATE user AS name;
known = FOREACH users GENERATE name;
both = UNION ONSCHEMA seen, known;
names = DISTINCT both;
STORE names INTO '$out/names';
