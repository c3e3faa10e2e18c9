"""The examples on logs: as from scratch and as DuckDB says after every edit, as goaccess says; their page works."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest

import incoop
from incoop.engine.running.counters import SAMPLES
from incoop.fronts.common.job_file import load_job
from incoop.inchdfs import ChunkSettings
from incoop.sketches.quantiles import RELATIVE_ERROR

from ..conftest import REPOSITORY
from ..engine.running.conftest import OwnPlace

EXAMPLES = REPOSITORY / "examples" / "logs"
JOBS = (
    *("requests_per_minute.py", "bytes_per_client.py", "visitors.py:exact", "visitors.py:sketch", "sessions.py"),
    *("error_bursts.py", "latency.py", "top.py:count", "top.py:top"),
)

#: So that a log of 1,500 lines has some twenty chunks.
CHUNKS = ChunkSettings(average=16 << 10)

#: Another reading of the lines than that of the parser: none of the made lines has a quote in a quoted field.
TABLE = r"""
create table hits as
select *, strftime(time, '%Y-%m-%d') as day, strftime(time, '%Y-%m-%d %H:%M') as minute from (
  select found.host, strptime(found.time, '%d/%b/%Y:%H:%M:%S +0000') as time, found.url, found.status::int as status,
         found.size::bigint as size, found.referrer, found.agent, found.took::double as took
  from (select regexp_extract(line,
    '^([^ ]+) - - \[([^]]+)\] "GET ([^ ]+) HTTP/1.1" ([0-9]{3}) ([0-9]+) "([^"]*)" "([^"]*)" ([0-9.]+)$',
    ['host', 'time', 'url', 'status', 'size', 'referrer', 'agent', 'took']) as found from lines)
  where found.host != '')
"""
SESSIONS = """
select host, list((lowest, highest, requests) order by lowest) from (
  select host, session, min(second) as lowest, max(second) as highest, count(*) as requests from (
    select host, second, sum(begins) over (partition by host order by second rows unbounded preceding) as session from (
      select host, second,
        case when second - lag(second) over (partition by host order by second) <= 1800 then 0 else 1 end as begins
      from (select host, epoch(time)::bigint as second from hits)))
  group by host, session)
group by host
"""


def by_duckdb(lines: list[str]) -> dict[str, dict[Any, Any]]:
    """What each job has to give."""
    with duckdb.connect() as db:
        db.execute("create table lines (line varchar)")
        db.execute("insert into lines select unnest(?)", [lines])
        db.execute(TABLE)

        def answers(query: str) -> dict[Any, Any]:
            return {row[0] if len(row) == 2 else row[:-1]: row[-1] for row in db.execute(query).fetchall()}

        urls = answers("select 'URL', url, count(*) from hits group by url")
        referrers = answers("select 'referrer', referrer, count(*) from hits where referrer != '-' group by referrer")
        failed = "select minute, count(*) filter (status >= 500) as failed, count(*) as requests from hits group by 1"
        visitors = answers("select day, count(distinct (host, agent)) from hits group by day")
        most = {
            kind: sorted(((count, name) for (_, name), count in counts.items()), reverse=True)[:10]
            for kind, counts in (("URL", urls), ("referrer", referrers))
        }
        return {
            "requests_per_minute.py": answers("select minute, status, count(*) from hits group by all"),
            "bytes_per_client.py": answers("select host, sum(size)::bigint from hits group by host"),
            "visitors.py:exact": visitors,
            "visitors.py:sketch": visitors,
            "sessions.py": {host: [tuple(each) for each in found] for host, found in db.execute(SESSIONS).fetchall()},
            "error_bursts.py": answers(
                f"select minute, (failed, requests) from ({failed}) where failed >= 5 and failed >= 0.2 * requests"
            ),
            "latency.py": answers("select split_part(url, '?', 1), list(took order by took) from hits group by 1"),
            "top.py:count": urls | referrers,
            "top.py:top": most,
        }


def assert_as_expected(name: str, found: dict[Any, Any], expected: dict[Any, Any]) -> None:
    if name == "latency.py":
        assert found.keys() == expected.keys()
        for url, took in expected.items():
            exact = [took[int(share * (len(took) - 1))] for share in (0.5, 0.9, 0.99)]
            for near, far in zip(found[url], exact, strict=True):
                assert abs(near - far) <= RELATIVE_ERROR * far + 0.00005  # rounded to four digits
    elif name == "visitors.py:sketch":
        assert found.keys() == expected.keys()
        assert all(abs(found[day] - count) <= 0.05 * count for day, count in expected.items())
    else:
        assert found == expected


@pytest.fixture
def make_logs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_logs", EXAMPLES / "make_logs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, incoop.Job]]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    loaded = {name: load_job(f"{EXAMPLES / name}") for name in JOBS}
    yield loaded
    for name in {Path(job.partition(":")[0]).stem for job in JOBS} - before:
        sys.modules.pop(name, None)


def run_all(session: incoop.Session, jobs: dict[str, incoop.Job], log: Path) -> dict[str, incoop.Result]:
    results: dict[str, incoop.Result] = {}
    for name, job in jobs.items():
        results[name] = session.run(job, results["top.py:count"] if name == "top.py:top" else str(log))
    return results


def versions(line: Any) -> list[list[str]]:
    """A log, and what becomes of it: it grows, lines go from the middle of it, others come and change."""
    first = [line(number) for number in range(300, 1800)]
    grown = first + [line(number) for number in range(1800, 1840)]
    shorter = grown[:150] + grown[260:1190] + grown[1210:]  # with lines 500 and 1500, all that are malformed
    noise = [
        "",
        "quite another format",
        "10.0.0.1 - - [31/Feb/2026:00:00:00 +0000]",
        *["again"] * 3,
        "\ufffd\0",
        "x" * 500,
    ]
    changed = [each.replace(" 200 ", " 503 ") if at % 50 == 7 else each for at, each in enumerate(shorter)]
    changed[600:600] = noise
    return [first, grown, shorter, changed, first]


def test_an_update_gives_what_a_run_from_scratch_and_what_duckdb_gives(
    own: OwnPlace, jobs: dict[str, incoop.Job], make_logs: ModuleType
) -> None:
    own.chunks = CHUNKS
    log = own.folder / "access.log"
    known = []
    for number, lines in enumerate(versions(make_logs.line)):
        log.write_text("\n".join(lines) + "\n", newline="\n")
        expected = by_duckdb(lines)
        results = run_all(own.session, jobs, log)
        seen = {name: result.as_dict() for name, result in results.items()}
        for name in jobs:
            assert_as_expected(name, seen[name], expected[name])
        bad = Counter(each for each in lines if not re.search(r'" [0-9.]+$', each))
        for name in (each for each in jobs if each != "top.py:top"):
            report = results[name].report
            assert report.counters == ({"malformed combined lines": bad.total()} if bad else {}), name
            samples = report.samples.get("malformed combined lines", {})
            assert len(samples) == min(SAMPLES, len(bad))
            assert all(bad[text] == times for text, times in samples.items() if len(text) <= 200)
            if number in (1, 2):  # what these edits do not touch is not mapped
                assert 0 < report.map.executed <= report.map.tasks / 2
        known.append({name: (seen[name], results[name].report.samples) for name in jobs})
        if number == 3:
            with own.scratch() as session:
                fresh = run_all(session, jobs, log)
                assert {name: (each.as_dict(), each.report.samples) for name, each in fresh.items()} == known[-1]
    assert known[0] == known[-1]  # what went is forgotten, what came back is there again


def readme_commands() -> list[str]:
    """What the page asks its reader to type."""
    return re.findall(r"^    ((?:python|incoop) .+)$", (EXAMPLES / "README.md").read_text(), re.MULTILINE)


@pytest.mark.long
def test_the_page_can_be_followed(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    commands = readme_commands()
    assert len(commands) == 10
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    said = {}
    for number, command in enumerate(commands):
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, (command, done.stderr)
        said[number] = done
    assert "counter malformed combined lines: 20\n" in said[1].stderr
    assert {line.partition("\t")[0] for line in said[2].stdout.splitlines()} == {
        "2026-03-01",
        "2026-03-02",
        "2026-03-03",
    }
    assert said[4].stdout.startswith("2026-03-03\t")  # a day changed, since its visitors did
    assert re.search(r"^map chunks +[1-5] +1\d\d ", said[4].stderr, re.MULTILINE)
    assert re.search(r"^\s+[\d,]+  URL +/$", said[6].stdout, re.MULTILINE)
    assert (tmp_path / "visitors" / "_SUCCESS").is_file() and "<html" in (tmp_path / "visitors.html").read_text()
    minutes = [line.partition("\t")[0] for line in said[9].stdout.splitlines()]
    assert 0 < len({minute.partition(",")[0] for minute in minutes}) <= 61


def test_the_example_on_the_page_is_a_job(tmp_path: Path, own: OwnPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (EXAMPLES / "README.md").read_text(), re.DOTALL)
    (tmp_path / "bytes_per_method.py").write_text(example)
    monkeypatch.setattr(sys, "path", [*sys.path])
    own.write(['h - - [01/Mar/2026:00:00:06 +0000] "GET / HTTP/1.1" 200 33 "-" "-"', "no line"])
    result = own.run(load_job(str(tmp_path / "bytes_per_method.py")))
    assert result.as_dict() == {"GET": 33}
    assert result.report.counters == {"malformed combined lines": 1}


@pytest.mark.skipif(shutil.which("goaccess") is None, reason="goaccess is not installed (apt-get install goaccess)")
def test_goaccess_counts_the_same(own: OwnPlace, jobs: dict[str, incoop.Job], make_logs: ModuleType) -> None:
    log, page = own.folder / "access.log", own.folder / "page.json"
    log.write_text("".join(make_logs.line(number) + "\n" for number in range(8000, 12000)), newline="\n")
    log_format = '%h - - [%d:%t %^] "%r" %s %b "%R" "%u" %T'
    formats = [f"--log-format={log_format}", "--date-format=%d/%b/%Y", "--time-format=%H:%M:%S"]
    options = ["--no-global-config", "--4xx-to-unique-count", "--no-progress", "-o", page]
    subprocess.run(["goaccess", log, *formats, *options], check=True, capture_output=True)
    said = json.loads(page.read_text())
    own.chunks = CHUNKS
    found = {name: result.as_dict() for name, result in run_all(own.session, jobs, log).items()}

    def panel(name: str, what: str) -> Counter[str]:
        return Counter({each["data"]: each[what]["count"] for each in said[name]["data"]})

    requests = found["requests_per_minute.py"]
    assert said["general"]["valid_requests"] == sum(requests.values()) == 4000 - said["general"]["failed_requests"]
    by_day: Counter[str] = Counter()
    for (minute, _), count in requests.items():
        by_day[minute[:10].replace("-", "")] += count
    assert panel("visitors", "hits") == by_day
    visitors = {day.replace("-", ""): count for day, count in found["visitors.py:exact"].items()}
    assert panel("visitors", "visitors") == visitors
    assert said["general"]["bandwidth"] == sum(found["bytes_per_client.py"].values())
    # Its panels have at most 366 rows.
    assert panel("hosts", "bytes").items() <= found["bytes_per_client.py"].items()
    urls = sum((panel(name, "hits") for name in ("requests", "static_requests", "not_found")), Counter())
    counted = {name: count for (kind, name), count in found["top.py:count"].items() if kind == "URL"}
    assert urls == counted
    assert [(urls[name], name) for _, name in found["top.py:top"]["URL"]] == found["top.py:top"]["URL"]
    assert [count for _, count in urls.most_common(10)] == [count for count, _ in found["top.py:top"]["URL"]]
    referrers = {name: count for (kind, name), count in found["top.py:count"].items() if kind == "referrer"}
    assert {name: count for name, count in panel("referrers", "hits").items() if name != "-"} == referrers


def test_the_examples_of_the_page_on_parsers_work() -> None:
    page = (REPOSITORY / "docs" / "log-parsers.md").read_text()
    names: dict[str, Any] = {}
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(example, names)
    line = 'h - - [01/Mar/2026:00:00:06 +0000] "GET / HTTP/1.1" 200 33 "-" "-"'
    assert [*names["by_status"](None, line)] == [(200, 1)]
    ((url, sketch),) = names["latencies"](None, '{"url": "/", "took": 0.5}')
    ((_, merged),) = names["merged"](url, [sketch, sketch])
    assert [*names["percentile"](url, [merged])] == [("/", pytest.approx(0.5, rel=RELATIVE_ERROR))]
