-- What each user spent on each action.
views = LOAD '$views' AS (user: chararray, action: int, spent: int, query: chararray, region: int, day: int, revenue: double);
pairs = GROUP views BY (user, action);
sums = FOREACH pairs GENERATE FLATTEN(group), SUM(views.spent), AVG(views.revenue), COUNT(views);
STORE sums INTO '$out/sums';
