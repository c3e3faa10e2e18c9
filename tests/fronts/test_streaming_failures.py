"""Commands that fail, hang or are not there: a clear error, nothing kept of them, no process left."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from incoop.base.errors import BadCall
from incoop.fronts.streaming.aggregate import aggregate, java_double
from incoop.fronts.streaming.failures import StreamingFailed
from incoop.fronts.streaming.lines import KeyRule
from incoop.fronts.streaming.options import parse_options
from incoop.fronts.streaming.process import run_command
from incoop.fronts.streaming.program_builder import CommandNotFound, split_command
from tests.fronts.streams import Streams, some_lines


def running(mark: str) -> list[str]:
    """Processes that have this text among their arguments."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if mark in words and "pytest" not in words:
            found.append(words)
    return found


def none_running(mark: str) -> bool:
    for _ in range(600):
        if not running(mark):
            return True
        time.sleep(0.1)
    return False


def test_a_mapper_that_fails_is_told_with_its_last_words_and_kept_nowhere(streams: Streams) -> None:
    lines = some_lines(300)
    lines[200] = "bad line"
    streams.write(lines)
    failing = streams.program(
        "map.sh", 'while read line; do case "$line" in bad*) echo "no good" >&2; exit 7;; esac; echo "$line"; done\n'
    )
    call = ["-files", str(failing), "-mapper", "sh map.sh", "-reducer", "NONE"]
    with pytest.raises(StreamingFailed) as failed:
        streams.run(*call)
    said = str(failed.value)
    assert "exit code 7" in said and "no good" in said and "a.txt, line" in said and "Traceback" not in said
    assert not list(streams.folder.glob("out-*"))
    with pytest.raises(StreamingFailed):
        streams.run(*call)
    output, report = streams.run(*call, "-D", "stream.non.zero.exit.is.failure=false")
    assert report.map.executed == report.map.tasks and b"bad" not in output
    lines[200] = "good line"
    streams.write(lines)
    output, report = streams.run(*call)
    assert output == streams.shell("cat") and report.map.executed < report.map.tasks


def test_a_reducer_that_fails_names_its_partition(streams: Streams) -> None:
    streams.write(["a", "b"])
    with pytest.raises(StreamingFailed, match="partition 0: the reducer 'sh -c \"exit 3\"' ended with exit code 3"):
        streams.run("-reducer", 'sh -c "exit 3"')


def test_a_command_that_hangs_is_ended_with_its_children(streams: Streams) -> None:
    streams.write(["a"])
    hanging = streams.program("hang.sh", "echo starting >&2\nsleep 4321.25 &\nsleep 4321.25\n")
    with pytest.raises(StreamingFailed, match=r"did nothing for 0\.5 s") as failed:
        streams.run("-files", str(hanging), "-mapper", "sh hang.sh", "-D", "mapreduce.task.timeout=500")
    assert "starting" in str(failed.value)
    assert none_running("4321.25")


def test_slow_commands_that_report_are_not_ended(streams: Streams) -> None:
    streams.write(["a"])
    slow = streams.program("slow.sh", "for i in $(seq 15); do sleep 0.2; echo reporter:status:$i >&2; done; cat\n")
    call = ["-files", str(slow), "-mapper", "sh slow.sh", "-D", "mapreduce.task.timeout=2500"]
    assert streams.run(*call)[0] == b"a\n"


def test_standard_error_without_newlines_is_not_gathered(tmp_path: Path) -> None:
    noise = "head -c 30000000 /dev/zero >&2; echo >&2; echo reporter:counter:a,b,2 >&2; cat"
    done = run_command(
        ["sh", "-c", noise], [b"x", b"", b"y\n"], role="mapper", text=noise, env={}, folder=tmp_path, timeout=60
    )
    assert (done.output, done.counters) == (b"xy\n", {"a: b": 2}) and len(done.last_lines) <= 2000


def test_a_command_that_is_not_there_is_found_before_anything_runs(streams: Streams) -> None:
    streams.write(["a"])
    with pytest.raises(CommandNotFound, match="the mapper 'no-such-program -x' cannot run: there is no program"):
        streams.run("-mapper", "no-such-program -x")
    script = streams.program("plain.py", "print(1)\n")
    with pytest.raises(CommandNotFound, match="not executable"):
        streams.run("-reducer", str(script))
    with pytest.raises(StreamingFailed, match="cannot be started"):
        streams.run("-files", str(script), "-mapper", "plain.py")


def test_broken_records_of_aggregate_are_shown(streams: Streams) -> None:
    for line, why in (
        ("word\\t1", "does not begin with one of LongValueSum"),
        ("LongValueSum:a\\tx", "no 64-bit integer"),
    ):
        streams.write(["a"])
        with pytest.raises(StreamingFailed, match=why):
            streams.run("-mapper", f"awk '{{ print \"{line}\" }}'", "-reducer", "aggregate")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-reducr", "x"], "did you mean -reducer"),
        (["--stor", "x"], "did you mean --store"),
        (["-INPUT", "x"], "did you mean -input"),
        (["-zzzzzzz"], "-help lists them"),
        (["-mapper"], "-mapper needs a value"),
        (["stray"], "unexpected argument 'stray'"),
        (["-D", "novalue"], "-D name=value"),
        (["-cmdenv", "x"], "-cmdenv NAME=value"),
        (["-io", "typedbytes"], "lines of text"),
        (["-inputreader", "StreamXmlRecord,begin=a"], "Java class"),
        (["-conf", "/nowhere.xml"], "cannot be read"),
    ],
)
def test_calls_that_cannot_be_understood(arguments: list[str], said: str) -> None:
    with pytest.raises(BadCall, match=said):
        parse_options(arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-mapper", "org.example.MyMapper"], "names a Java class"),
        (["-inputformat", "SequenceFileInputFormat"], "TextInputFormat"),
        (["-outputformat", "org.example.Out"], "TextOutputFormat"),
        (["-partitioner", "org.example.P"], "KeyFieldBasedPartitioner"),
        (["-numReduceTasks", "two"], "is a number"),
        (["-D", "stream.non.zero.exit.is.failure=maybe"], "true or false"),
        (["-D", "mapred.output.key.comparator.class=org.example.C"], "KeyFieldBasedComparator"),
        (["-input", "hdfs://host/x"], "hdfs is not read here"),
    ],
)
def test_jobs_that_cannot_run(streams: Streams, arguments: list[str], said: str) -> None:
    streams.write(["a"])
    with pytest.raises(BadCall, match=said):
        streams.run(*arguments)


def test_options_are_read_as_hadoop_reads_them(tmp_path: Path) -> None:
    conf = tmp_path / "job.xml"
    conf.write_text(
        "<configuration><property><name>my.x</name><value>1</value></property>"
        "<property><name>mapred.reduce.tasks</name><value>7</value></property></configuration>"
    )
    before = f"-D mapred.reduce.tasks=2 -conf {conf} -input a b -input c,{{d,e}} -files x#y,z -Dmy.y=2 -libjars x.jar"
    after = "-jobconf k=v=w -cacheFile q -background --report=json -info"
    options = parse_options(f"{before} {after}".split())
    assert options.inputs == ["a", "b", "c", "{d,e}"] and options.files == ["x#y", "z", "q"]
    assert options.properties == {"mapreduce.job.reduces": "2", "my.x": "1", "my.y": "2", "k": "v=w"}
    assert options.given_properties["mapred.reduce.tasks"] == "2"
    assert options.own == {"report": "json"} and options.help
    for said in ("-libjars has no effect", "-jobconf is deprecated", "-cacheFile is deprecated", "-background has no"):
        assert any(said in note for note in options.notes)


def test_commands_are_split_as_hadoop_splits_them() -> None:
    assert split_command("awk -F, '{ print $1 }' \"a b\"  x") == ["awk", "-F,", "{ print $1 }", "a b", "x"]
    assert split_command("a'b'c") == ["a", "b", "c"]
    assert split_command("sed 's/a/\"/'") == ["sed", 's/a/"/']
    assert split_command("sh 'unfinished x") == ["sh", "unfinished x"]


def test_aggregate_reports_as_java_prints_them() -> None:
    def lines(kind: str, *values: str) -> list[bytes]:
        return [f"{kind}:k\t{value}".encode() for value in values]

    def reduced(kind: str, *values: str) -> str:
        combined = [
            *aggregate(lines(kind, *values[:1]), KeyRule(), combine=True),
            *aggregate(lines(kind, *values[1:]), KeyRule(), combine=True),
        ]
        (both,) = aggregate(sorted(combined), KeyRule(), combine=False)
        (plain,) = aggregate(lines(kind, *values), KeyRule(), combine=False)
        assert both == plain
        return plain.decode().partition("\t")[2]

    assert reduced("LongValueSum", "9223372036854775807", "1") == "-9223372036854775808"
    assert reduced("LongValueMin", "3", "-2") == "-2" and reduced("LongValueMax", "3", "20") == "20"
    assert reduced("StringValueMax", "b", "a") == "b" and reduced("StringValueMin", "b", "a") == "a"
    assert reduced("DoubleValueSum", "1.5", "2") == "3.5" and reduced("UniqValueCount", "x", "y", "x") == "2"
    assert reduced("ValueHistogram", "x", "y", "x") == "2\t1\t2\t2\t1.5\t0.5"
    assert [java_double(each) for each in (1e7, 0.001, 123456.789, -1.5e-7, 0.0)] == [
        *("1.0E7", "0.001", "123456.789", "-1.5E-7", "0.0")
    ]
