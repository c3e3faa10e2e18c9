"""Inc-HDFS through the real command: exit codes, what goes to which stream, and never a traceback."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from incoop import inchdfs
from incoop.cli.commands import cli
from incoop.inchdfs import ChunkSettings, Dataset, DatasetStore, Lines, Splitter, expand
from tests.chunk.commands import INCOOP, run, start
from tests.chunk.samples import text


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder to work in, with a log of 3000 lines."""
    (tmp_path / "access.log").write_bytes(b"".join(b"GET /%d %d\n" % (n, n * 7919 % 1000) for n in range(3000)))
    return tmp_path


def stored(work: Path, file: str, name: str, average: int = 1024) -> None:
    """Set-up without a process: store a file as the command would."""
    inchdfs.put(DatasetStore(work / "incoop-store"), expand(work / file), name, settings=ChunkSettings(average=average))


def content(work: Path, name: str) -> bytes:
    return b"".join(Dataset(DatasetStore(work / "incoop-store"), name).chunks())


def test_put_prints_the_version_and_reports_on_standard_error(work: Path) -> None:
    code, out, said = run("put", "access.log", "logs", cwd=work)
    assert (code, out) == (0, b"logs@1\n")
    assert said == "39.6 KiB in 3 chunks; new: 39.6 KiB in 3 chunks\n"
    code, out, said = run("put", "access.log", "logs", "--report", "none", cwd=work)
    assert (code, out, said) == (0, b"logs@2\n", "")
    assert (work / "incoop-store").is_dir()


def test_a_json_report_is_one_object_on_the_last_line(work: Path) -> None:
    size = (work / "access.log").stat().st_size
    code, _, said = run("put", "access.log", "logs", "--average", "1K", "--report", "json", cwd=work)
    facts = json.loads(said.splitlines()[-1])
    assert code == 0
    assert facts.keys() == {"version", "bytes", "chunks", "new_bytes", "new_chunks", "seconds"}
    assert (facts["version"], facts["bytes"], facts["new_bytes"]) == ("logs@1", size, size)
    code, _, said = run("put", "access.log", "logs", "--report", "json", cwd=work)
    again = json.loads(said)
    assert (again["new_bytes"], again["new_chunks"], again["chunks"]) == (0, 0, facts["chunks"])


def test_cat_gives_every_version_back(work: Path) -> None:
    log = (work / "access.log").read_bytes()
    run("put", "access.log", "logs", cwd=work)
    (work / "today.log").write_bytes(b"one more\n")
    assert run("put", "--append", "today.log", "logs", cwd=work)[1] == b"logs@2\n"
    assert run("cat", "logs", cwd=work) == (0, log + b"one more\n", "")
    assert run("cat", "logs@1", cwd=work) == (0, log, "")
    assert run("cat", "inchdfs:/logs@1", cwd=work) == (0, log, "")


def test_ls_lists_datasets_and_versions_in_columns(work: Path) -> None:
    assert run("ls", cwd=work) == (0, b"", "")
    for name in ("logs", "logs", "other/name"):
        stored(work, "access.log", name)
    code, out, said = run("ls", cwd=work)
    rows = [line.split("\t") for line in out.decode().splitlines()]
    assert (code, said, [row[0] for row in rows]) == (0, "", ["logs@2", "other/name@1"])
    assert rows[0][1] == str((work / "access.log").stat().st_size)
    code, out, _ = run("ls", "logs", cwd=work)
    assert [line.split("\t")[0] for line in out.decode().splitlines()] == ["logs@1", "logs@2"]


def test_stat_says_what_a_version_is_made_of(work: Path) -> None:
    stored(work, "access.log", "logs")
    (work / "access.log").write_bytes((work / "access.log").read_bytes() + b"new\n")
    stored(work, "access.log", "logs")
    code, out, _ = run("stat", "logs", cwd=work)
    facts = dict(line.split("\t") for line in out.decode().splitlines())
    assert code == 0
    assert facts["version"] == "logs@2"
    assert facts["files"] == "1"
    assert facts["bytes"] == str((work / "access.log").stat().st_size)
    assert facts["chunker"] == "rabin average 1024 minimum 512 maximum 4096"
    assert facts["records"].startswith('{"Lines"')
    assert int(facts["shared with @1"].removesuffix(" bytes")) > 30_000


def test_diff_shows_chunks_and_records_that_differ(work: Path) -> None:
    lines = (work / "access.log").read_bytes().splitlines(keepends=True)
    stored(work, "access.log", "logs")
    (work / "access.log").write_bytes(b"".join([*lines[:1500], b"new \xff\n", *lines[1501:]]))
    stored(work, "access.log", "logs")
    code, out, said = run("diff", "logs@1", "logs@2", cwd=work)
    shown = out.decode().splitlines()
    assert (code, said) == (0, "")
    assert [line.split("\t")[0] for line in shown[:3]] == ["chunks", "bytes", "records"]
    assert shown[3:] == [f"- {lines[1500].decode().strip()}", "+ new \ufffd"]
    assert len(run("diff", "logs@1", "logs@2", "--no-records", cwd=work)[1].splitlines()) == 3
    code, out, _ = run("diff", "logs@1", "logs@1", cwd=work)
    assert out.decode().splitlines()[2] == "records\tadded 0\tremoved 0"


def test_rm_removes_a_version_or_a_dataset(work: Path) -> None:
    for _ in range(3):
        stored(work, "access.log", "logs")
    assert run("rm", "logs@2", cwd=work) == (0, b"", "removed logs@2\n")
    assert run("cat", "logs@2", cwd=work)[0] == 1
    assert run("rm", "logs", cwd=work) == (0, b"", "removed logs@1\nremoved logs@3\n")
    assert DatasetStore(work / "incoop-store").names() == []


@pytest.mark.parametrize("chunker", ["rabin", "fastcdc"])
def test_chunks_prints_offset_length_and_id(work: Path, chunker: str) -> None:
    code, out, said = run("chunks", "access.log", "--average", "1K", "--chunker", chunker, cwd=work)
    sizes = ChunkSettings(average=1024, chunker=chunker)
    expected = Splitter(sizes, Lines()).split_bytes((work / "access.log").read_bytes())
    assert (code, said) == (0, "")
    assert out.decode().splitlines() == [f"{chunk.offset}\t{chunk.length}\t{chunk.id.hex()}" for chunk in expected]
    assert not (work / "incoop-store").exists()


def test_chunks_of_a_pipe_a_compressed_file_and_standard_input_are_those_of_the_content(work: Path) -> None:
    log = (work / "access.log").read_bytes()
    (work / "access.log.gz").write_bytes(gzip.compress(log))
    expected = run("chunks", "access.log", "--average", "1K", cwd=work)
    assert run("chunks", "access.log.gz", "--average", "1K", cwd=work) == expected
    assert run("chunks", "-", "--average", "1K", cwd=work, stdin=log) == expected
    command = " ".join(f"'{part}'" for part in INCOOP) + " chunks <(cat access.log) --average 1K"
    piped = subprocess.run(["bash", "-c", command], cwd=work, capture_output=True, check=False)
    assert (piped.returncode, piped.stdout, piped.stderr.decode()) == expected


def test_standard_input_is_stored(work: Path) -> None:
    assert run("put", "-", "piped", cwd=work, stdin=b"a\nb\n")[:2] == (0, b"piped@1\n")
    assert run("put", "--append", "-", "piped", cwd=work, stdin=b"c\n")[0] == 0
    assert (content(work, "piped@1"), content(work, "piped@2")) == (b"a\nb\n", b"a\nb\nc\n")
    assert list((work / "incoop-store" / "inchdfs" / "temporary").iterdir()) == []


def test_record_formats_are_chosen_by_options(work: Path) -> None:
    (work / "rows.csv").write_bytes(b'1,"a\nb"\n' * 300)
    for options in (
        ("--records", "csv"),
        ("--records", "fixed", "--record-length", "8"),
        ("--records", "delimited", "--delimiter", r"\n"),
        ("--records", "whole"),
        ("--records", "lines"),
    ):
        code, out, said = run("put", "rows.csv", "rows", "--average", "256", *options, cwd=work)
        assert code == 0, said
        assert content(work, out.decode().strip()) == (work / "rows.csv").read_bytes()
    assert Dataset(DatasetStore(work / "incoop-store"), "rows@2").format == inchdfs.FixedLength(8)


WRONG_CALLS = [
    pytest.param(("put", "access.log"), id="no name"),
    pytest.param(("put", "access.log", "../up"), id="a name that leaves the store"),
    pytest.param(("put", "access.log", "logs@3"), id="a version chosen"),
    pytest.param(("put", "access.log", "logs", "--average", "x"), id="no size"),
    pytest.param(("put", "access.log", "logs", "--average", "10"), id="chunks too small"),
    pytest.param(("put", "access.log", "logs", "--minimum", "2M"), id="minimum above the average"),
    pytest.param(("put", "access.log", "logs", "--chunker", "sha"), id="no such chunker"),
    pytest.param(("put", "--append", "access.log", "logs", "--average", "1K"), id="append with sizes"),
    pytest.param(("put", "-", "access.log", "logs"), id="standard input and a file"),
    pytest.param(("put", "access.log", "logs", "--records", "fixed"), id="fixed without a length"),
    pytest.param(("put", "access.log", "logs", "--records", "delimited", "--delimiter", ""), id="no delimiter"),
    pytest.param(("cat", "a b"), id="cat no name"),
    pytest.param(("cat", "logs@x"), id="cat no version"),
    pytest.param(("chunks", "."), id="chunks of a folder of several files"),
    pytest.param(("ls", "--unknown"), id="an unknown option"),
    pytest.param(("nonsense",), id="an unknown command"),
]


@pytest.mark.parametrize("call", WRONG_CALLS)
def test_a_wrong_call_exits_with_2_and_says_what_is_wrong(work: Path, call: tuple[str, ...]) -> None:
    (work / "second").touch()
    code, out, said = run(*call, cwd=work)
    assert (code, out) == (2, b""), said
    assert said.strip()
    assert not (work / "incoop-store" / "inchdfs" / "datasets" / "logs").exists()


FAILURES = [
    pytest.param(("put", "missing", "logs"), "missing: no such file or folder", id="a missing file"),
    pytest.param(("put", "*.csv", "logs"), "no file matches", id="a glob without files"),
    pytest.param(("put", "empty", "logs"), "holds no input file", id="an empty folder"),
    pytest.param(("put", "/proc/self/mem", "logs"), "cannot read /proc/self/mem", id="a file that errors"),
    pytest.param(("put", "cut.gz", "logs"), "cannot read cut.gz", id="a truncated file"),
    pytest.param(("put", "broken", "logs"), "broken", id="a link to nothing in a folder"),
    pytest.param(("cat", "nothing"), "no dataset nothing", id="no such dataset"),
    pytest.param(("cat", "there@7"), "no dataset there@7", id="no such version"),
    pytest.param(("rm", "nothing"), "no dataset nothing", id="rm of none"),
    pytest.param(("diff", "there@1", "nothing"), "no dataset nothing", id="diff with none"),
    pytest.param(("chunks", "missing"), "missing: no such file", id="chunks of none"),
    pytest.param(("put", "access.log", "logs", "--store", "access.log"), "cannot use access.log", id="a file as store"),
    pytest.param(("cat", "there", "--store", "newer"), "Upgrade incoop", id="a store of a later release"),
]


@pytest.mark.parametrize(("call", "message"), FAILURES)
def test_a_failure_exits_with_1_and_one_sentence(work: Path, call: tuple[str, ...], message: str) -> None:
    stored(work, "access.log", "there")
    (work / "empty").mkdir()
    (work / "broken").mkdir()
    (work / "broken" / "link").symlink_to(work / "nowhere")
    (work / "cut.gz").write_bytes(gzip.compress(text(1, 10_000))[:-20])
    (work / "newer" / "inchdfs").mkdir(parents=True)
    (work / "newer" / "inchdfs" / "FORMAT").write_text("9\n")
    code, out, said = run(*call, cwd=work)
    assert (code, out) == (1, b""), said
    assert said.startswith("incoop: ")
    assert message in said
    assert said.count("\n") == 1


def test_a_reader_that_leaves_early_is_no_complaint(work: Path) -> None:
    (work / "large").write_bytes(text(1, 3_000_000))
    stored(work, "large", "large", 4096)
    incoop = " ".join(f"'{part}'" for part in INCOOP)
    for command in ("cat large", "chunks large --average 1K", "diff large large"):
        done = subprocess.run(
            ["bash", "-c", f"{incoop} {command} | head -n 1"], cwd=work, capture_output=True, check=False
        )
        assert done.stdout.count(b"\n") == 1
        assert done.stderr == b""


@pytest.mark.parametrize("command", [("cat", "large"), ("chunks", "fifo"), ("put", "-", "logs")])
def test_an_interrupt_exits_with_130_and_no_traceback(work: Path, command: tuple[str, ...]) -> None:
    (work / "large").write_bytes(text(1, 3_000_000))
    stored(work, "large", "large", 64 << 10)
    os.mkfifo(work / "fifo")
    process = start(*command, cwd=work, stdin=subprocess.PIPE)
    if command[0] == "cat":  # it waits until somebody reads the rest
        assert process.stdout is not None
        process.stdout.read(1)
    else:
        store = work / "incoop-store" / "inchdfs" / "temporary"
        if command[0] == "put":
            while not list(store.iterdir()):
                time.sleep(0.005)
        else:
            with (work / "fifo").open("wb") as pipe:
                pipe.write(b"x")
                pipe.flush()
                process.send_signal(signal.SIGINT)
                process.wait(120)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.decode().strip() == "incoop: interrupted; what was finished is kept"
    assert list((work / "incoop-store" / "inchdfs" / "temporary").iterdir()) == []


def test_closed_standard_streams_are_no_traceback(work: Path) -> None:
    incoop = " ".join(f"'{part}'" for part in INCOOP)
    done = subprocess.run(
        ["bash", "-c", f"{incoop} put - logs <&-"], cwd=work, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "standard input is closed" in done.stderr
    done = subprocess.run(
        ["bash", "-c", f"{incoop} put - logs < ."], cwd=work, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_odd_file_names_are_no_trouble(work: Path) -> None:
    name = os.fsdecode(b"\xff odd\n.txt")
    (work / name).write_bytes(b"x\n")
    assert run("put", name, "odd", cwd=work)[0] == 0
    code, _, said = run("put", os.fsdecode(b"\xff missing"), "odd", cwd=work)
    assert code == 1
    assert "missing" in said
    assert run("chunks", name, cwd=work)[0] == 0


def test_the_store_may_be_named_by_option_or_environment(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("put", "access.log", "here", "--store", "one", cwd=work)
    monkeypatch.setenv("INCOOP_STORE", str(work / "two"))
    run("put", "access.log", "there", cwd=work)
    assert DatasetStore(work / "one").names() == ["here"]
    assert DatasetStore(work / "two").names() == ["there"]


@pytest.mark.parametrize("command", ["put", "ls", "stat", "cat", "diff", "rm", "chunks"])
def test_help_has_an_example_for_every_command(command: str) -> None:
    shown = CliRunner().invoke(cli, [command, "--help"])
    assert shown.exit_code == 0
    assert f"  incoop {command}" in shown.output
    assert "Example" in shown.output
