"""Passwords are in no error, report or list of processes, whatever characters they hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest
import redis

import incoop
from incoop.base.own_files import NotOurs
from incoop.memo import MemoStore
from incoop.memo.address import check_address, make_pool, shown
from incoop.memo.events import DidLoseRedis
from tests.cli.command import CALL
from tests.cli.command import incoop as command
from tests.memo.servers import RealServer

PASSWORDS = ["hunter2", "hun/ter2", "hun?ter2", "hun#ter2", "hun@ter2", "hun:ter2", "hun ter2", "[hunter2", "hünter2",
             "%68unter2", "hunter2@", "12345", "/hunter2", "hun\x1bter2"]  # fmt: skip
PLACES = ["127.0.0.1:1/0", "127.0.0.1:1", "no-such-host.invalid:6379/2", ":1", "[::1]:1/0", "/0"]


def pieces(password: str) -> list[str]:
    """Parts of a password that would tell it."""
    return [password, *(part for sign in "/?#@: " for part in password.split(sign) if len(part) >= 3)]


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize("form", ["raw", "coded"])
def test_no_error_shows_a_password(tmp_path: Path, password: str, form: str) -> None:
    written = password if form == "raw" else quote(password, safe="")
    urls = [f"{scheme}://{user}:{written}@{place}" for scheme in ("redis", "rediss") for user in ("", "bob")
            for place in PLACES]  # fmt: skip
    urls += [f"unix://:{written}@/no/such.sock", f"redis://127.0.0.1:1/0?password={written}"]
    if not written.isdigit() and "@" not in written:
        urls.append(f"redis://:{written}")  # the place forgotten; else it reads as one
    for url in urls[:: 3 if form == "coded" else 1]:
        told = shown(url)
        try:
            check_address(url)
            MemoStore.open(tmp_path / "store", url, reply_seconds=0.5)
        except incoop.IncoopError as error:
            told += str(error) + repr(error)
        for piece in {*pieces(password), *pieces(written)}:
            assert piece not in told.replace("127.0.0.1", "").replace("%-codes", ""), (url, told)
    assert not (tmp_path / "store").exists(), "and nothing was made"


def test_nor_does_a_run_that_loses_its_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp")
    server = RealServer(tmp_path / "server", "password")
    try:
        (tmp_path / "words.txt").write_text("oak\n")
        with MemoStore.open(tmp_path / "store", server.url, reply_seconds=1) as store:
            server.kill()
            store.lookup([bytes(16)])
            (lost,) = store.events.of(DidLoseRedis)
            told = str(lost) + json.dumps(store.events.warnings()) + "".join(store.losses())
            assert "correct" not in told and "horse" not in told
    finally:
        server.close()


def test_an_address_in_a_file_is_seen_by_nobody_else(tmp_path: Path) -> None:
    address = tmp_path / "address"
    address.write_text("redis://:hunter2@127.0.0.1:1/0\n")
    address.chmod(0o666)
    with pytest.raises(NotOurs):
        from click.testing import CliRunner

        from incoop.cli.stats import stats

        CliRunner().invoke(stats, ["--memo-file", str(address)], catch_exceptions=False)
    address.chmod(0o600)
    (tmp_path / "store" / "memo").mkdir(parents=True, mode=0o700)
    (tmp_path / "store").chmod(0o700)
    (tmp_path / "store" / "memo" / "store.json").write_text("{}")
    done = command("stats", "--store", tmp_path / "store", "--memo-file", address)
    assert done.returncode == 1 and "cannot reach Redis at redis://127.0.0.1:1/0" in done.stderr
    assert "hunter2" not in done.stderr
    done = command("stats", "--memo-file", address, "--memo", "redis://:x@y")
    assert done.returncode == 2 and "one of them" in done.stderr


def test_the_environment_and_a_file_keep_a_password_out_of_ps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp")
    server = RealServer(tmp_path / "server", "password")
    try:
        (tmp_path / "words.txt").write_text("oak\n" * 10)
        (tmp_path / "slow.py").write_text(
            "import time, incoop\ndef slowly(_, line):\n    time.sleep(0.3)\n    yield line, 1\n"
            "job = incoop.Job('slow', slowly)\n"
        )
        words = [sys.executable, "-c", CALL, "run", "slow.py", "words.txt"]
        environment = {**os.environ, "INCOOP_MEMO": server.url}
        with subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE) as process:
            seen: list[bytes] = []
            while process.poll() is None:
                for path in Path("/proc").glob("[0-9]*/cmdline"):
                    try:
                        seen.append(path.read_bytes())
                    except OSError:
                        continue
                time.sleep(0.1)
            assert process.returncode == 0
        with redis.Redis(connection_pool=make_pool(server.url)) as client:
            assert client.keys(), "it was used"
        ours = [words for words in seen if b"requirepass" not in words]  # but for the server, which the test started
        assert any(b"slow.py" in words for words in ours)
        assert not any(b"correct" in words or b"redis://" in words for words in ours)
    finally:
        server.close()


def test_a_password_on_the_command_line_is_warned_of(tmp_path: Path) -> None:
    done = command("stats", "--store", tmp_path / "none", "--memo", "redis://:hunter2@127.0.0.1:1/0")
    assert "--memo-file" in done.stderr and "hunter2" not in done.stderr


def test_streaming_takes_the_address_from_a_file_too(tmp_path: Path) -> None:
    address = tmp_path / "address"
    address.write_text("redis://:hunter2@127.0.0.1:1/0\n")
    address.chmod(0o600)
    (tmp_path / "words.txt").write_text("oak\n")
    job = ["-input", tmp_path / "words.txt", "-output", tmp_path / "out", "-mapper", "cat", "-reducer", "NONE"]
    own = ["--store", tmp_path / "store", "--memo-file", address]
    done = command("streaming", *job, *own)
    assert done.returncode == 1 and "cannot reach Redis at redis://127.0.0.1:1/0" in done.stderr
    assert "hunter2" not in done.stderr
    done = command("streaming", *job, *own, "--memo", "redis://:x@y")
    assert done.returncode == 2 and "one of them" in done.stderr
    done = command("streaming", *job, "--store", tmp_path / "store", "--memo", "redis://:hunter2@127.0.0.1:1/0")
    assert "--memo-file" in done.stderr and "hunter2" not in done.stderr


def test_doctor_says_nothing_of_it() -> None:
    done = command("doctor", env={**os.environ, "INCOOP_MEMO": "redis://:hunter2@127.0.0.1:1/0"})
    assert "hunter2" not in done.stdout + done.stderr
