"""A store that another user made, or may change, is refused; nothing of it is obeyed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import incoop
from incoop.base.own_files import NotOurs
from incoop.memo import MemoEntry, MemoStore
from incoop.memo.binary import find_server
from incoop.memo.events import DidBeginAnew
from incoop.memo.process import start_time
from incoop.memo.signed_files import read_signed, write_signed

from .conftest import Deed

AsOther = Callable[[Deed], None]
TASK = bytes(16)


def planted(folder: Path, secret: bytes) -> None:
    """A store as an attacker makes one: everything is theirs, and signed with what they know."""
    (folder / "memo" / "server").mkdir(parents=True)
    for each in (folder, folder / "memo", folder / "memo" / "server"):
        each.chmod(0o777)
    (folder / "memo" / "secret").write_bytes(secret)


def test_a_store_of_another_user_is_refused(commons: Path, as_other: AsOther) -> None:
    store = commons / "incoop-store"
    as_other(lambda: planted(store, b"0123456789abcdef0123456789abcdef"))
    with pytest.raises(NotOurs, match=r"belongs to another user.*--store") as refused:
        MemoStore.open(store)
    assert str(refused.value).count("\n") == 0
    with pytest.raises(NotOurs):
        incoop.connect(store)
    assert not (store / "memo" / "store.json").exists(), "nothing was done there"


@pytest.mark.parametrize("name", ["memo", "memo/server", "memo/packs", "memo/sessions", "memo/delivered", "inchdfs"])
def test_a_part_of_a_store_that_another_user_made_is_refused(commons: Path, as_other: AsOther, name: str) -> None:
    store = commons / "store"
    (store / name).parent.mkdir(parents=True)
    # What others could write to once, and cannot any more.
    for each in (store, (store / name).parent):
        each.chmod(0o777)
    as_other(lambda: (store / name).mkdir(mode=0o777))
    for each in ((store / name).parent, store):
        each.chmod(0o755)
    with pytest.raises(NotOurs, match=f"{name} belongs to another user"):
        incoop.connect(store)


@pytest.mark.parametrize("name", [".", "memo"])
def test_a_folder_that_others_may_write_to_is_refused_until_it_is_closed_to_them(tmp_path: Path, name: str) -> None:
    MemoStore.open(tmp_path / "store").close()
    (tmp_path / "store" / name).chmod(0o777)
    with pytest.raises(NotOurs, match="chmod go-w"):
        MemoStore.open(tmp_path / "store")
    (tmp_path / "store" / name).chmod(0o755)
    MemoStore.open(tmp_path / "store").close()


def test_folders_that_are_made_are_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        MemoStore.open(tmp_path / "new" / "store").close()
    finally:
        os.umask(before)
    assert [(tmp_path / each).stat().st_mode & 0o777 for each in ("new", "new/store", "new/store/memo")] == [0o700] * 3


def test_a_link_in_place_of_the_memo_is_refused(tmp_path: Path) -> None:
    MemoStore.open(tmp_path / "mine").close()
    (tmp_path / "store").mkdir(mode=0o700)
    (tmp_path / "store" / "memo").symlink_to(tmp_path / "mine" / "memo")
    with pytest.raises(NotOurs, match="is a link"):
        MemoStore.open(tmp_path / "store")


def link_to_something_known(secret: Path) -> None:
    known = secret.parent.parent / "known"
    known.write_bytes(b"0123456789abcdef" * 4)
    known.chmod(0o600)
    secret.symlink_to(known)


SECRETS: dict[str, Callable[[Path], object]] = {
    "a link to something that can be guessed": link_to_something_known,
    "a pipe that nobody writes to": os.mkfifo,
    "a folder": Path.mkdir,
    "empty": lambda path: path.write_bytes(b""),
    "short": lambda path: path.write_bytes(b"hunter2"),
    "one byte again and again": lambda path: path.write_bytes(b"a" * 64),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("how", SECRETS)
def test_a_secret_that_is_none_is_refused_with_a_remedy(tmp_path: Path, how: str) -> None:
    MemoStore.open(tmp_path / "store").close()
    secret = tmp_path / "store" / "memo" / "secret"
    secret.unlink()
    SECRETS[how](secret)
    if not secret.is_symlink() and secret.is_file():
        secret.chmod(0o600)
    with pytest.raises(NotOurs, match="Remove it"):
        MemoStore.open(tmp_path / "store")
    shutil.rmtree(secret) if secret.is_dir() else secret.unlink()
    MemoStore.open(tmp_path / "store").close()


def test_a_secret_of_another_user_is_refused(commons: Path, as_other: AsOther) -> None:
    MemoStore.open(commons / "store").close()
    secret = commons / "store" / "memo" / "secret"
    secret.unlink()
    shutil.chown(commons / "store", 65534)
    shutil.chown(commons / "store" / "memo", 65534)

    def plant() -> None:
        secret.write_bytes(os.urandom(32).hex().encode())
        secret.chmod(0o600)

    as_other(plant)
    shutil.chown(commons / "store", 0)
    shutil.chown(commons / "store" / "memo", 0)
    with pytest.raises(NotOurs, match="secret belongs to another user"):
        MemoStore.open(commons / "store")


def test_a_secret_that_the_caller_gives_cannot_be_guessed_either(tmp_path: Path) -> None:
    with pytest.raises(incoop.IncoopError, match="fewer than 16 bytes"):
        MemoStore.open(tmp_path / "store", secret=b"hunter2")


def test_a_forgotten_secret_does_not_begin_the_memo_anew(tmp_path: Path) -> None:
    secret = os.urandom(32)
    with MemoStore.open(tmp_path / "store", secret=secret) as store:
        store.store({TASK: MemoEntry(inline=b"x")})
    with pytest.raises(incoop.IncoopError, match="same secret as before"):
        MemoStore.open(tmp_path / "store")
    with MemoStore.open(tmp_path / "store", secret=secret) as store:
        assert store.lookup([TASK]) == [MemoEntry(inline=b"x")]


# What the records of a store say is obeyed only where they are signed.


def test_a_server_record_that_is_not_ours_is_not_obeyed(tmp_path: Path) -> None:
    MemoStore.open(tmp_path / "store").close()
    home = tmp_path / "store" / "memo" / "server"
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(precious / "socket"))
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
            record = {
                "host": socket.gethostname(), "home": str(home.resolve()), "pid": bystander.pid,
                "started": start_time(bystander.pid), "version": [6, 2], "binary": "/bin/false",
                "socket": str(precious / "socket"), "short_folder": str(precious), "mac": "00" * 16,
            }  # fmt: skip
            (home / "server.json").write_text(json.dumps(record))
            (home / "redis.pid").write_text(str(bystander.pid))
            MemoStore.open(tmp_path / "store").close()
            assert bystander.poll() is None
            bystander.communicate(b"\n")
    assert sorted(path.name for path in precious.iterdir()) == ["file", "socket"]


def test_a_signed_server_record_ends_no_process_that_does_not_work_here(tmp_path: Path) -> None:
    """A record that was true once, and whose process id is another's now."""

    with MemoStore.open(tmp_path / "store") as store:
        signer = store.session.signer
    home = tmp_path / "store" / "memo" / "server"
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, cwd="/") as bystander:
        record = {
            "host": socket.gethostname(), "home": str(home.resolve()), "pid": bystander.pid,
            "started": start_time(bystander.pid), "socket": str(home / "redis.sock"),
        }  # fmt: skip
        write_signed(home / "server.json", record, signer)
        assert read_signed(home / "server.json", signer) == record
        MemoStore.open(tmp_path / "store").close()
        assert bystander.poll() is None
        bystander.communicate(b"\n")


@pytest.mark.parametrize("change", [{"blobs": "ELSEWHERE"}, {"id": "../../x"}, {"id": 5}, {"more": 1}, {"memo": None}])
def test_a_store_record_that_was_altered_is_not_obeyed(tmp_path: Path, change: dict[str, object]) -> None:
    elsewhere = tmp_path / "made by us"
    with MemoStore.open(tmp_path / "store") as store:
        store.store({TASK: MemoEntry(inline=b"x")})
    path = tmp_path / "store" / "memo" / "store.json"
    altered = {key: str(elsewhere) if value == "ELSEWHERE" else value for key, value in change.items()}
    path.write_text(json.dumps({**json.loads(path.read_text()), **altered}))
    with MemoStore.open(tmp_path / "store") as store:
        assert store.events.of(DidBeginAnew)
        assert store.lookup([TASK]) == [None]
        store.store({TASK: MemoEntry(inline=b"x")})
    assert not elsewhere.exists()
    with MemoStore.open(tmp_path / "store") as store:
        assert store.lookup([TASK]) == [MemoEntry(inline=b"x")], "and goes on from there"
        assert not store.events.events


@pytest.mark.timeout(20)
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff" * 99, b'{"format": true}', None])
def test_a_damaged_store_record_means_a_new_beginning(tmp_path: Path, content: bytes | None) -> None:
    MemoStore.open(tmp_path / "store").close()
    path = tmp_path / "store" / "memo" / "store.json"
    path.unlink()
    os.mkfifo(path) if content is None else path.write_bytes(content)
    with MemoStore.open(tmp_path / "store") as store:
        assert store.events.of(DidBeginAnew)
    with MemoStore.open(tmp_path / "store") as store:
        assert not store.events.events


def test_a_socket_of_another_user_is_not_spoken_to(commons: Path, as_other: AsOther) -> None:
    MemoStore.open(commons / "store").close()
    server = commons / "store" / "memo" / "server"
    for each in (commons / "store", commons / "store" / "memo", server):
        each.chmod(0o777)

    program, pid_file = commons / "redis-server", commons / "redis.pid"
    shutil.copy(find_server().path, program)  # where the other user may go

    def listen() -> None:
        options = ["--port", "0", "--unixsocket", server / "redis.sock", "--dir", server, "--pidfile", pid_file]
        subprocess.run([program, *options, "--daemonize", "yes", "--logfile", commons / "log"], check=True)
        while not (pid_file.exists() and (server / "redis.sock").exists()):
            time.sleep(0.01)

    as_other(listen)
    theirs = int(pid_file.read_text())
    try:
        for each in (server, commons / "store" / "memo", commons / "store"):
            each.chmod(0o700)
        with MemoStore.open(commons / "store") as store:
            assert (server / "redis.sock").stat().st_uid == os.geteuid()
            assert store.session._server.pid() != theirs
            store.store({TASK: MemoEntry(inline=b"x")})
            assert store.lookup([TASK]) == [MemoEntry(inline=b"x")]
        assert start_time(theirs) is not None, "it is not ours to end"
    finally:
        os.kill(theirs, signal.SIGKILL)


def test_a_store_that_is_removed_under_a_session_leaves_no_server(tmp_path: Path) -> None:

    store = MemoStore.open(tmp_path / "store")
    pid = store.session._server.pid()
    assert pid is not None
    shutil.rmtree(tmp_path / "store")
    store.close()
    assert start_time(pid) is None
