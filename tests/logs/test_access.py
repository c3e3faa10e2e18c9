"""Access logs against another parser, against writers that escape as Apache and nginx do, and on real lines."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import apachelogs
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from incoop.logs import Hit, combined, common

from ..chunk.samples import REAL_DATA
from .counted import counted, parsed

ORACLE = {
    common: apachelogs.LogParser(apachelogs.COMMON, encoding="utf-8", errors="surrogateescape"),
    combined: apachelogs.LogParser(apachelogs.COMBINED, encoding="utf-8", errors="surrogateescape"),
}

TIME = "[10/Oct/2000:13:55:36 -0700]"
LINE = f'127.0.0.1 - frank {TIME} "GET /a.gif HTTP/1.0" 200 2326 "http://a/" "Mozilla/4.08"'


def by_apache(data: bytes) -> str:
    """As `ap_escape_logitem` writes bytes."""
    special = {8: r"\b", 10: r"\n", 13: r"\r", 9: r"\t", 11: r"\v", 34: r"\"", 92: r"\\"}
    return "".join(special.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}") for byte in data)


def by_nginx(data: bytes) -> str:
    """As `ngx_http_log_escape` writes bytes."""
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02X}" for byte in data)


#: Bytes that people send: text in UTF-8, anything at all, what the formats use for themselves.
FIELD = st.one_of(
    st.text(max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.binary(max_size=20),
    st.sampled_from(
        [b"-", b"", b'"', b"\\", b'\\"', b"a [b", b"] ", b'" 200 5 "', "café".encode(), b"\\x41", b"\xff\xfe"]
    ),
)
HOSTS = st.ip_addresses().map(str) | st.from_regex(r"[a-z0-9.-]{1,20}", fullmatch=True)
USERS = FIELD.filter(lambda user: not re.search(rb"(?:\A| )\[\d\d/", user))
OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMES = st.builds(
    lambda time, zone: time.replace(microsecond=0, tzinfo=zone),
    st.datetimes(datetime(1900, 1, 2), datetime(9998, 12, 30)),
    OFFSETS,
)
REQUESTS = st.one_of(
    FIELD,
    st.builds(
        lambda method, url, protocol: b" ".join([method, url, protocol]),
        st.sampled_from([b"GET", b"POST", b"PROPFIND", b"M-SEARCH", b"get"]),
        FIELD,
        st.sampled_from([b"HTTP/1.1", b"HTTP/2.0", b"HTTP/3", b"HTTP/x", b"RTSP/1.0"]),
    ),
)
ESCAPES = st.sampled_from([by_apache, by_nginx])


def text(field: bytes) -> str | None:
    return None if field == b"-" else field.decode("utf-8", "surrogateescape")


@given(
    HOSTS,
    FIELD.filter(lambda ident: b" " not in ident and ident),
    USERS,
    TIMES,
    REQUESTS,
    st.integers(100, 999),
    st.none() | st.integers(0, 10**15),
    FIELD,
    FIELD,
    ESCAPES,
)
def test_what_a_server_wrote_is_what_is_read_and_what_another_parser_reads(
    host: str, ident: bytes, user: bytes, time: datetime, request: bytes, status: int, size: int | None,
    referrer: bytes, agent: bytes, escape,
) -> None:  # fmt: skip
    stamp = f"{time:%d}/{MONTHS[time.month - 1]}/{time.year:04}:{time:%H:%M:%S %z}"
    head = (
        f'{host} {escape(ident)} {escape(user) if user else chr(34) * 2} [{stamp}] "{escape(request)}" '
        f"{status} {'-' if size is None else size}"
    )
    line = f'{head} "{escape(referrer)}" "{escape(agent)}"'
    hit = parsed(combined, line)
    assert hit == (
        *(host, text(ident), text(user), time, text(request), hit.method, hit.url, hit.protocol, status, size or 0),
        *(text(referrer), text(agent), ""),
    )
    assert hit.time.utcoffset() == time.utcoffset()
    assert parsed(combined, line.encode()) == hit
    assert parsed(combined, line + "\r") == hit
    assert parsed(common, head) == hit._replace(referrer=None, agent=None)
    if b"[" not in user:  # where the other parser takes a time to begin
        assert_as_oracle(ORACLE[combined].parse(line), hit)
        assert_as_oracle(ORACLE[common].parse(head), hit)
    if hit.method is not None:
        assert f"{hit.method} {hit.url}" + (f" {hit.protocol}" if hit.protocol else "") == hit.request


MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def assert_as_oracle(entry: apachelogs.LogEntry, hit: Hit) -> None:
    assert (entry.remote_host, entry.remote_logname, entry.remote_user) == (hit.host, hit.ident, hit.user)
    assert entry.request_time == hit.time and entry.request_time.utcoffset() == hit.time.utcoffset()
    assert (entry.request_line, entry.final_status, entry.bytes_sent or 0) == (hit.request, hit.status, hit.bytes)
    if "%{Referer}i" in entry.format:
        assert (entry.headers_in["Referer"], entry.headers_in["User-Agent"]) == (hit.referrer, hit.agent)


@given(st.data())
def test_of_lines_with_an_error_in_them_both_parsers_read_the_same(data: st.DataObject) -> None:
    line = LINE
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(line) - 1))
        line = line[:at] + data.draw(st.sampled_from(["", '"', "\\", " ", "-", "[", "0", "x"])) + line[at + 1 :]
    hit = combined(line)
    try:
        entry = ORACLE[combined].parse(line)
    except (apachelogs.InvalidEntryError, ValueError):
        return
    assume(hit is not None and not hit.extra)
    assert hit is not None
    assert_as_oracle(entry, hit)


@pytest.mark.skipif(not (REAL_DATA / "logs").exists(), reason="the real logs are not beside the repository")
def test_real_lines_are_read_as_another_parser_reads_them() -> None:
    lines = (REAL_DATA / "logs" / "apache.log").read_text().splitlines()
    bad = [line for line in lines if combined(line) is None]
    assert len(lines) == 10_000
    assert [line[:15] for line in bad] == ["46.118.127.106 "]  # its user agent has no end
    for line in lines[::20]:
        if line not in bad:
            assert_as_oracle(ORACLE[combined].parse(line), parsed(combined, line))


@pytest.mark.parametrize(
    ("request_line", "method", "url", "protocol"),
    [
        pytest.param("GET / HTTP/1.1", "GET", "/", "HTTP/1.1", id="three words"),
        pytest.param("GET / HTTP/2", "GET", "/", "HTTP/2", id="HTTP/2"),
        pytest.param("GET /a b HTTP/1.1", "GET", "/a b", "HTTP/1.1", id="a space in the URL"),
        pytest.param("GET  HTTP/1.1", "GET", "", "HTTP/1.1", id="no URL"),
        pytest.param("GET /", "GET", "/", None, id="HTTP/0.9"),
        pytest.param("OPTIONS * HTTP/1.1", "OPTIONS", "*", "HTTP/1.1", id="a star"),
        pytest.param("CONNECT a.b:443 HTTP/1.1", "CONNECT", "a.b:443", "HTTP/1.1", id="a proxy's"),
        pytest.param("quit", None, None, None, id="one word"),
        pytest.param(r"\x16\x03\x01", None, None, None, id="TLS on a plain port"),
        pytest.param("", None, None, None, id="nothing"),
        pytest.param("-", None, None, None, id="a connection that sent nothing"),
    ],
)
def test_a_request_has_parts_or_none(
    request_line: str, method: str | None, url: str | None, protocol: str | None
) -> None:
    hit = parsed(combined, f'h - - {TIME} "{request_line}" 400 0 "-" "-"')
    assert (hit.method, hit.url, hit.protocol) == (method, url, protocol)


def test_more_than_the_combined_format_is_kept_as_it_is() -> None:
    assert parsed(combined, f'{LINE} 0.031 "upstream"').extra == '0.031 "upstream"'
    assert parsed(combined, f"{LINE} 0.031\r").extra == "0.031"


def test_offsets_are_those_of_the_server() -> None:
    hit = parsed(combined, LINE)
    assert hit.time == datetime(2000, 10, 10, 20, 55, 36, tzinfo=UTC)
    assert hit.time.isoformat() == "2000-10-10T13:55:36-07:00"


BAD = {
    "nothing": "",
    "blank": "   ",
    "cut off": LINE[:-1],
    "cut off in the time": LINE[:30],
    "no such day": LINE.replace("10/Oct", "31/Feb"),
    "no such month": LINE.replace("Oct", "Okt"),
    "no such hour": LINE.replace(":13:", ":24:"),
    "no such offset": LINE.replace("-0700", "-0760"),
    "an offset of a day": LINE.replace("-0700", "+2400"),
    "a status of two digits": LINE.replace(" 200 ", " 20 "),
    "digits of another script": LINE.replace("2326", "\u0662\u0663\u0662\u0666"),
    "a size without an end": LINE.replace("2326", "9" * 5000),
    "no quote at the request": LINE.replace('"GET', "GET"),
    "an escaped quote at the end": LINE[:-1] + '\\"',
    "another format": '{"status": 200}',
    "common": LINE.partition(' "http')[0],
    "NULs": "\0" * 100,
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD.keys())
def test_a_malformed_line_is_counted_and_shown(line: str) -> None:
    counters, samples = counted(combined, line)
    assert counters == {"malformed combined lines": 1}
    assert [*samples["malformed combined lines"]] == [line if len(line) <= 200 else line[:200] + "…"]


@given(st.text() | st.binary())
@example(b"\xff\xfe")
def test_nothing_raises(line: str | bytes) -> None:
    combined(line)
    common(line)


def test_bytes_that_are_no_text_stay_what_they_are() -> None:
    line = LINE.encode().replace(b"/a.gif", b"/\xff\xe9")
    hit = parsed(combined, line)
    assert hit.url is not None and hit.url.encode("utf-8", "surrogateescape") == b"/\xff\xe9"


def test_a_common_line_with_more_is_malformed() -> None:
    assert counted(common, LINE)[0] == {"malformed common lines": 1}
