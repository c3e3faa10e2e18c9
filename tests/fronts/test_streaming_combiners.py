"""Combiners of streaming jobs: tried first, contracted, their counters those of a run from scratch."""

from __future__ import annotations

import pytest

import incoop
from incoop.base.errors import IncoopError
from tests.fronts.streams import CHUNKS, Streams, some_lines

WORDS = "awk '{ for (i = 1; i <= NF; i++) print $i \"\\t1\" }'"
SUM = '{ n[$1] += $2 } END { for (k in n) print k "\\t" n[k] }'
MEAN = '{ n[$1] += $2; m[$1]++ } END { for (k in n) print k "\\t" n[k] / m[k] }'


def counting(streams: Streams, counts: str) -> list[str]:
    """The options of a word count whose combiner counts something for every key that it prints."""
    total = streams.program("total.awk", SUM)
    report = f'if ({counts}) print "reporter:counter:combiner,keys,1" > "/dev/stderr"'
    combine = streams.program("combine.awk", SUM.replace("print k", f"{{ {report}; print k").rstrip(" }") + " } }")
    commands = ["-mapper", WORDS, "-combiner", "awk -f combine.awk", "-reducer", "awk -f total.awk"]
    return ["-files", f"{total},{combine}", *commands]


@pytest.mark.parametrize("counts", [pytest.param("1", id="every key"), pytest.param('k == "rare"', id="a rare key")])
def test_counters_of_combiners_are_those_of_a_run_from_scratch(streams: Streams, counts: str) -> None:
    call = counting(streams, counts)
    lines = some_lines(400)
    for edit in ("", "rare word1", "word1 word2"):
        if edit:
            lines.insert(200, edit)
        streams.write(lines)
        report = streams.run(*call)[1]
    assert 0 < report.map.executed <= 2 and report.counters["combiner: keys"] > 0
    mine = streams.session
    with incoop.connect(streams.folder / "other", spark=mine.spark, chunks=CHUNKS) as streams.session:
        assert streams.run(*call)[1].counters == report.counters
    streams.session = mine


def test_a_combiner_that_changes_the_result_is_refused(streams: Streams) -> None:
    lines = some_lines(200)
    streams.write(lines)
    mean = streams.program("mean.awk", MEAN)
    mapper = "awk '{ print $1 \"\\t\" length }'"
    call = ["-files", str(mean), "-mapper", mapper, "-reducer", "awk -f mean.awk"]
    with pytest.raises(
        IncoopError, match=r"changes the result: for key b'word\d+' the reducer prints \[b'word"
    ) as said:
        streams.run(*call, "-combiner", "awk -f mean.awk")
    assert "Traceback" not in str(said.value) and not list(streams.folder.glob("out-*"))
    # It is tried again, not remembered; who wants its result all the same says so.
    with pytest.raises(IncoopError, match="changes the result"):
        streams.run(*call, "-combiner", "awk -f mean.awk")
    allowed, _ = streams.run(*call, "-combiner", "awk -f mean.awk", "-D", "incoop.combiner.trial=false")
    plain, _ = streams.run(*call)
    assert sorted(plain.splitlines()) == sorted(streams.shell(f"{mapper} | sort | awk -f mean.awk").splitlines())
    assert allowed != plain


def test_a_combiner_is_tried_once(streams: Streams) -> None:
    lines = some_lines(300)
    streams.write(lines)
    tries = streams.folder / "tries"
    total = streams.program("total.awk", SUM)
    # What a trial combines ends with the sample; the reducer runs once more for it.
    reduce = streams.program("reduce.awk", SUM + f' END {{ print NR >> "{tries}" }}')
    call = ["-files", f"{total},{reduce}", "-mapper", WORDS, "-combiner", "awk -f total.awk"]
    for runs in (3, 4):
        output, report = streams.run(*call, "-reducer", "awk -f reduce.awk")
        assert len(tries.read_text().split()) == runs
        assert sorted(output.splitlines()) == sorted(streams.shell(f"{WORDS} | awk -f total.awk").splitlines())
        lines.insert(150, "word1")
        streams.write(lines)
    assert 0 < report.map.executed <= 2


def test_of_combined_lines_only_partitions_that_changed_are_reduced(streams: Streams) -> None:
    total = streams.program("total.awk", SUM)
    awk = "awk -f total.awk"
    call = ["-files", str(total), "-mapper", WORDS, "-combiner", awk, "-reducer", awk, "-numReduceTasks", "3"]
    lines = some_lines(400)
    executed = []
    for edit in ("", "word1", "word1 word2 word3 word4 a b c d e f", ""):
        if edit:
            lines.insert(100, edit)
        streams.write(lines)
        output, report = streams.run(*call)
        assert sorted(output.splitlines()) == sorted(streams.shell(f"{WORDS} | {awk}").splitlines())
        assert len(streams.parts()) == report.reduce.tasks == 3
        executed.append(report.reduce.executed)
    assert executed == [3, 1, 3, 0]
