-- Revenue of each user beside what is known of him.
views = LOAD '$views' AS (user: chararray, action: int, spent: int, query: chararray, region: int, day: int, revenue: double);
users = LOAD '$users' AS (name: chararray, phone: chararray, city: chararray, state: int);
both = COGROUP views BY user, users BY name;
sums = FOREACH both GENERATE group, SUM(views.revenue), COUNT(users);
STORE sums INTO '$out/sums';
