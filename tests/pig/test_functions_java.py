"""Java's notations in Python: regular expressions, and patterns of dates."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incoop.fronts.pig.functions.date_patterns import date_pattern, zone_of
from incoop.fronts.pig.functions.java_regex import BadPattern, as_re2, compiled, java_replace, java_split
from incoop.fronts.pig.functions.text import MATCHES
from incoop.query.warnings import NoValue

FULL = [
    # what is alike
    (r"a+b?[c-e]{2}", "aacd", True),
    (r"\d{3}-\w+", "123-x_y", True),
    (r"(?:a|b)*?c", "abac", True),
    (r"(?<year>\d+)-\k<year>", "12-12", True),
    (r"(a)(b)\2\1", "abba", True),
    (r"a*+a", "aaa", False),
    (r"(?>a+)b", "aab", True),
    (r"\p{Alpha}\p{Digit}\P{Punct}", "a1 ", True),
    # ASCII only
    (r"\w", "ä", False),
    (r"\d", "٣", False),
    (r"(?i)straße", "STRAßE", True),
    (r"(?i)ä", "Ä", False),
    # what is another thing in Python
    (r"\p{L}+", "äß", True),
    (r"\p{Lu}\P{Lu}", "Äb", True),
    (r"[\p{Lu}\d]+", "Ä1", True),
    (r"[^\p{Lu}]", "Ä", False),
    (r"[a-d[m-p]]+", "cat", False),
    (r"[a-d[m-p]]+", "damp", True),
    (r"[a-z&&[def]]+", "fed", True),
    (r"[a-z&&[def]]+", "feda", False),
    (r"[a-z&&[^aeiou]]", "e", False),
    (r"[^a-z&&[def]]", "a", True),
    (r"[a-z&&d-f]+", "def", True),
    (r"[]a]+", "]a", True),
    (r"[a\-z]+", "-", True),
    (r"[a-]+", "-a", True),
    (r"[\[\]]+", "[]", True),
    (r"\Qa.b\E.", "a.bc", True),
    (r"\Qa.b", "a.b", True),
    (r"[\Q^]\E]+", "^]", True),
    (r"\x41\u0042\x{43}\0104\cA", "ABCD\x01", True),
    (r"a\tb\e", "a\tb\x1b", True),
    (r"a(?i)b|c", "aB", True),
    (r"a(?i)b|c", "C", True),
    (r"a(?i)b|c", "AB", False),
    (r"(a(?i)b)c", "aBC", False),
    (r"(?i:a)b", "Ab", True),
    (r"(?i)a(?-i)b", "AB", False),
    (r".", "\n", False),
    (r".", "\u2028", False),
    (r".", "\r", False),
    (r"(?s).", "\n", True),
    (r"(?d).", "\r", True),
    (r"\h\H\v\V", " a\nb", True),
    (r"a\Rb", "a\r\nb", True),
    (r"(a)\11", "aa1", True),
    (r"\2(a)(b)", "ab", False),
    (r"[&&a]", "a", True),
    (r"[a&]", "&", True),
    (r"[|~-]+", "|~-", True),
    ("", "", True),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), FULL)
def test_patterns_of_java(pattern: str, text: str, expected: bool) -> None:
    assert (compiled(pattern).fullmatch(text) is not None) is expected


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("a$", "a\r\n", 0),
        ("a$", "a\u0085", 0),
        ("a$", "a\nb", None),
        ("(?m)a$", "xa\rb", 1),
        ("(?m)^b", "a\rb", 2),
        ("(?m)^", "a\n", 0),
        (r"a\Z", "a\n", 0),
        (r"a\z", "a\n", None),
        ("^a", "\na", None),
        (r"\bb", "a b", 2),
    ],
)
def test_where_lines_and_texts_begin_and_end(pattern: str, text: str, expected: int | None) -> None:
    found = compiled(pattern).search(text)
    assert (None if found is None else found.start()) == expected


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "a)", "[a", "[", "*a", "a\\", "\\y", "(?<n", "(?z)", "(?x)a b", "\\p{InGreek}", "\\p", "\\G",
     "\\k<n>", "(?<=a*)b", "\\x4", "\\u12", "\\x{110000}", "\\c", "[z-a]", "a{2,1}", "\\b{g}", "(?#c)", "[a-\\d]"],
)  # fmt: skip
def test_what_is_no_pattern_or_has_no_counterpart_is_refused_with_its_reason(pattern: str) -> None:
    with pytest.raises(BadPattern) as caught:
        compiled(pattern)
    assert caught.value.pattern == pattern
    assert repr(pattern) in str(caught.value) and len(caught.value.reason) > 10


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab(c)[]{}|*+?.\\^$-&1,dwQEpPLi:<>=!", max_size=12), st.text(alphabet="abc1\n", max_size=6))
def test_no_pattern_is_another_error(pattern: str, text: str) -> None:
    try:
        rule = compiled(pattern)
    except BadPattern:
        return
    assert isinstance(rule, re.Pattern)
    rule.search(text)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="abc.|?+*", max_size=8), st.text(alphabet="abc", max_size=6))
def test_plain_patterns_match_what_python_matches(pattern: str, text: str) -> None:
    try:
        expected = re.compile(pattern, re.ASCII)
    except re.error:
        return
    found = compiled(pattern)
    assert [each.span() for each in found.finditer(text)] == [each.span() for each in expected.finditer(text)]


@pytest.mark.parametrize(
    ("text", "pattern", "limit", "expected"),
    [
        ("a,b", ",", 0, ["a", "b"]),
        (",a,", ",", 0, ["", "a"]),
        (",a,", ",", -1, ["", "a", ""]),
        ("a,b,c", ",", 2, ["a", "b,c"]),
        ("a,b", ",", 1, ["a,b"]),
        ("abc", "", 0, ["a", "b", "c"]),
        ("abc", "", 2, ["a", "bc"]),
        ("boo:and:foo", "o", 5, ["b", "", ":and:f", "", ""]),
        ("boo:and:foo", "o", 0, ["b", "", ":and:f"]),
        ("", ",", 0, [""]),
        (",,", ",", 0, []),
        ("a1b", r"(?=\d)", 0, ["a", "1b"]),
    ],
)
def test_split_is_javas(text: str, pattern: str, limit: int, expected: list[str]) -> None:
    assert java_split(text, pattern, limit) == expected


@pytest.mark.parametrize(
    ("text", "pattern", "new", "expected"),
    [
        ("baac", "a*", "-", "-b--c-"),
        ("abc", "(b)", "[$1]", "a[b]c"),
        ("abc", "(b)", "$12", "ab2c"),
        ("abc", "(?<x>b)", "${x}${x}", "abbc"),
        ("abc", "b", "\\$\\\\", "a$\\c"),
        ("abc", "b", "$0$0", "abbc"),
    ],
)
def test_replace_all_is_javas(text: str, pattern: str, new: str, expected: str) -> None:
    assert java_replace(text, pattern, new) == expected


@pytest.mark.parametrize("new", ["$", "\\", "$2", "${n}", "$x"])
def test_a_replacement_that_says_what_there_is_not(new: str) -> None:
    with pytest.raises(ValueError, match=r"no group|at the end"):
        java_replace("a", "(a)", new)


MOMENT = datetime(2015, 1, 3, 0, 5, 7, 89000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("pattern", "printed"),
    [
        ("yyyy-MM-dd'T'HH:mm:ss.SSSZZ", "2015-01-03T00:05:07.089+00:00"),
        ("yy.M.d", "15.1.3"),
        ("yyyyMMddHHmmss", "20150103000507"),
        ("EEE EEEE MMM MMMM", "Sat Saturday Jan January"),
        ("h K k H a", "12 0 24 0 AM"),
        ("xxxx-'W'ww-e", "2015-W01-6"),
        ("D DDD", "3 003"),
        ("S SS SSSS", "0 08 0890"),
        ("G CC YYYY", "AD 20 2015"),
        ("z Z ZZZ", "UTC +0000 UTC"),
        ("'o''clock' ''", "o'clock '"),
        ("yyyyy", "02015"),
    ],
)
def test_dates_are_printed_by_patterns(pattern: str, printed: str) -> None:
    assert date_pattern(pattern).printed(MOMENT) == printed


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("yyyy-MM-dd HH:mm:ss", "2015-1-3 0:05:07", datetime(2015, 1, 3, 0, 5, 7)),
        ("yyyyMMdd", "20150103", datetime(2015, 1, 3)),
        ("dd/MMM/yyyy:HH:mm:ss Z", "03/jan/2015:00:05:07 -0100", datetime(2015, 1, 3, 1, 5, 7)),
        ("yy-MM-dd", "99-01-03", datetime(1999, 1, 3)),
        ("yy-MM-dd", "1599-01-03", datetime(1599, 1, 3)),
        ("MM/dd", "02/29", datetime(2000, 2, 29)),
        ("HH:mm", "07:30", datetime(1970, 1, 1, 7, 30)),
        ("yyyy", "2015", datetime(2015, 1, 1)),
        ("yyyy D", "2016 60", datetime(2016, 2, 29)),
        ("xxxx-'W'ww-e", "2015-W01-6", datetime(2015, 1, 3)),
        ("h a", "12 PM", datetime(1970, 1, 1, 12)),
        ("K a", "0 PM", datetime(1970, 1, 1, 12)),
        ("kk", "24", datetime(1970, 1, 1, 0)),
        ("ss.SSS", "07.089", datetime(1970, 1, 1, 0, 0, 7, 89000)),
        ("ss.SSS", "07.5", datetime(1970, 1, 1, 0, 0, 7, 500000)),
        ("yyyy-MM-dd HH z", "2015-01-03 00 PST", datetime(2015, 1, 3, 8)),
        ("yyyy-MM-dd HH ZZZ", "2015-07-03 00 Europe/Berlin", datetime(2015, 7, 2, 22)),
        ("EEEE, yyyy-MM-dd", "Saturday, 2015-01-03", datetime(2015, 1, 3)),
    ],
)
def test_dates_are_read_by_patterns(pattern: str, text: str, expected: datetime) -> None:
    assert date_pattern(pattern).read(text) == expected.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyy-MM-dd", "2015-02-29"),
        ("yyyy-MM-dd", "2015-01-03 "),
        ("yyyy-MM-dd", "99999-01-03"),
        ("HH", "24"),
        ("kk", "0"),
        ("hh a", "13 AM"),
        ("KK a", "12 AM"),
        ("yyyy D", "2015 366"),
        ("EEE, yyyy-MM-dd", "Sun, 2015-01-03"),
        ("G yyyy", "BC 44"),
        ("xxxx-ww-e", "2015-01-9"),
        ("yyyy ZZZ", "2015 Nowhere/Else"),
        ("yyyyMMdd", "2015-1-3"),
    ],
)
def test_a_text_that_does_not_follow_its_pattern_has_no_value(pattern: str, text: str) -> None:
    with pytest.raises(NoValue):
        date_pattern(pattern).read(text)


@settings(max_examples=200, deadline=None)
@given(st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)))
def test_what_is_printed_reads_as_the_same(moment: datetime) -> None:
    moment = moment.replace(tzinfo=UTC)
    for pattern in ("yyyy-MM-dd HH:mm:ss.SSSSSS", "yyyyMMddHHmmssSSSSSS", "EEEE d MMMM yyyy h:mm:ss.SSSSSS a ZZ"):
        rule = date_pattern(pattern)
        assert rule.read(rule.printed(moment)) == moment


def test_zones() -> None:
    day = datetime(2015, 7, 1, tzinfo=UTC)
    assert day.astimezone(zone_of("+05:30")).hour == 5
    assert day.astimezone(zone_of("America/New_York")).hour == 20
    for name in ("Nowhere", "", "../etc/passwd", "+5"):
        with pytest.raises(ValueError, match="no time zone"):
            zone_of(name)


PIECES = st.sampled_from(
    ["a", "b", ".", ".*", "[ab]", "[^a]", r"\w", r"\d+", r"\W", "|", "(a|b)", "(?:ab)*", "a?", "b{2}", "a{1,2}?",
     "^", "$", r"\.", r"\Q.*\E", "[a-c&&b]", "(?i)", "(?s)", r"\s", r"\p{Alpha}", r"\p{L}", "é", r"[\]\-x]",
     r"\b", r"\x41", "a++", "{,1}", "/", "-", "#", r"\t", "[.]", "_", r"\_", "~", r"\&", "()", r"\n", " "]
)  # fmt: skip
TEXTS = st.text(alphabet="abcAB.*é \n\r\t\x0b\u2028\u0085-/_#1&~\u212a", max_size=6)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=6).map("".join), st.lists(st.one_of(st.none(), TEXTS), min_size=1, max_size=8))
def test_a_column_matches_as_its_texts_do(pattern: str, texts: list[str | None]) -> None:
    try:
        rule = compiled(pattern)
    except BadPattern:
        return
    found = MATCHES.kernel(pc, pa.array(texts, pa.string()), pa.scalar(pattern)) if MATCHES.kernel else None
    if found is not None:
        assert found.to_pylist() == [None if text is None else rule.fullmatch(text) is not None for text in texts]


@pytest.mark.parametrize(
    "pattern",
    [
        ".*foo.*",
        "https?://[^/]+/.*",
        "\\d{4}-\\d{2}",
        "(GET|POST) .*\\.(gif|jpe?g)",
        "[a-z]+",
        "a|b",
        "",
        "\\w+@\\w+\\.com",
    ],
)
def test_common_patterns_are_looked_for_by_column(pattern: str) -> None:
    assert as_re2(pattern) is not None
    assert MATCHES.kernel is not None
    assert MATCHES.kernel(pc, pa.array(["x", None]), pa.scalar(pattern)) is not None


def test_what_is_not_said_by_the_script_is_matched_text_by_text() -> None:
    assert MATCHES.kernel is not None
    for pattern in (
        pa.array(["a"]),
        pa.scalar(None, pa.string()),
        pa.scalar("("),
        pa.scalar("(?=a)a"),
        pa.scalar("a{1001}"),
    ):
        assert MATCHES.kernel(pc, pa.array(["a"]), pattern) is None
