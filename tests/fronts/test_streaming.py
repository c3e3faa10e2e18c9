"""Streaming jobs give what a plain `map | sort | reduce` gives, before and after edits, and run only what changed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incoop.fronts.streaming.lines import KeyRule
from incoop.fronts.streaming.partitions import Partitioner
from tests.fronts.streams import Streams, some_lines

WORDS = "awk '{ for (i = 1; i <= NF; i++) print $i \"\\t1\" }'"

MAP_PY = """#!/usr/bin/env python3
import sys
for line in sys.stdin:
    for word in line.split():
        print(word, len(line), sep="\\t")
"""
#: Keeps the first key, and prints a running number: state from key to key.
NUMBERED_PY = """
import sys
from itertools import groupby
number = 0
for key, group in groupby((line.rstrip("\\n").split("\\t", 1) for line in sys.stdin), key=lambda pair: pair[0]):
    number += 1
    print(number, key, sum(int(value) for _, value in group), sep="\\t")
"""


@pytest.mark.parametrize(
    ("mapper", "reducer"),
    [
        pytest.param("tr ' ' '\\n'", "uniq -c", id="tr and uniq"),
        pytest.param(
            "cut -d' ' -f2", "awk '{ n[$1]++ } END { print NR; for (k in n) m++; print m }'", id="cut and awk"
        ),
        pytest.param("sed /word17/d", "cat", id="sed and cat"),
        pytest.param("sed s/word/w/g", "sort -r", id="sed and a reducer that sorts again"),
    ],
)
def test_plain_programs_give_what_a_pipeline_gives(streams: Streams, mapper: str, reducer: str) -> None:
    # Hadoop starts programs without a shell, so that \n inside quotes is for the program to read.
    lines = some_lines()
    for edit in (lambda: None, lambda: lines.insert(300, "word1 fresh words here 1 2"), lambda: lines.pop(5)):
        edit()
        streams.write(lines)
        output, report = streams.run("-mapper", mapper, "-reducer", reducer)
        assert output == streams.shell(f"{mapper} | sort | {reducer}")
    assert 0 < report.map.executed <= 2 < report.map.tasks
    assert streams.run("-mapper", mapper, "-reducer", reducer)[1].map.executed == 0


def test_python_programs_with_state_and_several_reducers(streams: Streams) -> None:
    map_py, reduce_py = streams.program("map.py", MAP_PY), streams.program("numbered.py", NUMBERED_PY)
    lines = some_lines(300)
    call = ["-file", str(map_py), "-file", str(reduce_py), "-mapper", str(map_py), "-numReduceTasks", "3"]
    for edit in (lambda: None, lambda: lines.insert(40, "word1")):
        edit()
        streams.write(lines)
        _, report = streams.run(*call, "-reducer", f"{sys.executable} numbered.py")
        assert [path.name for path in streams.parts()] == ["part-00000", "part-00001", "part-00002"]
        mapped = streams.shell(f"{sys.executable} map.py").splitlines(keepends=True)
        partitions = Partitioner(3).partitions(KeyRule().keys_of([line.rstrip(b"\n") for line in mapped])).tolist()
        for number, path in enumerate(streams.parts()):
            mine = [line for line, partition in zip(mapped, partitions, strict=True) if partition == number]
            (streams.folder / "mine").write_bytes(b"".join(mine))
            assert path.read_bytes() == streams.shell(f"sort mine | {sys.executable} numbered.py")
    # The new line went to one of the three partitions.
    assert (report.reduce.executed, report.reduce.tasks) == (1, 3)


def test_a_combiner_is_contracted_and_changes_nothing(streams: Streams) -> None:
    lines = some_lines()
    total = streams.program("total.awk", '{ n[$1] += $2 } END { for (k in n) print k "\\t" n[k] }')
    add = f"awk -f {total}"
    call = ["-files", f"{total}#total.awk", "-mapper", WORDS, "-reducer", f"{add}", "-cmdenv", "LC_ALL=C"]
    for edit in (lambda: None, lambda: lines.insert(300, "word1 other"), lambda: lines.reverse(), lambda: lines.pop()):
        edit()
        streams.write(lines)
        # A shard of the tree for each reducer: with many, the words of one line do not reach all of them.
        output, report = streams.run(*call, "-combiner", "awk -f total.awk", "-numReduceTasks", "32")
        assert sorted(output.splitlines()) == sorted(streams.shell(f"{WORDS} | sort | {add}").splitlines())
        assert not report.warnings
    assert 0 < report.map.executed <= 2
    assert 0 < report.combine.executed < report.combine.tasks


def test_a_combiner_that_prints_other_keys_is_left_out(streams: Streams) -> None:
    streams.write(some_lines(100))
    output, report = streams.run("-mapper", WORDS, "-combiner", "tr a-z A-Z", "-reducer", "cut -f1")
    assert output == streams.shell(f"{WORDS} | sort | cut -f1")
    assert any("without the combiner" in warning and "WORD" in warning for warning in report.warnings)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.sampled_from(["a", "b\tc", "d", "", "e f"]), min_size=1, max_size=120), min_size=1, max_size=3)
)
def test_every_run_equals_a_pipeline(streams: Streams, versions: list[list[str]]) -> None:
    for version in versions:
        streams.write(version * 5)
        assert streams.run("-mapper", "tr d x", "-reducer", "uniq -c")[0] == streams.shell("tr d x | sort | uniq -c")


def test_map_only_keeps_the_order_of_the_input(streams: Streams) -> None:
    lines = some_lines()
    streams.write(lines, "b.txt")
    streams.write(lines[:50], "a.txt")
    expected = streams.shell("sed s/word/x/")
    for call in (["-reducer", "NONE"], ["-numReduceTasks", "0"], ["-D", "mapred.reduce.tasks=0"]):
        assert streams.run("-mapper", "sed s/word/x/", *call)[0] == expected
    lines.insert(20, "fresh")
    streams.write(lines, "b.txt")
    output, report = streams.run("-mapper", "sed s/word/x/", "-reducer", "NONE")
    assert output == streams.shell("sed s/word/x/") and 0 < report.map.executed <= 2


def test_the_identity_is_the_default(streams: Streams) -> None:
    streams.write(some_lines(100))
    assert streams.run()[0] == streams.shell("sort")
    classes = ("-mapper", "org.apache.hadoop.mapred.lib.IdentityMapper", "-reducer", "IdentityReducer")
    assert streams.run(*classes)[0] == streams.shell("sort")


def test_aggregate_sums_counts_and_describes(streams: Streams) -> None:
    words = some_lines(200)
    streams.write(words)
    kinds = 'print "LongValueSum:all\\t" NF; print "UniqValueCount:words\\t" $1; print "LongValueMax:long\\t" length'
    output, report = streams.run(
        "-mapper", f"awk '{{ {kinds}; print \"ValueHistogram:first\\t\" $1 }}'", "-reducer", "aggregate"
    )
    rows = dict(line.split("\t", 1) for line in output.decode().splitlines())
    firsts = [line.split()[0] for line in words]
    assert rows["all"] == str(sum(len(line.split()) for line in words))
    assert rows["words"] == str(len(set(firsts)))
    assert rows["long"] == str(max(map(len, words)))
    assert rows["first"].split("\t")[0] == str(len(set(firsts)))
    assert float(rows["first"].split("\t")[4]) == len(firsts) / len(set(firsts))
    assert report.combine.tasks


def test_secondary_sort_with_key_fields(streams: Streams) -> None:
    rows = [f"{name}.{value}.{rest}" for name in "abc" for value in (10, 9, -3, 200) for rest in "xy"]
    streams.write(rows[::-1])
    streams.run(
        *("-D", "stream.map.output.field.separator=.", "-D", "stream.num.map.output.key.fields=2"),
        *("-D", "map.output.key.field.separator=.", "-D", "mapred.text.key.partitioner.options=-k1,1"),
        *("-D", "mapred.output.key.comparator.class=org.apache.hadoop.mapred.lib.KeyFieldBasedComparator"),
        *("-D", "mapred.text.key.comparator.options=-k1,1 -k2,2nr", "-D", "mapred.reduce.tasks=2"),
        *("-partitioner", "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner", "-mapper", "cat", "-reducer", "cat"),
    )
    expected = {name: [f"{name}.{value}\t{rest}" for value in (200, 10, 9, -3) for rest in "xy"] for name in "abc"}
    found: list[str] = []
    for path in streams.parts():
        lines = path.read_text().splitlines()
        names = sorted({line[0] for line in lines})
        assert lines == [line for name in names for line in expected[name]]
        found += names
    assert sorted(found) == ["a", "b", "c"]


def test_separators_of_reducers(streams: Streams) -> None:
    streams.write(["b,2", "a,1", "a"])
    call = ["-D", "stream.map.output.field.separator=,", "-D", "stream.reduce.input.field.separator=|"]
    assert streams.run(*call, "-reducer", "cat")[0] == b"a\na|1\nb|2\n"
    more = ["-D", "stream.reduce.output.field.separator=|", "-D", "mapred.textoutputformat.separator=="]
    assert streams.run(*call, *more, "-reducer", "cat")[0] == b"a\na=1\nb=2\n"


def test_lines_and_inputs_are_read_as_hadoop_reads_them(streams: Streams) -> None:
    (streams.input / "a.txt").write_bytes(b"one\ttwo\r\nthree\rfour")
    (streams.input / "_ignored").write_text("hidden\n")
    assert streams.run("-reducer", "NONE")[0] == b"one\ttwo\nthree\nfour\n"
    key_values = streams.run("-inputformat", "KeyValueTextInputFormat", "-reducer", "NONE")[0]
    assert key_values == b"one\ttwo\nthree\t\nfour\t\n"
    trailing = streams.run("-D", "incoop.trailing.separator=true", "-reducer", "cat")[0]
    assert trailing == b"four\t\none\ttwo\nthree\t\n"


def test_an_empty_input_gives_empty_part_files(streams: Streams) -> None:
    streams.write([])
    assert streams.run("-numReduceTasks", "2", "-reducer", "wc -l")[0] == b""
    assert len(streams.parts()) == 2
    streams.run("-numReduceTasks", "2", "-reducer", "wc -l", "-lazyOutput")
    assert streams.parts() == []


def test_a_mapper_need_not_read_all_of_its_input(streams: Streams) -> None:
    (streams.input / "big.txt").write_bytes(b"x" * 300_000 + b"\n" + b"y\n" * 100)
    output, _ = streams.run("-mapper", "head -c 3", "-reducer", "NONE")
    assert output.startswith(b"xxx\n")


def test_part_files_are_not_written_over(streams: Streams, tmp_path: Path) -> None:
    from incoop.fronts.streaming.part_files import OutputExists

    streams.write(["a"])
    taken = tmp_path / "out-1"
    taken.mkdir()
    (taken / "mine").write_text("precious")
    with pytest.raises(OutputExists, match="out-1 exists already"):
        streams.run("-mapper", "cat")
    assert [path.name for path in taken.iterdir()] == ["mine"]
    assert not list((streams.folder / "store").glob("streaming-*"))
