"""A Spark that we start is closed: on this machine alone, with a key, and no secret of the store in what it sends."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path

import pytest

import incoop
from incoop.base.checksums import DIGEST_BYTES, Signer
from incoop.engine.running.doors import CLOSED, closed_doors, warning_of

LISTENING = """
import os, sys
from pathlib import Path
import incoop
{start}
def below(pid):
    own = [int(each) for path in Path(f"/proc/{{pid}}/task").glob("*/children") for each in path.read_text().split()]
    return [pid, *(each for child in own for each in below(child))]
inodes = set()
for pid in below(os.getpid()):
    for fd in Path(f"/proc/{{pid}}/fd").glob("*"):
        try:
            inodes.add(os.readlink(fd).removeprefix("socket:[").removesuffix("]"))
        except OSError:
            pass
for table in ("tcp", "tcp6"):
    for line in Path(f"/proc/net/{{table}}").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and words[9] in inodes:
            print("listens", words[1].split(":")[0])
conf = context.getConf()
print("authenticate", conf.get("spark.authenticate"), "ui", conf.get("spark.ui.enabled"))
print("sum", context.parallelize(range(10), 2).sum())
"""

OURS = "session = incoop.connect(sys.argv[1], master='local[1]')\ncontext = session.spark.sparkContext"

#: 127.0.0.1, alone and as an address of IPv6; ::1.
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def said(program: str, *words: object, **variables: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        capture_output=True, text=True, timeout=120, env=environment | variables,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.long
def test_a_spark_that_we_start_listens_on_this_machine_alone(tmp_path: Path) -> None:
    told = said(LISTENING.format(start=OURS), tmp_path / "store")
    listens = {line.split()[1] for line in told if line.startswith("listens")}
    assert listens and listens <= LOOPBACK
    assert "authenticate true ui false" in told and "sum 45" in told


@pytest.mark.long
def test_so_does_that_of_a_program_that_is_submitted(tmp_path: Path) -> None:
    start = (
        "from pyspark import SparkContext\ncontext = SparkContext('local[1]')\n"
        "context.parallelize([1]).map(str).count()"
    )
    (tmp_path / "program.py").write_text(LISTENING.format(start=start))
    told = said(
        "from incoop.cli.main import main; main()", "submit", "--store", tmp_path / "store", tmp_path / "program.py"
    )
    listens = {line.split()[1] for line in told if line.startswith("listens")}
    assert listens and listens <= LOOPBACK
    assert "authenticate true ui false" in told and "sum 45" in told


def test_what_a_user_asks_for_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    assert closed_doors("local[4]") == CLOSED
    assert "spark.ui.enabled" not in closed_doors("local", {"spark.ui.enabled": "true"})
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf spark.ui.enabled=true pyspark-shell")
    assert closed_doors("local[4]").keys() == CLOSED.keys() - {"spark.ui.enabled"}
    assert closed_doors("spark://host:7077") == {}, "executors elsewhere have to reach the driver"


def test_a_cluster_without_authentication_is_warned_of() -> None:
    assert "spark.authenticate" in warning_of("spark://host:7077", {})
    assert warning_of("spark://host:7077", {"spark.authenticate": "true"}) == ""
    assert warning_of("local[2]", {}) == ""


def test_what_goes_to_workers_holds_no_secret(tmp_path: Path) -> None:
    """The memo's secret was in a broadcast, which whoever reached Spark's block service could read."""
    with incoop.connect(tmp_path / "store") as session:
        shipped = pickle.dumps(session.worker_config())
        secret = (tmp_path / "store" / "memo" / "secret").read_bytes().strip()
        assert secret not in shipped and bytes.fromhex(secret.decode()) not in shipped
        signer, given = session._memo._signer, session.worker_config().pack_key
        held = {b"incoop.entry": signer._entry, b"incoop.gen": signer._generation, b"incoop.file": signer._file}
        assert all(state.digest() not in shipped for state in held.values())
        # Nor does what they get sign anything, as it is or as a secret.
        for kind, state in held.items():
            assert blake2b(key=given, digest_size=DIGEST_BYTES, person=kind).digest() != state.digest()
        assert Signer(given).key_check != signer.key_check
