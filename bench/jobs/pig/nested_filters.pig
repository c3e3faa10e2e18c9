-- Morning and evening of each user.
views = LOAD '$views' AS (user: chararray, action: int, spent: int, query: chararray, region: int, day: int, revenue: double);
users = GROUP views BY user;
halves = FOREACH users {
    early = FILTER views BY spent < 500;
    late = FILTER views BY spent >= 500;
    GENERATE group, COUNT(early), COUNT(late), MAX(late.revenue);
}
STORE halves INTO '$out/halves';
