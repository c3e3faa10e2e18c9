"""A store that is copied while it is in use: the copy is a store of its own, and the original goes on."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from incoop.memo import MemoStore, collect
from incoop.memo.events import DidRestartServer

from .places import Place, run_generation, server_pid


def test_a_copy_of_a_live_store_is_opened_beside_it_and_neither_disturbs_the_other(folder: Path) -> None:
    with contextlib.closing(Place(folder, None)) as place:
        store = place.open()
        run_generation(store, "job", [1, 2, 3])
        pid = server_pid(store)
        shutil.copytree(folder, folder.parent / "copy", ignore=shutil.ignore_patterns("*.sock"))
        with contextlib.closing(Place(folder.parent / "copy", None)) as copied:
            other = copied.open()
            assert server_pid(other) != pid
            assert server_pid(store) == pid, "the original's server runs on"
            assert run_generation(other, "job", [1, 2, 3, 4])[1] == [4], "the copy holds what was there"
            other.close()
            with MemoStore.open(folder.parent / "copy", maintenance=True) as alone:
                assert collect(alone).sessions == [], "a copied session is nobody's"
        assert run_generation(store, "job", [1, 2, 3, 4])[1] == [4], "what the copy did is not the original's"
        assert server_pid(store) == pid
        assert not list(store.events.of(DidRestartServer))
        assert store.events.warnings() == []


def test_a_copy_with_a_short_socket_leaves_the_originals_socket_alone(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 60) / ("b" * 60) / "store"
    with contextlib.closing(Place(deep, None)) as place:
        store = place.open()
        run_generation(store, "job", [1])
        pid = server_pid(store)
        shutil.copytree(deep, tmp_path / "copy", ignore=shutil.ignore_patterns("*.sock"))
        with MemoStore.open(tmp_path / "copy") as other:
            assert run_generation(other, "job", [1])[1] == []
        assert run_generation(store, "job", [1])[1] == []
        assert server_pid(store) == pid
        assert store.events.warnings() == []
