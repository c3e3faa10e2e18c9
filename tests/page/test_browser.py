"""The page in a real browser: it complains of nothing, asks for nothing, fits a phone, and needs no script."""

from __future__ import annotations

from pathlib import Path

import pytest

from incoop.page import write_page
from incoop.result import Change

from .browser import Browser
from .runs import ToldRun, events_of, some_history
from .test_page import HOSTILE, an_update

#: What no line can be broken in.
LONG = "a-very-long-name" * 20

PAGES = {
    "an update": an_update(),
    "a first run": ToldRun(events_of(10_000, dict.fromkeys(range(10_000), -1)), some_history(1)),
    "few chunks": ToldRun(events_of(3, {1: 9}, levels=((1, 0),)), some_history(2), [("oak", 1)], [Change("oak", 0, 1)]),
    "a series": an_update(pairs=[(f"2026-11-{day:02}", day * 7 % 5) for day in range(1, 30)]),
    "hostile texts": ToldRun(
        events_of(40, {1: 7}, code=(HOSTILE, LONG), warnings=(HOSTILE, LONG), folder=LONG, counters={LONG: 1}),
        some_history(),
        [(HOSTILE, LONG), (LONG, HOSTILE), (LONG, 10**200)],
        [Change(HOSTILE, LONG, HOSTILE), Change(LONG, 10**200, LONG)],
        job=LONG,
    ),
}

#: Every element, and how high it is.
SHAPE = "[...document.querySelectorAll('*')].map(e => e.tagName + Math.round(e.getBoundingClientRect().height)).join()"

#: Elements that stick out of a phone, by name and class; the window itself grows with them.
OUTSIDE = """
document.querySelectorAll('details').forEach(each => each.open = true);
[...document.querySelectorAll('body *')].filter(each => each.getBoundingClientRect().right > 375.5)
.map(each => each.tagName + '.' + each.className)
"""


@pytest.fixture(params=PAGES, ids=str)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    place = tmp_path / "report.html"
    write_page(place, PAGES[request.param])
    return place.as_uri()


def test_a_page_is_shown_without_complaint_and_asks_for_nothing_with_and_without_scripts(
    browser: Browser, url: str
) -> None:
    on, off = browser.visit(url), browser.visit(url, scripts=False)
    for visit in (on, off):
        assert visit.complaints == [] and visit.requests == [url]
    assert on.ask("document.scripts.length") == 0 and on.ask("document.compatMode") == "CSS1Compat"
    assert on.ask(SHAPE) == off.ask(SHAPE)


def test_a_page_fits_a_phone_with_everything_unfolded(browser: Browser, url: str) -> None:
    visit = browser.visit(url, width=375, scripts=False)
    assert visit.ask(OUTSIDE) == []
    assert visit.ask("document.documentElement.scrollWidth") == 375 == visit.ask("innerWidth")


def test_a_page_follows_the_scheme_that_its_reader_prefers(browser: Browser, tmp_path: Path) -> None:
    write_page(tmp_path / "report.html", an_update())
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = (browser.visit((tmp_path / "report.html").as_uri(), dark=dark).ask(ground) for dark in (False, True))
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(20, 23, 26)")


def test_the_browser_of_these_tests_notices_what_they_look_for(browser: Browser, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    head = "<!DOCTYPE html><meta name=viewport content='width=device-width'>"
    bad.write_text(f"{head}<img src=x.png><script>nosuch()</script><div style='width:600px'>wide</div>")
    visit = browser.visit(bad.as_uri(), width=375)
    assert any("nosuch" in each for each in visit.complaints) and any("x.png" in each for each in visit.requests)
    assert "DIV." in visit.ask(OUTSIDE)
    assert not any("nosuch" in each for each in browser.visit(bad.as_uri(), scripts=False).complaints)
