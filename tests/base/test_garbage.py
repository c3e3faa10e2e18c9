"""Garbage is looked for seldom inside, and as before outside; who has chosen how often keeps it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from incoop.base.garbage import collecting_seldom
from incoop.engine.running.worker_process import settled


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_a_task_collects_seldom_and_leaves_it_as_it_was() -> None:
    gc.set_threshold(700, 10, 10)
    assert settled(lambda _: gc.get_threshold(), None)[0] > 700
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("chosen", [(0, 10, 10), (100_000, 5, 5)], ids=["never", "more seldom"])
def test_what_a_program_chose_stays(chosen: tuple[int, int, int]) -> None:
    gc.set_threshold(*chosen)
    with collecting_seldom():
        assert gc.get_threshold() == chosen
    assert gc.get_threshold() == chosen


def test_what_is_chosen_inside_stays() -> None:
    with collecting_seldom():
        gc.set_threshold(5, 6, 7)
    assert gc.get_threshold() == (5, 6, 7)
