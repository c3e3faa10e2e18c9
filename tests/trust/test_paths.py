"""A path of a file system that is not served is refused by every way in, before anything runs; `file:` is a path."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext

import incoop
from incoop import inchdfs
from incoop.base.errors import BadCall
from incoop.base.paths import SchemeNotServed, local_path
from incoop.fingerprint import fingerprint
from incoop.fronts.rdd.hadoop_paths import local_files
from incoop.fronts.streaming.options import parse_options
from incoop.fronts.streaming.run import run_streaming
from incoop.memo import MemoStore
from tests.cli.command import incoop as command
from tests.cli.command import incoop_here
from tests.end_to_end.conftest import base, place
from tests.end_to_end.places import Place
from tests.fronts.mrjob_runs import Memoized

#: Fixtures of the end-to-end tests.
__all__ = ["base", "place"]

UNSERVED = [
    "s3://bucket/data",
    "s3a://bucket/data",
    "hdfs://node:8020/data",
    "hdfs:///data",
    "gs://bucket/data",
    "http://example.org/data",
    "abfs://container@account.dfs.core.windows.net/data",
    "dbfs:/data",
    "S3://bucket/data",
    "made-up+scheme.1://data",
]

JOB = """\
import incoop

def words(_, line):
    for word in line.split():
        yield word, 1

def total(word, counts):
    yield word, sum(counts)

job = incoop.Job("words", words, total)
"""

MRJOB = """\
from mrjob.job import MRJob

class Words(MRJob):
    def mapper(self, _, line):
        for word in line.split():
            yield word, 1

    def reducer(self, word, counts):
        yield word, sum(counts)

if __name__ == "__main__":
    Words.run()
"""


@pytest.mark.parametrize("named", UNSERVED)
def test_a_scheme_that_is_not_served_is_refused(named: str) -> None:
    with pytest.raises(SchemeNotServed, match="is not read here") as refused:
        local_path(named)
    assert isinstance(refused.value, BadCall)
    assert named in str(refused.value)


@pytest.mark.parametrize("named", ["s3://bucket/data", "dbfs:/data", "hdfs:///data", "gs://bucket"])
def test_pathlib_hides_no_scheme(named: str) -> None:
    """It makes one slash of two."""
    with pytest.raises(SchemeNotServed):
        local_path(Path(named))


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ("file:///data/a.txt", "/data/a.txt"),
        ("file:/data/a.txt", "/data/a.txt"),
        ("FILE:///data/a.txt", "/data/a.txt"),
        ("file://localhost/data/a.txt", "/data/a.txt"),
        ("file:////data/a.txt", "/data/a.txt"),
        ("file:///data/a%20b%C3%A9.txt", "/data/a bé.txt"),
        ("file:///data/*.txt", "/data/*.txt"),
        ("file:///data/a:b#c?d", "/data/a:b#c?d"),
        ("file:///", "/"),
        ("12:30.log", "12:30.log"),
        ("a:b.txt", "a:b.txt"),
        ("logs/12:30/s3:x", "logs/12:30/s3:x"),
        ("notes:today.txt", "notes:today.txt"),
        (r"C:\data\x", r"C:\data\x"),
        ("C:/data/x", "C:/data/x"),
        ("./s3:/bucket", "./s3:/bucket"),
        ("/s3://bucket", "/s3://bucket"),
        ("file", "file"),
        ("file.txt", "file.txt"),
        ("", ""),
    ],
)
def test_what_is_a_path(named: str, path: str) -> None:
    assert local_path(named) == path


def test_a_name_that_begins_like_a_scheme_is_a_file_when_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SchemeNotServed):
        local_path("http:log")
    Path("http:log").touch()
    assert local_path("http:log") == "http:log"


def test_a_file_whose_own_name_has_percent_codes_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "a%20b").touch()
    assert local_path(f"file://{tmp_path}/a%20b") == str(tmp_path / "a%20b")
    assert local_path(f"file://{tmp_path}/c%20d") == str(tmp_path / "c d")
    assert local_path(f"file://{tmp_path}/c%20d", percent=False) == str(tmp_path / "c%20d")


def test_a_code_for_no_character_of_a_path_is_refused() -> None:
    with pytest.raises(incoop.BadCall, match="a character that none has"):
        local_path("file:///%00")


@pytest.mark.parametrize("named", ["file://server/data/a.txt", "file://a.txt"])
def test_a_file_of_another_host_is_refused(named: str) -> None:
    with pytest.raises(BadCall, match="of this machine"):
        local_path(named)


# -- commands -----------------------------------------------------------------

COMMANDS: dict[str, Callable[[str], list[str]]] = {
    "run, input": lambda bad: ["run", "job.py", bad],
    "run, one of several inputs": lambda bad: ["run", "job.py", "in.txt", bad],
    "run, output": lambda bad: ["run", "job.py", "in.txt", "--output", bad],
    "run, store": lambda bad: ["run", "job.py", "in.txt", "--store", bad],
    "run, only explained": lambda bad: ["run", "job.py", bad, "--explain"],
    "put": lambda bad: ["put", bad, "data"],
    "put, one of several": lambda bad: ["put", "in.txt", bad, "data"],
    "put, appended": lambda bad: ["put", "--append", bad, "data"],
    "put, store": lambda bad: ["put", "in.txt", "data", "--store", bad],
    "chunks": lambda bad: ["chunks", bad],
    "ls, store": lambda bad: ["ls", "--store", bad],
    "gc, store": lambda bad: ["gc", "--store", bad],
    "streaming, input": lambda bad: ["streaming", "-input", bad, "-output", "out", "-mapper", "cat"],
    "streaming, output": lambda bad: ["streaming", "-input", "in.txt", "-output", bad, "-mapper", "cat"],
    "streaming, files": lambda bad: [
        *["streaming", "-files", bad, "-input", "in.txt", "-output", "out", "-mapper", "cat"]
    ],
    "streaming, archives": lambda bad: [
        *["streaming", "-archives", bad, "-input", "in.txt", "-output", "out", "-mapper", "cat"]
    ],
    "streaming, files that count": lambda bad: [
        *["streaming", "-D", f"incoop.depends.on={bad}", "-input", "in.txt", "-output", "out", "-mapper", "cat"]
    ],
    "streaming, store": lambda bad: [
        *["streaming", "--store", bad, "-input", "in.txt", "-output", "out", "-mapper", "cat"]
    ],
    "mrjob, input": lambda bad: ["mrjob", "mr.py", bad],
    "mrjob, output": lambda bad: ["mrjob", "mr.py", "-o", bad, "in.txt"],
    "mrjob, output of steps": lambda bad: ["mrjob", "mr.py", "--step-output-dir", bad, "in.txt"],
    "mrjob, files": lambda bad: ["mrjob", "mr.py", "--files", bad, "in.txt"],
    "mrjob, store": lambda bad: ["mrjob", "--store", bad, "mr.py", "in.txt"],
    "submit, store": lambda bad: ["submit", "--store", bad, "job.py"],
    "submit, program": lambda bad: ["submit", bad],
}


@pytest.fixture
def folder(tmp_path: Path, base: Path) -> Path:
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "mr.py").write_text(MRJOB)
    (tmp_path / "in.txt").write_text("a b a\n")
    return tmp_path


@pytest.mark.parametrize("way", COMMANDS)
def test_every_command_refuses_and_leaves_no_folder_of_that_name(folder: Path, way: str) -> None:
    done = incoop_here(*COMMANDS[way]("s3://bucket/data"), cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "s3://bucket/data" in done.stderr and "s3 is not read here" in done.stderr
    assert {path.name for path in folder.iterdir()} <= {"job.py", "mr.py", "in.txt", "incoop-store", "__pycache__"}


def test_a_dataset_is_no_place_for_output(folder: Path) -> None:
    done = incoop_here("run", "job.py", "in.txt", "--output", "inchdfs:/data", cwd=folder)
    assert done.returncode == 2 and "is an input" in done.stderr


def test_the_command_takes_file_uris_for_everything(folder: Path) -> None:
    uri = f"file://{folder}"
    (folder / "name with blanks.txt").write_text("b b\n")
    done = command(
        *["run", "job.py", f"{uri}/in.txt", f"{uri}/name%20with%20blanks.txt"],
        *["--output", f"{uri}/out%20put", "--store", f"file://localhost{folder}/store"],
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    parts = sorted((folder / "out put").glob("part-*"))
    assert sorted(line for part in parts for line in part.read_text().splitlines()) == ["a\t2", "b\t3"]
    assert (folder / "store" / "inchdfs").is_dir()
    assert not (folder / "file:").exists()
    assert incoop_here("put", f"{uri}/in.txt", "data", cwd=folder).stdout == "data@1\n"


# -- in a program -------------------------------------------------------------


def words(_: Any, line: str) -> Any:
    for word in line.split():
        yield word, 1


def total(word: str, counts: Any) -> Any:
    yield word, sum(counts)


CALLS: dict[str, Callable[[Place, str], object]] = {
    "input": lambda place, bad: place.session.run(incoop.Job("w", words, total), bad),
    "one of several inputs": lambda place, bad: place.session.run(incoop.Job("w", words, total), [place.input, bad]),
    "named input": lambda place, bad: place.session.run(incoop.Job("w", {"a": words}, total), {"a": bad}),
    "explain": lambda place, bad: place.session.explain(incoop.Job("w", words, total), bad),
    "depends_on": lambda place, bad: place.session.run(
        incoop.Job("w", words, total, depends_on=[bad]), str(place.input)
    ),
    "fingerprint": lambda place, bad: fingerprint(words, depends_on=bad),
    "store": lambda place, bad: incoop.connect(bad, spark=place.spark),
    "memo store": lambda place, bad: MemoStore.open(bad),
    "folder of packs": lambda place, bad: MemoStore.open(place.folder / "other", blobs=str(Path(bad))),
    "index": lambda place, bad: inchdfs.index_input(place.session.datasets, bad),
    "expand": lambda place, bad: inchdfs.expand(bad),
    "streaming": lambda place, bad: run_streaming(
        place.session, parse_options(["-input", str(place.input), "-output", bad, "-mapper", "cat"])
    ),
}


@pytest.mark.parametrize("way", CALLS)
def test_every_call_refuses_before_anything_runs(place: Place, way: str) -> None:
    place.write(["a b a"])
    with contextlib.chdir(place.folder):
        with pytest.raises(SchemeNotServed):
            CALLS[way](place, "hdfs://node/data")
        assert {path.name for path in place.folder.iterdir()} <= {"input", "store"}


def test_save_refuses_and_writes_to_a_file_uri(place: Place) -> None:
    place.write(["a b a"])
    result = place.session.run(incoop.Job("w", words, total), f"file://{place.input}")
    with contextlib.chdir(place.folder):
        for bad in ("s3://bucket/out", Path("s3://bucket/out")):
            with pytest.raises(SchemeNotServed):
                result.save(bad)
        assert not Path("s3:").exists()
        written = result.save(f"file:{place.folder}/out")
        assert written and all(path.parent == place.folder / "out" for path in written)
    assert dict(result) == {"a": 2, "b": 1}


def test_a_path_and_its_file_uri_are_one_input(place: Place) -> None:
    place.write(["a b a", "c d"])
    job = incoop.Job("w", words, total)
    place.session.run(job, str(place.input))
    again = place.session.run(job, f"file://{place.input}")
    assert again.report.map.executed == 0
    assert len(list(place.session.datasets.inputs.iterdir())) == 1


def test_files_with_colons_in_their_names_are_read(place: Place) -> None:
    place.write({"12:30.log": ["a"], "a:b.txt": ["b"]})
    job = incoop.Job("w", words, total)
    with contextlib.chdir(place.input):
        assert dict(place.session.run(job, ["12:30.log", "a:b.txt"])) == {"a": 1, "b": 1}
        assert dict(place.session.run(job, "*:*")) == {"a": 1, "b": 1}


def test_mrjob_reads_and_writes_file_uris(place: Place) -> None:
    place.write(["a b a"])
    job = place.folder / "mr.py"
    job.write_text(MRJOB)
    run = Memoized(place.session)
    with contextlib.chdir(place.folder):
        run(job, "-o", f"file:{place.folder}/out", "--no-cat-output", f"file:{place.input}/input.txt")
        assert not Path("file:").exists()
    assert "".join(path.read_text() for path in sorted((place.folder / "out").glob("part-*"))) == '"a"\t2\n"b"\t1\n'


def test_spark_itself_reads_what_spark_serves(place: Place, tmp_path: Path) -> None:
    """Other schemes are left to plain Spark; of local names every sign means what it means to Hadoop."""
    for named in ("hdfs://node/data", "s3a://bucket/data", "file://localhost/data"):
        assert local_files(named) is None
    contents = {"a b": "blank", "a%20b": "percent", "a#b": "sharp"}
    for name, content in contents.items():
        (tmp_path / name).write_text(f"{content}\n")
    context: SparkContext = place.spark.sparkContext
    for name, content in contents.items():
        for uri in (f"file://{tmp_path}/{name}", f"file:{tmp_path}/{name}", f"{tmp_path}/{name}"):
            assert place.session.textFile(uri).collect() == context.textFile(uri).collect() == [content]
