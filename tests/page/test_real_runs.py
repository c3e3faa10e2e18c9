"""Pages of real runs, in processes of our own: what the events of the engine tell is what the page says."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop.engine.events import DidDecide, DidLay, DidMap, DidVerify
from incoop.page.facts import Fate, RunFacts
from incoop.page.write import page
from tests.cli.command import incoop as command
from tests.cli.command import incoop_here
from tests.cli.test_run import JOB as JOB_FILE
from tests.cli.test_run import TEXT
from tests.end_to_end.jobs import total, words
from tests.end_to_end.test_features import some_lines
from tests.engine.running.conftest import OwnPlace
from tests.events import ran, reused

from .check import ReadPage

JOB = incoop.Job("word count", mapper=words, combiner=total, reducer=total)


def doubled(word: str, counts: Any) -> Any:
    yield word, 2 * sum(counts)


def facts_of(result: incoop.Result) -> RunFacts:
    """What the page reads; and that it agrees with what ran, by ids, and with the report."""
    facts = RunFacts.of(result.events.told)
    (decided,) = result.events.of(DidDecide)
    fresh = {bytes(id_) for id_, fate in zip(decided.ids.tolist(), facts.fates.tolist(), strict=True) if fate}
    assert fresh == ran(result) and len(facts.fates) == result.report.map.tasks
    assert {bytes(id_) for id_ in decided.ids[facts.fates == Fate.REUSED].tolist()} == reused(result)
    assert int(facts.sizes.sum()) == result.report.input_bytes
    assert sum(chunk.mapped for chunk in facts.mapped) == result.report.fresh_bytes
    *_, laid = result.events.of(DidLay)
    assert sum(known for _, known in laid.levels) == len(reused(result, "contract"))
    assert sum(nodes - known for nodes, known in laid.levels) == len(ran(result, "contract"))
    return facts


def test_a_first_run_an_edit_a_rerun_and_another_reducer(own: OwnPlace) -> None:
    lines = some_lines()
    own.write(lines)
    first = own.run(JOB, counts_store=True)
    facts = facts_of(first)
    assert set(facts.fates.tolist()) == {Fate.MAPPED} and facts.why == "the job has not run in this store"
    assert "First known run" in ReadPage(page(first)).said
    source = own.input / "input.txt"
    assert facts.mapped[0].place == f"{source}, bytes 0 to {facts.mapped[0].size:,}"
    assert facts.mapped[-1].place.endswith(f"{source.stat().st_size:,}")

    lines[200] = "an edited line"
    own.write(lines)
    update = own.run(JOB)
    facts = facts_of(update)
    assert facts.count(Fate.REUSED) == len(facts.fates) - len(facts.mapped) > 5
    assert facts.gone == len(facts.mapped) == facts.count(Fate.PATCHED) + facts.count(Fate.MAPPED)
    assert "% of" in ReadPage(page(update)).said and "edited" in ReadPage(page(update)).said

    again = own.run(JOB, verify=1.0)
    facts = facts_of(again)
    assert not facts.mapped and facts.gone == 0 and facts.why == "nothing changed"
    assert all(nodes == known for nodes, known in facts.levels)
    assert facts.verified is not None and facts.verified == DidVerify(len(facts.fates), facts.verified.shards)
    said = ReadPage(page(again)).said
    assert "Nothing had to be mapped" in said and "No key has another value" in said and "verified" in said

    other = own.run(replace(JOB, reducer=doubled))
    facts = RunFacts.of(other.events.told)
    assert not facts.mapped and any("doubled" in part for part in facts.changed_code)
    assert "doubled" in ReadPage(page(other)).said

    counted = [run.store_bytes for run in other.history]
    assert counted[0] is not None and 0 < counted[0] < sum(pack.stat().st_size for pack in own.packs)
    assert counted[1:] == [None, None, None], "a walk through the store is taken only where it is asked for"
    assert [run.generation for run in other.history] == [1, 2, 3, 4]
    assert [run.fresh_bytes for run in other.history] == [
        result.report.fresh_bytes for result in (first, update, again, other)
    ]


def test_chunks_whose_results_are_lost_are_told_from_new_ones(own: OwnPlace) -> None:
    lines = some_lines()
    own.write(lines)
    own.run(JOB)
    packs = own.packs
    lines[200] = "an edited line"
    own.write(lines)
    own.run(JOB)
    for pack in packs:  # those of the second run stay, and with them its record
        pack.unlink()
    lines[300] = "another line"
    own.write(lines)
    facts = RunFacts.of((mended := own.run(JOB)).events.told)
    # What is new was mapped in the attempt that found the loss, and counts as known in the one after it.
    assert facts.why == "stored results were lost" and 0 < facts.count(Fate.REUSED) < 6
    assert facts.count(Fate.LOST) == len(facts.fates) - facts.count(Fate.REUSED) == mended.report.map.executed > 5
    said = ReadPage(page(mended)).said
    assert "stored by the last run, and damaged or gone since" in said and "1 warning" in said


def test_a_map_only_job_has_a_page_without_a_tree(own: OwnPlace) -> None:
    own.write(some_lines(60))
    result = own.run(incoop.Job("words", mapper=words))
    facts = RunFacts.of(result.events.told)
    assert facts.levels == () and set(facts.fates.tolist()) == {Fate.MAPPED}
    assert "There is no tree" in ReadPage(page(result)).said


def test_a_job_that_keeps_nothing_has_a_page_without_a_past(own: OwnPlace) -> None:
    own.write(some_lines(60))
    result = own.run(replace(JOB, memoize=False))
    assert len(result.history) == 1 and "memoize is False" in ReadPage(page(result)).said


def test_an_attempt_that_goes_on_shows_what_was_mapped_before(own: OwnPlace, tmp_path: Path) -> None:
    """The mapper is found to read a file, so that ids are made anew, and the run begins again."""
    stop = tmp_path / "stop.txt"
    stop.write_text("line\n")

    def kept(_: Any, line: str) -> Any:
        ignored = stop.read_text().split()
        for word in line.split():
            if word not in ignored:
                yield word, 1

    own.write(some_lines(60))
    result = own.run(replace(JOB, mapper=kept))
    assert len(list(result.events.of(DidDecide))) == 2, "that is the case that is tested"
    facts = RunFacts.of(result.events.told)
    assert set(facts.fates.tolist()) == {Fate.MAPPED} and facts.why == "the job has not run in this store"
    assert sum(len(each.ids) for each in result.events.of(DidMap)) == result.report.map.executed


def test_the_command_writes_a_page_and_loads_nothing_of_it_unless_asked(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JOB_FILE)
    (tmp_path / "text.txt").write_text(TEXT)
    command("run", "job.py", "text.txt", "--html", "report.html", cwd=tmp_path)
    first = (tmp_path / "report.html").read_text()
    (tmp_path / "text.txt").write_text(TEXT + "to sleep\n")
    ran_with = command("run", "job.py", "text.txt", "--html", "report.html", "--report", "json", cwd=tmp_path)
    assert ran_with.returncode == 0, ran_with.stderr
    assert "report page written to" in ran_with.stderr and ran_with.stderr.splitlines()[-1].startswith("{")
    read = ReadPage((tmp_path / "report.html").read_text())
    assert "First known run" in first and "sleep" not in first
    assert "sleep" in read.said and "bytes of the store" in read.said and "2 keys changed" in read.said

    told = "import atexit, sys; atexit.register(lambda: print([m for m in sys.modules if m.startswith('incoop.page')]))"
    call = f"{told}; from incoop.cli.main import main; main()"
    words_ = [sys.executable, "-c", call, "run", "job.py", "text.txt", "--report", "none"]
    without = subprocess.run(words_, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert without.stdout.splitlines()[-1] == "[]", without.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(["--html", "missing/report.html"], "there is no folder", id="no such folder"),
        pytest.param(["--html", "."], "that is no file", id="a folder"),
        pytest.param(["--html", "report.html", "--explain"], "runs nothing", id="nothing is run"),
    ],
)
def test_a_page_that_cannot_be_is_refused_before_anything_runs(options: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JOB_FILE)
    (tmp_path / "text.txt").write_text(TEXT)
    refused = incoop_here("run", "job.py", "text.txt", *options, cwd=tmp_path)
    assert refused.returncode != 0 and said in refused.stderr
    assert not (tmp_path / "report.html").exists() and not (tmp_path / "incoop-store" / "memo").exists()
