"""Deterministic data for benchmarks: text, points, logs. How inputs change is in bench/changes.py."""

from __future__ import annotations

import datetime
import functools
import itertools
import random
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.changes import append, change_every, insert_record, replace_chunks, replace_region

__all__ = [
    "DIMENSIONS",
    "PASSING",
    "append",
    "change_every",
    "insert_record",
    "new_list_line",
    "real_text",
    "replace_chunks",
    "replace_region",
    "write_labelled_points",
    "write_list",
    "write_log",
    "write_points",
    "write_text",
]

#: Distinct words; the exponent gives a 1 MiB chunk about 20,000 of them, as English books have.
_VOCABULARY = 500_000
_EXPONENT = 1.15
_WORDS_IN_A_LINE = 12

#: Points lie in a unit cube of as many dimensions as in the Incoop paper.
DIMENSIONS = 50
_DECIMALS = 6
_POINTS_AT_ONCE = 10_000

#: Of the requests in a real log of four days (10,000 lines of elastic/examples) this share came from clients that were
#: seen on one day only, about four of each, within some minutes of one another.
PASSING = 0.63
_STAYS, _AT_A_TIME = 4, 300

_CLIENTS = 20_000
_PAGES = 5_000
_LINES_AT_ONCE = 50_000
_STATUSES = ("200", "200", "200", "200", "200", "200", "304", "304", "404", "500")
_AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:27.0) Gecko/20100101 Firefox/27.0",
    "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.107 Safari/537.36",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "curl/7.29.0",
)

#: A list's line takes about so many bytes, and a key has so many lines on average: some have one, some hundreds.
_LIST_LINE, _LIST_LINES_A_KEY = 30.0, 2.8
_SYLLABLES = [one + other for one in ("", *"bcdfghjklmnprstvwz", "pl", "tr", "st") for other in "aeiouy"]
_BEGINNINGS = ("lib", "py", "node-", "ruby-", "golang-", "r-", "", "", "", "", "", "")
_ENDINGS = ("-core", "-utils", "-dev", "-api", "-data", "2", "-js", "", "", "", "", "")


@functools.cache
def _vocabulary() -> npt.NDArray[np.object_]:
    rng = np.random.default_rng(7)
    lengths = rng.integers(2, 9, _VOCABULARY)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    drawn = "".join(letters[rng.integers(0, len(letters), lengths.sum())])
    bounds = itertools.pairwise([0, *np.cumsum(lengths).tolist()])
    return np.array([drawn[start:end] + format(n, "x") for n, (start, end) in enumerate(bounds)], object)


def _cumulative(count: int, exponent: float) -> npt.NDArray[np.float64]:
    """For drawing from a Zipf distribution over `count` things."""
    weights = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    return np.cumsum(weights) / weights.sum()


def write_text(path: Path, size: int, seed: int = 2011, vocabulary: int = _VOCABULARY) -> None:
    """A text of at least `size` bytes, whose words are as unevenly distributed as in real text."""
    rng = np.random.default_rng(seed)
    words = _vocabulary()
    cumulative = _cumulative(vocabulary, _EXPONENT)
    written = 0
    with path.open("w") as file:
        while written < size:
            picked = words[
                np.searchsorted(cumulative, rng.random(_WORDS_IN_A_LINE * _LINES_AT_ONCE)).clip(0, vocabulary - 1)
            ]
            written += file.write("".join(" ".join(line) + "\n" for line in picked.reshape(-1, _WORDS_IN_A_LINE)))


def real_text(path: Path) -> bytes:
    """A text of one's own, its words separated by single spaces, so that all tools agree on what a word is."""
    lines = path.read_text(errors="replace").split("\n")
    return "".join(" ".join(words) + "\n" for line in lines if (words := line.split())).encode()


def _points(rng: np.random.Generator, count: int) -> npt.NDArray[np.uint8]:
    """Rows of text: points drawn uniformly from the unit cube, as `0.123456 0.654321 …` with a newline."""
    left = rng.integers(0, 10**_DECIMALS, (count, DIMENSIONS))
    text = np.empty((count, DIMENSIONS, _DECIMALS + 3), np.uint8)
    text[..., 0], text[..., 1] = ord("0"), ord(".")
    for place in range(_DECIMALS + 1, 1, -1):
        left, digit = np.divmod(left, 10)
        text[..., place] = digit + ord("0")
    text[..., -1] = ord(" ")
    text[:, -1, -1] = ord("\n")
    return text.reshape(count, -1)


def write_points(path: Path, size: int, seed: int = 2011) -> None:
    """At least `size` bytes of points, one a line."""
    rng = np.random.default_rng(seed)
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(_points(rng, _POINTS_AT_ONCE).tobytes())


def write_labelled_points(path: Path, size: int, seed: int = 2011) -> None:
    """At least `size` bytes of points, each behind a label from 0 to 9: the first digit of its first coordinate."""
    rng = np.random.default_rng(seed)
    with path.open("wb") as file:
        while file.tell() < size:
            points = _points(rng, _POINTS_AT_ONCE)
            space = np.full((len(points), 1), ord(" "), np.uint8)
            file.write(np.hstack([points[:, 2:3], space, points]).tobytes())


def _address(number: int) -> str:
    """An address of its own for each of four billion passing clients."""
    mixed = number * 0x9E37_79B1 & 0xFFFF_FFFF
    return f"{mixed >> 24}.{mixed >> 16 & 255}.{mixed >> 8 & 255}.{mixed & 255}"


def write_log(path: Path, size: int, seed: int = 2011, passing: float = 0.0) -> None:
    """At least `size` bytes of a web server's log in Apache's combined format; a later seed is a later log.

    A share of the requests is of clients that are `passing` by; the others come from some thousand that stay.
    """
    rng = np.random.default_rng(seed)
    passed = float(seed % 4096 << 20)
    clients = [f"{n % 223 + 1}.{n // 7 % 256}.{n * 31 % 256}.{n * 17 % 256}" for n in range(_CLIENTS)]
    pages = [f"/{('blog', 'files', 'images', 'projects')[n % 4]}/{n:04x}.html" for n in range(_PAGES)]
    now = datetime.datetime(2015, 5, 17, tzinfo=datetime.UTC) + datetime.timedelta(days=seed - 2011)
    by_client, by_page = _cumulative(_CLIENTS, 1.0), _cumulative(_PAGES, 1.1)
    written = 0
    with path.open("w") as file:
        while written < size:
            strangers = (rng.random(_LINES_AT_ONCE) < passing).tolist() if passing else [False] * _LINES_AT_ONCE
            picked = zip(
                strangers,
                np.searchsorted(by_client, rng.random(_LINES_AT_ONCE)).clip(0, _CLIENTS - 1).tolist(),
                np.searchsorted(by_page, rng.random(_LINES_AT_ONCE)).clip(0, _PAGES - 1).tolist(),
                rng.integers(0, len(_STATUSES), _LINES_AT_ONCE).tolist(),
                rng.integers(200, 200_000, _LINES_AT_ONCE).tolist(),
                strict=True,
            )
            for stranger, client, page, status, sent in picked:
                now += datetime.timedelta(seconds=sent % 3)
                passed += stranger / _STAYS
                who = _address(int(passed) + sent % _AT_A_TIME) if stranger else clients[client]
                written += file.write(
                    f"{who} - - [{now:%d/%b/%Y:%H:%M:%S} +0000] "
                    f'"GET {pages[page]} HTTP/1.1" {_STATUSES[status]} {sent} '
                    f'"http://example.org{pages[page - 1]}" "{_AGENTS[client % len(_AGENTS)]}"\n'
                )


def _package(rng: random.Random) -> str:
    middle = "".join(rng.choices(_SYLLABLES, k=rng.choice((3, 4, 5, 5, 6, 6))))
    return rng.choice(_BEGINNINGS) + middle + rng.choice(_ENDINGS)


def _list_line(name: str, rng: random.Random) -> str:
    size = int(rng.lognormvariate(11.5, 1.8)) + 500
    return f"{name} {rng.randrange(12)}.{rng.randrange(40)}.{rng.randrange(20)} {size}\n"


def write_list(path: Path, size: int, seed: int = 2011) -> None:
    """A sorted list of about `size` bytes: package names, each with its versions and their sizes."""
    rng = random.Random(seed)
    keys = max(1, round(size / _LIST_LINE / _LIST_LINES_A_KEY))
    names: set[str] = set()
    while len(names) < keys:
        names.add(_package(rng))
    # A long tail: most names have one to three lines, one in ten thousand hundreds. Clipped, the mean is below 2.
    rates = np.random.default_rng(seed).pareto(1.5, keys).clip(max=500) * (_LIST_LINES_A_KEY - 1) * 0.53
    counts = 1 + np.random.default_rng(seed + 1).poisson(rates)
    lines = [
        _list_line(name, rng) for name, count in zip(sorted(names), counts.tolist(), strict=True) for _ in range(count)
    ]
    lines.sort()
    path.write_text("".join(lines))


def new_list_line(line: bytes, same: bool, rng: random.Random) -> bytes:
    """A line for a list made of one of its own: the same with another size, or a new version or name."""
    name, version, _ = line.decode().split(" ")
    fresh = _list_line(name if same or rng.random() < 0.6 else name + rng.choice(_SYLLABLES), rng).split(" ")
    return " ".join([fresh[0], version if same else fresh[1], fresh[2]]).encode()
