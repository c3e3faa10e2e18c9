-- All views, by three keys.
views = LOAD '$views' AS (user: chararray, action: int, spent: int, query: chararray, region: int, day: int, revenue: double);
kept = FOREACH views GENERATE query, revenue, spent;
sorted = ORDER kept BY query, revenue DESC, spent;
STORE sorted INTO '$out/sorted';
