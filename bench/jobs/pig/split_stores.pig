-- Several outputs of one input.
views = LOAD '$views' AS (user: chararray, action: int, spent: int, query: chararray, region: int, day: int, revenue: double);
SPLIT views INTO cheap IF revenue < 10.0, dear IF revenue >= 90.0, middling OTHERWISE;
STORE dear INTO '$out/dear';
few = FOREACH (GROUP cheap BY query) GENERATE group, COUNT(cheap);
STORE few INTO '$out/cheap';
regions = FOREACH (GROUP middling BY region) GENERATE group, SUM(middling.revenue);
STORE regions INTO '$out/middling';
