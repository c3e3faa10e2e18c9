-- Revenue by the city of users.
views = LOAD '$views' AS (user: chararray, action: int, spent: int, query: chararray, region: int, day: int, revenue: double);
users = LOAD '$users' AS (name: chararray, phone: chararray, city: chararray, state: int);
both = JOIN views BY user, users BY name;
cities = GROUP both BY city;
sums = FOREACH cities GENERATE group, SUM(both.revenue), COUNT(both);
STORE sums INTO '$out/sums';
