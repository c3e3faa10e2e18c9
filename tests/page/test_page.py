"""The page itself: what it says, that it is HTML, that nothing in it is obeyed, how large it gets."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incoop.base.errors import BadCall
from incoop.engine.events import DidBegin, DidCommit, DidFinish, DidLook
from incoop.engine.failures import ChangesLost
from incoop.engine.record import PastRun
from incoop.page import write_page
from incoop.page.style import STYLE
from incoop.page.texts import percent
from incoop.page.write import page
from incoop.result import Change

from .check import ReadPage
from .runs import ToldRun, events_of, some_history

HOSTILE = (
    "</script></style></td><script>alert(1)</script><img src=x onerror=alert(1)>\"'`&amp;\x00\x1b[2J\u202e\ud800]]>"
)


def an_update(**more: Any) -> ToldRun:
    told = events_of(10_000, {3: -1, 4000: 700, 9999: -1}, lost=(3,))
    given = {"pairs": [("oak", 3), ("larch", 2)], "changed": [Change("oak", 2, 3), Change("elm", None, 1)]}
    return ToldRun(told, some_history(), **(given | more))


def test_the_first_screen_says_what_happened_and_what_it_cost() -> None:
    said = ReadPage(page(an_update())).said
    assert "99.97 % of 655 MB was reused: 132 kB were mapped, in 91.2 ms; the first run took 12.7 s." in said
    assert "139 times as fast as the first run" in said
    assert "9,997 of 10,000 chunks as they were; 212 of 3,004 keys reduced" in said
    assert "no warnings" in said and "nothing was computed again" in said


def test_chunks_that_were_not_reused_are_listed_with_the_reason() -> None:
    said = ReadPage(page(an_update())).said
    assert "1 chunk lost: stored by the last run, and damaged or gone since" in said
    assert "1 chunk patched: some bytes are new" in said and "700  of 65,536" in said
    assert "1 chunk mapped: the content is new" in said
    assert "/data/logs/access.24.log" in said and "2 chunks of the last run are gone" in said


def test_a_reason_for_all_is_said_once() -> None:
    fresh = dict.fromkeys(range(500), -1)
    first = ToldRun(events_of(500, fresh, why="the job has not run in this store"), some_history(1))
    said = ReadPage(page(first)).said
    assert said.count("the job has not run in this store") == 1 and "access." not in said
    assert "All 500 chunks were mapped for one reason" in said and "Every key is new" in said
    code = ("function `clean` in `textutil` changed", "global `STOP` in `textutil` removed")
    changed = ToldRun(events_of(500, fresh, why=f"code changed: {code[0]}", code=code), some_history(3))
    said = ReadPage(page(changed)).said
    assert all(said.count(part) == 1 for part in code) and "All 500 chunks were mapped for that" in said


def test_another_reducer_maps_nothing_and_is_named() -> None:
    code = ("function `total` in `job` changed",)
    said = ReadPage(page(ToldRun(events_of(500, {}, why="code changed", code=code), some_history(3)))).said
    assert code[0] in said and "Every chunk was reused" in said


def test_levels_phases_runs_changes_and_warnings_are_there() -> None:
    told = events_of(40, {1: 7}, warnings=("mapper `words` reads the clock",), verified=True, counters={"bad lines": 8})
    read = ReadPage(page(ToldRun(told, some_history(), [("oak", 3)], [Change("oak", 2, 3), Change("elm", 1, None)])))
    words = read.said.split()
    for said in ("root 1 1 0", "level 2 40 3 37", "level 1 625 5 620", "chunks 40 1 39", "oak 2 3", "elm 1 gone"):
        assert said in " ".join(words), said
    for said in ("mapping", "contracting", "reducing", "looking at code and input", "bytes of the store", "bad lines"):
        assert said in read.said, said
    assert "1 warning" in read.said and "mapper `words` reads the clock" in read.said
    assert "12 chunks and 2 shards computed again from scratch: equal" in read.said
    assert read.said.count("UTC") == 51, "the run, and fifty in the table"


def test_changes_that_are_not_known_are_said_not_to_be() -> None:
    said = ReadPage(page(an_update(changed=ChangesLost("word count", "its record was lost")))).said
    assert "its record was lost" in said


def test_a_job_that_tells_little_has_a_page_all_the_same() -> None:
    told = [DidBegin("lines"), DidLook(0, 0.0), DidFinish(0, {}), DidCommit(1, True, 0.0)]
    read = ReadPage(page(ToldRun(told, (PastRun(1, -1e30, 0.0, 0, 0),))))
    assert "does not tell of chunks" in read.said and "The result is empty" in read.said


def test_all_is_said_only_of_all() -> None:
    assert percent(10**12 - 1, 10**12) == "99.99 %" and percent(10**12, 10**12) == "100 %" and percent(0, 0) == "100 %"


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Shouting(str):
    def __repr__(self) -> str:
        return "<script>"


@pytest.mark.parametrize(
    "value",
    [
        HOSTILE,
        (HOSTILE,),
        {HOSTILE: [HOSTILE]},
        HOSTILE.encode("utf-8", "surrogatepass"),
        Unspeakable(),
        Shouting("\n"),
    ],
    ids=["text", "tuple", "dict", "bytes", "an object that cannot be shown", "a repr that is markup"],
)
def test_nothing_that_a_user_has_is_obeyed(value: Any) -> None:
    def with_text(key: Any, said: str) -> ToldRun:
        told = events_of(40, {1: 7}, why=said, code=(said,), warnings=(said,), folder=said, counters={said: 1})
        return ToldRun(told, some_history(9), [(key, key)], [Change(key, key, key)], job=said)

    given = page(with_text(value, HOSTILE))
    assert ReadPage(given).tags == ReadPage(page(with_text("harmless", "harmless"))).tags
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", given)
    given.encode()


@settings(max_examples=60)
@given(st.text(), st.one_of(st.text(), st.binary(), st.integers(), st.floats(), st.tuples(st.text(), st.none())))
def test_whatever_texts_are_the_elements_are_the_same(said: str, key: Any) -> None:
    told = events_of(40, {1: 7}, why=said or "x", code=(said,), warnings=(said,), folder=said)
    changed = [Change(key, said, 1)]
    read = ReadPage(page(ToldRun(told, some_history(3), [(key, said)], changed, job=said)))
    other = events_of(40, {1: 7}, why="x", code=("x",), warnings=("x",), folder="x")
    assert read.tags == ReadPage(page(ToldRun(other, some_history(3), [("x", "x")], [Change("x", "x", 1)]))).tags


def test_passwords_in_addresses_are_not_shown_even_where_they_are_cut() -> None:
    secret = f"cannot reach redis://user:{'hunter2' * 60}@host:6379/0"
    assert "hunter2" not in page(ToldRun(events_of(4, {1: 7}, warnings=(secret,))))


def test_ten_thousand_chunks_stay_below_300_kb_with_the_worst_in_every_list() -> None:
    long = (HOSTILE + "&" * 400)[:500]
    fresh = {at: (-1 if at % 2 else 5) for at in range(0, 10_000) if at // 8 % 4}
    lost = tuple(at for at in fresh if at // 8 % 4 == 3)
    told = events_of(
        *(10_000, fresh),
        lost=lost,
        why=long,
        code=(long,) * 900,
        warnings=tuple(f"{at}{long}" for at in range(900)),
        folder=long,
        counters={f"{at}{long}": at for at in range(900)},
        levels=((5000, 1),) * 40,
    )
    worst = ToldRun(
        told,
        tuple(PastRun(10**9 + at, 1e9 + at, 1e6 + at, 10**15, 10**15 - at, 10**15 + at) for at in range(50)),
        [(f"{at}{long}", long) for at in range(4_900)],
        [Change(f"{at}{long}", long, long) for at in range(4_000)],
        job=long,
    )
    assert len(page(worst).encode()) < 300_000
    ReadPage(page(worst))


def test_six_long_series_stay_below_300_kb() -> None:
    pairs = [
        ((f"2026-11-{at % 27 + 1:02}T{at % 24:02}:{at % 60:02}", f"{at % 6}"), at * 7919 % 101) for at in range(5000)
    ]
    assert len(page(an_update(pairs=pairs)).encode()) < 120_000


def test_a_page_asks_for_nothing_and_runs_nothing() -> None:
    read = ReadPage(page(an_update()))
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base", "use", "image"} & set(read.tags)
    for _, attributes in read.elements:
        for name, value in attributes:
            assert not name.startswith("on") and name not in ("src", "srcset", "action", "xlink:href")
            assert name != "href" or str(value).startswith("#")
    assert "url(" not in STYLE and "@import" not in STYLE and "@font-face" not in STYLE
    policy = dict(next(each for tag, each in read.elements if tag == "meta" and each[0][0] == "http-equiv"))
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'"


def test_pictures_have_words_and_tables_titles() -> None:
    read = ReadPage(page(an_update()))
    pictures = [dict(attributes) for tag, attributes in read.elements if tag == "svg"]
    assert len(pictures) >= 8 and all(each["role"] == "img" and each["aria-label"] for each in pictures)
    assert all(dict(attributes)["scope"] == "col" for tag, attributes in read.elements if tag == "th")
    assert read.tags.count("table") == read.tags.count("thead") and read.tags.count("h1") == 1
    assert "10,000 chunks in input order: 9,997 reused, 1 patched, 1 mapped, 1 lost" in [
        each["aria-label"] for each in pictures
    ]


def luminance(colour: str) -> float:
    wide = colour if len(colour) == 7 else "#" + "".join(2 * each for each in colour[1:])
    parts = [int(wide[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_its_ground(scheme: int) -> None:
    colours = dict(re.findall(r"--(\w+):(#\w+)", STYLE.split(":root{")[1 + scheme].split("}")[0]))
    for ground in ("ground", "raised"):
        for ink in ("text", "soft", "accent", "lost"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for cell in ("patched", "accent", "lost"):
        assert contrast(colours[cell], colours["reused"]) >= 1.4, cell


def test_a_page_replaces_the_last_one_or_leaves_it(tmp_path: Any) -> None:
    place = tmp_path / "report.html"
    write_page(place, an_update())
    before = place.read_bytes()

    class Broken(ToldRun):
        def __iter__(self) -> Any:
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        write_page(place, Broken(events_of(4, {})))
    assert place.read_bytes() == before and [path.name for path in tmp_path.iterdir()] == ["report.html"]

    link = tmp_path / "link.html"
    link.symlink_to(place)
    write_page(str(link), an_update(pairs=[]))
    assert link.is_symlink() and place.read_bytes() != before


@pytest.mark.parametrize("place", ["missing/report.html", ".", "/dev/null", "s3://bucket/report.html"])
def test_a_place_that_cannot_hold_a_page_is_refused(place: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadCall):
        write_page(place, an_update())
    assert list(tmp_path.iterdir()) == []


def test_nor_does_a_link_to_itself(tmp_path: Any) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(BadCall, match="its links lead in a circle"):
        write_page(tmp_path / "loop", an_update())
