-- Users who looked at nothing.
views = LOAD '$views' AS (user: chararray, action: int, spent: int, query: chararray, region: int, day: int, revenue: double);
users = LOAD '$users' AS (name: chararray, phone: chararray, city: chararray, state: int);
both = COGROUP users BY name, views BY user;
idle = FILTER both BY IsEmpty(views);
found = FOREACH idle GENERATE FLATTEN(users);
STORE found INTO '$out/idle';
