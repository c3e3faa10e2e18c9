"""Part files of a process that is killed at each step of writing them: a complete set, or one that says it is none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from incoop.base.checksums import block_hash
from incoop.engine.output import Pair
from incoop.engine.save import save_parts


@dataclass(frozen=True)
class Block:
    """A block that holds its pairs."""

    held: list[Pair]
    is_run: bool = False
    #: So much that others are asked to write it.
    length: int = 2 << 20

    def pairs(self, _: Any) -> list[Pair]:
        return self.held


@dataclass(frozen=True)
class Parts:
    """An output of so many parts."""

    parts: Sequence[list[Pair]]

    def __len__(self) -> int:
        return len(self.parts)

    def content(self, part: int) -> bytes:
        return block_hash(repr(self.parts[part]).encode())

    def blocks(self, part: int, _: Any) -> list[Any]:
        return [Block(self.parts[part])]


class Here:
    """Runs tasks one after the other, and opens nothing."""

    running = True

    @property
    def spark(self) -> Here:
        return self

    def run(self, _: str, task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        return [task(item) for item in items]

    def open(self) -> None:
        return None


class Killed(BaseException):
    """From here on this process does nothing any more."""


@contextmanager
def killed_before(step: int) -> Iterator[None]:
    """Fail at this change of a file or folder, and at every one behind it."""
    left = step

    def dying(original: Any) -> Any:
        def counted(*args: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left <= 0:
                raise Killed
            return original(*args, **named)

        return counted

    with pytest.MonkeyPatch.context() as patch:
        for name in ("replace", "unlink", "touch", "mkdir"):
            patch.setattr(Path, name, dying(getattr(Path, name)))
        patch.setattr(os, "fdopen", dying(os.fdopen))
        yield


def save(parts: Parts, folder: Path) -> list[str]:
    return [path.name for path in save_parts(parts, folder, Here(), Here(), None)]  # type: ignore[arg-type]


def found(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("part-*")} if folder.exists() else {}


def expected(parts: Parts) -> dict[str, str]:
    return {
        f"part-{number:05d}": "".join(f"{key}\t{value}\n" for key, value in pairs)
        for number, pairs in enumerate(parts.parts)
    }


NOTHING = Parts([])
ONE = Parts([[("a", 1)], [("b", 1), ("c", 1)], [("d", 1)]])
#: One part is as it was, one changed, one went; or two came.
FEWER = Parts([[("a", 1)], [("b", 2)]])
MORE = Parts([[("a", 2)], [("b", 1), ("c", 1)], [("d", 1)], [("e", 5)], [("f", 6)]])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(NOTHING, ONE, id="the first time"),
        pytest.param(ONE, FEWER, id="a part less"),
        pytest.param(ONE, MORE, id="parts more"),
    ],
)
def test_a_save_that_is_killed_at_any_step_leaves_no_wrong_set_and_is_made_good_by_the_next(
    before: Parts, after: Parts, tmp_path: Path
) -> None:
    step, killed = 0, True
    while killed:
        step += 1
        folder = tmp_path / f"out{step}"
        if before.parts:
            save(before, folder)
        killed = False
        try:
            with killed_before(step):
                save(after, folder)
        except Killed:
            killed = True
        if (folder / "_SUCCESS").exists():
            assert found(folder) in (expected(before), expected(after))
        save(after, folder)
        assert found(folder) == expected(after)
        assert (folder / "_SUCCESS").exists()
        assert save(after, folder) == []
        assert all(path.name.startswith(("_", "part-")) for path in folder.iterdir()), "the rest is hidden to readers"
    assert step > 6
