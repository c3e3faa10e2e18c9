"""What counts as a change: commands, files, variables and input names do; paths, ids and job names do not."""

from __future__ import annotations

import zipfile
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.base.errors import BadCall, IncoopError
from incoop.fronts.streaming.combine import CombineChunk, LineCombiner
from incoop.fronts.streaming.lines import KeyRule, LineOrder, lines_of
from incoop.fronts.streaming.partitions import Partitioner
from tests.fronts.streams import Streams, some_lines

COUNTING = 'awk \'{ print; print "reporter:counter:lines,seen,1" > "/dev/stderr" }\''


def test_counters_are_replayed_for_reused_tasks(streams: Streams) -> None:
    lines = some_lines(300)
    streams.write(lines)
    call = ["-mapper", COUNTING, "-reducer", 'awk \'{ n++ } END { print "reporter:counter:r,n," n > "/dev/stderr" }\'']
    first = streams.run(*call)[1]
    assert first.counters == {"lines: seen": 300, "r: n": 300} and first.map.executed == first.map.tasks
    again = streams.run(*call)[1]
    assert again.counters == first.counters and (again.map.executed, again.reduce.executed) == (0, 0)
    streams.write([*lines, "one more"])
    assert streams.run(*call)[1].counters == {"lines: seen": 301, "r: n": 301}


SUMS = LineCombiner("aggregate", LineOrder(KeyRule()), b"\t", KeyRule())
PRINTED = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 3)), max_size=80).map(
    lambda drawn: b"".join(b"LongValueSum:k%d\t%d\n" % each for each in drawn)
)


def combined(printed: bytes, reducers: int, *old: dict[int, list[bytes]]) -> dict[int, bytes]:
    return dict(CombineChunk(SUMS, Partitioner(reducers))(Counter(lines_of(printed)), lambda: old))


def kept(printed: bytes, reducers: int) -> dict[int, list[bytes]]:
    return {number: [bucket] for number, bucket in combined(printed, reducers).items()}


@given(PRINTED, PRINTED, PRINTED, st.integers(1, 3))
def test_a_chunk_made_from_an_old_one_is_the_chunk_made_from_nothing(
    before: bytes, between: bytes, after: bytes, reducers: int
) -> None:
    whole, shorter = before + between + after, before + after
    assert combined(whole, reducers, kept(shorter, reducers)) == combined(whole, reducers)
    assert combined(shorter, reducers, kept(whole, reducers)) == combined(shorter, reducers)
    several = [kept(each, reducers) for each in (between, whole, shorter)]
    assert combined(whole, reducers, *several) == combined(whole, reducers)


def test_a_bucket_whose_lines_are_all_gone_is_gone() -> None:
    """Whatever its digest was: there are enough of them for every first byte."""
    lines = [b"LongValueSum:k%d\t1\n" % number for number in range(3000)]
    for at in range(0, 3000, 100):
        printed = b"".join(lines[at : at + 100])
        shorter = b"".join(lines[at : at + 60])
        assert combined(shorter, 1, kept(printed, 1)) == combined(shorter, 1)


def test_a_combiner_reads_of_a_changed_chunk_what_changed(streams: Streams) -> None:
    lines = some_lines(600)
    streams.write(lines)
    seen = streams.folder / "seen"
    script = f'{{ n[$1] += $2 }} END {{ for (k in n) print k "\\t" n[k]; print NR >> "{seen}" }}'
    total = streams.program("total.awk", script)
    words = "awk '{ for (i = 1; i <= NF; i++) print $i \"\\t1\" }'"
    call = ["-files", str(total), "-mapper", words, "-combiner", "awk -f total.awk", "-reducer", "sort"]
    call += ["-D", "incoop.combiner.trial=false"]  # which would run it, too
    first = streams.run(*call)[1]
    counts = list(map(int, seen.read_text().split()))
    assert first.map.executed == first.map.tasks <= len(counts) and max(counts) > 100
    seen.unlink()
    lines.insert(300, "word1 quite")
    streams.write(lines)
    assert b"quite\t1\n" in streams.run(*call)[0]
    # In the chunk all lines of the two words; above it what the children hold of them.
    chunk, *above = map(int, seen.read_text().split())
    assert 2 <= chunk < max(counts) / 2 and max(above, default=0) < 20


def test_another_reducer_maps_nothing_again(streams: Streams) -> None:
    streams.write(some_lines(200))
    streams.run("-mapper", "sed s/w/v/", "-reducer", "uniq", "-numReduceTasks", "2")
    output, report = streams.run("-mapper", "sed s/w/v/", "-reducer", "uniq -c", "-numReduceTasks", "2")
    assert report.map.executed == 0 and report.reduce.executed == 2
    assert output.count(b"\n") == len(set(streams.shell("sed s/w/v/").splitlines()))


def test_names_and_limits_of_a_job_are_no_part_of_its_tasks(streams: Streams) -> None:
    streams.write(some_lines(200))
    mapper = ("-mapper", "sed s/w/v/")
    streams.run(*mapper, "-D", "mapreduce.job.name=monday")
    for more in (["-D", "mapreduce.job.name=tuesday"], ["-D", "mapreduce.task.timeout=5000"], ["-verbose"]):
        assert streams.run(*mapper, *more)[1].map.executed == 0, more
    for more in (["-cmdenv", "A=1"], ["-D", "my.limit=3"], ["-D", "my.limit=4"]):
        assert streams.run(*mapper, *more)[1].map.executed > 0, more


def test_properties_and_variables_reach_the_programs(streams: Streams) -> None:
    streams.write(["x"])
    names = ["my_limit", "GIVEN", "mapreduce_job_reduces", "mapred_reduce_tasks", "mapreduce_task_ismap"]
    shown = " ".join(f'ENVIRON["{name}"]' for name in names)
    mapper = "awk '{ print " + shown.replace(" ", ' "," ') + " }'"
    call = ["-D", "my.limit=3", "-cmdenv", "GIVEN=a b", "-numReduceTasks", "2"]
    assert streams.run(*call, "-mapper", mapper)[0] == b"3,a b,2,2,true\n"
    partition = 'awk \'{ print ENVIRON["mapreduce_task_partition"], ENVIRON["mapreduce_job_id"] ~ /^job_/ }\''
    assert streams.run(*call, "-reducer", partition)[0] in (b"0 1\n", b"1 1\n")


def test_the_content_of_files_counts_and_their_paths_do_not(streams: Streams) -> None:
    streams.write(some_lines(100))
    rules = streams.program("rules.sed", "s/word/a/")
    elsewhere = streams.folder / "elsewhere"
    elsewhere.mkdir()
    call = ["-mapper", "sed -f rules.sed", "-reducer", "NONE"]
    first, _ = streams.run(*call, "-files", str(rules))
    (elsewhere / "other.sed").write_text("s/word/a/")
    same, report = streams.run(*call, "-files", f"file://{elsewhere}/other.sed#rules.sed")
    assert same == first and report.map.executed == 0
    rules.write_text("s/word/b/")
    other, report = streams.run(*call, "-file", str(rules))
    assert other == streams.shell("sed s/word/b/") and report.map.executed == report.map.tasks
    assert any("-file is deprecated" in note for note in streams.options.notes)


def test_a_program_in_the_current_folder_goes_along(streams: Streams, monkeypatch: pytest.MonkeyPatch) -> None:
    streams.write(["b", "a"])
    streams.program("upper.sh", "#!/bin/sh\nexec tr a-z A-Z\n")
    monkeypatch.chdir(streams.folder)
    assert streams.run("-mapper", "./upper.sh")[0] == b"A\nB\n"
    assert any("upper.sh goes with the job" in note for note in streams.options.notes)
    assert streams.run("-mapper", "sh upper.sh")[0] == b"A\nB\n"
    streams.program("upper.sh", "#!/bin/sh\nexec sed s/^/-/\n")
    assert streams.run("-mapper", "./upper.sh")[0] == b"-a\n-b\n"


@pytest.mark.parametrize("mapper", ["sh tools/run.sh", "tools/run.sh", "./tools/run.sh"])
@pytest.mark.parametrize("beside", [True, False])
def test_a_file_in_a_shipped_folder_is_there_already(
    mapper: str, beside: bool, streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the folder is in the current one, where files that a command names go along by themselves."""
    streams.write(["b", "a"])
    tools = streams.folder / "tools"
    tools.mkdir()
    streams.program("tools/run.sh", '#!/bin/sh\nexec sed -f "$(dirname "$0")/rules.sed"\n')
    streams.program("tools/rules.sed", "s/a/x/")
    call = ["-files", "tools" if beside else str(tools), "-mapper", mapper]
    if beside:
        monkeypatch.chdir(streams.folder)
    assert streams.run(*call)[0] == b"b\nx\n"
    assert streams.options.notes == []
    streams.program("tools/rules.sed", "s/a/y/")
    assert streams.run(*call)[0] == b"b\ny\n"


def test_archives_are_unpacked_under_their_link(streams: Streams) -> None:
    streams.write(["a"])
    archive = streams.folder / "tools.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        entry = zipfile.ZipInfo("bin/run.sh")
        entry.external_attr = 0o755 << 16
        opened.writestr(entry, "#!/bin/sh\nsed s/a/found/\n")
    assert streams.run("-archives", f"{archive}#tools", "-mapper", "sh tools/bin/run.sh")[0] == b"found\n"


def test_an_input_files_name_counts_only_where_it_is_asked_for(streams: Streams) -> None:
    lines = some_lines(100)
    streams.write(lines, "a.txt")
    named = 'awk \'{ n = split(ENVIRON["mapreduce_map_input_file"], part, "/"); print part[n], $1 }\''
    firsts = [line.split()[0] for line in lines]
    assert streams.run("-mapper", named)[0].decode().splitlines() == sorted(f"a.txt {word}" for word in firsts)
    plain = streams.run("-mapper", "sed s/word/x/")[0]
    (streams.input / "a.txt").rename(streams.input / "b.txt")
    output, report = streams.run("-mapper", named)
    assert output.decode().splitlines() == sorted(f"b.txt {word}" for word in firsts)
    assert report.map.executed == report.map.tasks
    again, report = streams.run("-mapper", "sed s/word/x/")
    assert again == plain and report.map.executed == 0
    (streams.input / "b.txt").rename(streams.input / "c.txt")
    off, report = streams.run("-D", "incoop.input.file.name=false", "-mapper", named)
    assert off.decode().splitlines() == sorted(f" {word}" for word in firsts)


def test_what_cannot_go_with_a_job_is_said(streams: Streams) -> None:
    streams.write(["a"])
    one, two = streams.program("x.sed", "s/a/b/"), streams.folder / "input" / "x.sed"
    two.write_text("s/a/c/")
    for call, error in (
        (["-files", "/nowhere/map.py"], "no such file"),
        (["-files", f"{one},{two}"], "would both be x.sed"),
        (["-archives", str(one)], "no archive"),
        (["-files", "hdfs://host/x"], "hdfs is not read here"),
        (["-files", f"{one}#../x"], "inside the working folder"),
    ):
        with pytest.raises((BadCall, IncoopError), match=error):
            streams.run("-mapper", "cat", *call)


def test_an_edited_reducer_script_maps_nothing_again(streams: Streams) -> None:
    streams.write(some_lines(200))
    mapper, reducer = (
        streams.program("up.awk", "{ print toupper($1) }"),
        streams.program("count.awk", "END { print NR }"),
    )
    call = ["-files", f"{mapper},{reducer}", "-mapper", "awk -f up.awk", "-reducer", "awk -f count.awk"]
    assert streams.run(*call)[0] == b"200\n"
    streams.program("count.awk", "END { print 2 * NR }")
    output, report = streams.run(*call)
    assert output == b"400\n" and (report.map.executed, report.reduce.executed) == (0, 1)


def test_a_script_that_another_one_mentions_is_given_to_it(streams: Streams) -> None:
    streams.write(["a", "b"])
    inner, outer = streams.program("inner.sh", "exec tr a-z A-Z\n"), streams.program("outer.sh", "exec sh inner.sh\n")
    call = ["-files", f"{inner},{outer}", "-mapper", "sh outer.sh", "-reducer", "sh inner.sh"]
    assert streams.run(*call)[0] == b"A\nB\n"
    streams.program("inner.sh", "exec sed s/^/-/\n")
    output, report = streams.run(*call)
    assert output == b"--a\n--b\n" and report.map.executed == report.map.tasks


def test_a_mapper_may_print_nothing(streams: Streams) -> None:
    streams.write(some_lines(50))
    for call in (["-combiner", "cat"], ["-numReduceTasks", "2"], ["-reducer", "NONE"]):
        assert streams.run("-mapper", "sed d", *call)[0] == b""
