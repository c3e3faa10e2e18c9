-- Different queries and users of each day, in nested blocks.
views = LOAD '$views' AS (user: chararray, action: int, spent: int, query: chararray, region: int, day: int, revenue: double);
days = GROUP views BY (day, region);
counted = FOREACH days {
    queries = DISTINCT views.query;
    users = DISTINCT views.user;
    GENERATE FLATTEN(group) AS (day, region), COUNT(queries), COUNT(users);
}
STORE counted INTO '$out/counted';
