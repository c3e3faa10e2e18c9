"""Write lines of an access log to a file, behind those that it has: python examples/logs/make_logs.py access.log 20000

The format is nginx's combined one with $request_time behind it. A line follows from its number: the same file comes out
every time, all at once or piece by piece. One line in a thousand is cut off, as when a disk was full.
"""

import datetime
import pathlib
import random
import sys

START = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
SECONDS = 9

URLS = ["/", "/news", "/about", "/search?q=logs", "/login", "/img/logo.png", "/feed.xml", "/docs/start", "/docs/faq"]
URLS += [f"/article/{number}" for number in range(200)]
REFERRERS = ["-", "-", "https://example.org/", "https://search.example/?q=incremental", "https://news.example/today"]
AGENTS = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile Safari/604.1",
    r"Feed\x22Reader\x22/2.1",
]


def line(number):
    rng = random.Random(number)
    time = START + datetime.timedelta(seconds=SECONDS * number + rng.randrange(SECONDS))
    visitor = int(rng.paretovariate(0.7)) % 3000
    host = f"2001:db8::{visitor:x}" if visitor % 7 == 0 else f"10.0.{visitor >> 8}.{visitor & 255}"
    url = URLS[int(rng.paretovariate(0.5) - 1) % len(URLS)]
    broken = number // 40 % 50 == 7  # six minutes in which the server is in trouble
    status = rng.choices([200, 304, 404, 500], [20, 4, 1, 30 if broken else 0.1])[0]
    size = 0 if status == 304 else rng.randrange(200, 60_000)
    took = rng.lognormvariate(-3.5, 0.8) * (10 if broken else 1)
    made = (
        f'{host} - - [{time:%d/%b/%Y:%H:%M:%S} +0000] "GET {url} HTTP/1.1" {status} {size} '
        f'"{rng.choice(REFERRERS)}" "{AGENTS[visitor % len(AGENTS)]}" {took:.3f}'
    )
    return made[: rng.randrange(40)] if number % 1000 == 500 else made


def main():
    path, lines = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    there = path.read_bytes().count(b"\n") if path.exists() else 0
    with path.open("a", encoding="utf-8", newline="\n") as log:
        log.writelines(line(number) + "\n" for number in range(there, there + lines))


if __name__ == "__main__":
    main()
