"""What is in the ids of a job's results: each part of the job in those that it can change, and in no other."""

from __future__ import annotations

import importlib
import random
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop.code import KnownReads
from incoop.engine.stages.map_contract.identity import CONTRACT, MAP, JobIdentity, functions_of, identify
from incoop.inchdfs import Csv, Lines
from incoop.job import Hints


def mapper(_: Any, line: str) -> Any:
    yield line, 1


def other_mapper(_: Any, line: str) -> Any:
    yield line, 2


def giving(value: int) -> Any:
    def given(_: Any, line: str) -> Any:
        yield line, value

    return given


def total(key: Any, values: Any) -> Any:
    yield key, sum(values)


def largest(key: Any, values: Any) -> Any:
    yield key, max(values)


def timed(key: Any, values: Any) -> Any:
    yield key, time.time()


def drawn(key: Any, values: Any) -> Any:
    yield key, time.time() + random.random()


class Tagged:
    def __init__(self, text: str) -> None:
        self.text = text

    def shown(self) -> str:
        return self.text


def tagging(_: Any, line: str) -> Any:
    yield Tagged(line).shown(), 1


def job(name: str = "job", mapper: Any = mapper, reducer: Any = total, combiner: Any = total, **more: Any) -> Any:
    return incoop.Job(name, mapper, reducer, combiner, **more)


def changed(one: JobIdentity, other: JobIdentity) -> set[str]:
    """Which of the ids are not the same."""
    return {part for part in ("map", "combine", "reduce", "tree") if getattr(one, part) != getattr(other, part)}


PLAIN = identify(job())


@pytest.mark.parametrize(
    ("other", "parts"),
    [
        pytest.param(job(), set(), id="nothing"),
        pytest.param(job("another name"), set(), id="the name"),
        pytest.param(job(stage="combine"), set(), id="the stage"),
        pytest.param(job(hints=Hints(3, False, True)), set(), id="hints"),
        pytest.param(job(memoize=False), set(), id="whether it is kept"),
        pytest.param(job(mapper=other_mapper), {"map", "tree"}, id="the mapper"),
        pytest.param(job(reducer=largest), {"reduce"}, id="the reducer"),
        pytest.param(job(combiner=largest), {"map", "combine", "tree"}, id="the combiner"),
        pytest.param(job(combiner=None), {"map", "combine", "reduce", "tree"}, id="no combiner, so other shards"),
        pytest.param(job(leaf=2048), {"map", "tree"}, id="the size of leaves"),
        pytest.param(job(shards=16), {"map", "combine", "reduce", "tree"}, id="shards that do not follow the keys"),
        pytest.param(job(records=Csv()), {"map", "combine", "reduce", "tree"}, id="the form of records"),
        pytest.param(job(records=Lines(encoding=None)), {"map", "combine", "reduce", "tree"}, id="their encoding"),
        pytest.param(job(version="1"), {"map", "combine", "reduce", "tree"}, id="a version"),
    ],
)
def test_a_part_of_a_job_is_in_the_ids_that_it_can_change(other: incoop.Job, parts: set[str]) -> None:
    assert changed(PLAIN, identify(other)) == parts


def test_pairs_of_a_job_without_a_reducer_are_no_run() -> None:
    alone, reduced = job(reducer=None, combiner=None), job(combiner=None)
    assert set(identify(alone).map).isdisjoint(identify(reduced).map)


def test_a_version_stands_for_each_of_several_mappers() -> None:
    """Two that one function made have one name, which is all that a version has of code."""
    both = {"left": giving(1), "right": giving(2)}
    one, other = identify(job(mapper=both, version="1")).map
    assert one != other
    assert identify(job(mapper=dict(reversed(both.items())), version="1")).map == (other, one)


def test_ids_of_different_kinds_differ() -> None:
    ids = [*PLAIN.map, PLAIN.combine, PLAIN.reduce, PLAIN.reads_id]
    assert len(set(ids)) == len(ids) == 4


def test_classes_that_a_mapper_makes_count_for_those_who_get_their_objects() -> None:
    before = identify(job(mapper=tagging))
    assert changed(PLAIN, before) == {"map", "combine", "reduce", "tree"}
    shown = Tagged.shown
    try:
        Tagged.shown = lambda self: self.text.upper()  # type: ignore[method-assign]
        assert changed(before, identify(job(mapper=tagging))) == {"map", "combine", "reduce", "tree"}
    finally:
        Tagged.shown = shown  # type: ignore[method-assign]


def test_shards_that_are_named_alike_but_for_their_number_differ() -> None:
    assert changed(identify(job(shards=8)), identify(job(shards=4))) == {"map", "combine", "reduce", "tree"}
    without = identify(job(combiner=None, shards=8))
    assert changed(identify(job(shards=8)), without) == {"map", "combine", "tree"}
    # Without a combiner the default is a fixed number.
    assert identify(job(combiner=None, shards=16)) == identify(job(combiner=None))


def test_leaves_shape_nothing_without_a_combiner() -> None:
    assert identify(job(combiner=None, leaf=2048)).map == identify(job(combiner=None)).map


def test_a_version_stands_for_code_together_with_the_job() -> None:
    one = identify(job(version="1"))
    assert identify(job(version="1", mapper=giving(1))) == identify(job(version="1", mapper=giving(2)))
    assert identify(job(mapper=giving(1))) != identify(job(mapper=giving(2)))
    assert changed(one, identify(job(version="2"))) == {"map", "combine", "reduce", "tree"}
    assert changed(one, identify(job("another name", version="1"))) == {"map", "combine", "tree"}
    assert changed(one, identify(job(version="1", stage="x"))) == {"map", "combine", "tree"}


def test_each_mapper_has_an_id_of_its_own() -> None:
    both = identify(job(mapper={"a": mapper, "b": other_mapper}))
    assert both.map[0] == PLAIN.map[0] and both.map[1] == identify(job(mapper=other_mapper)).map[0]
    edited = identify(job(mapper={"a": mapper, "b": mapper}))
    assert edited.map == (PLAIN.map[0],) * 2 and edited.tree != both.tree


def test_files_that_are_named_count_by_content(tmp_path: Path) -> None:
    path = tmp_path / "stop words"
    path.write_text("a")
    before = identify(job(depends_on=[path]))
    path.write_text("b")
    assert changed(before, identify(job(depends_on=[path]))) == {"map", "combine", "reduce", "tree"}
    path.write_text("a")
    assert identify(job(depends_on=[str(path)])) == before


def test_parts_name_every_function() -> None:
    named = identify(job(combiner=largest)).parts
    for function in ("mapper", "total", "largest"):
        assert any(name.endswith(f":{function}") for name in named), function
    assert all(bytes.fromhex(digest) for digest in named.values())


def test_what_may_not_follow_from_the_input_is_said_once() -> None:
    assert PLAIN.impurities == []
    said = identify(job(reducer=timed, combiner=timed)).impurities
    assert len(said) == 1 and "time" in said[0]
    assert len(identify(job(reducer=drawn, combiner=timed)).impurities) > 1
    assert identify(job(reducer=timed, version="1")).impurities == []


def test_what_functions_read_is_in_the_ids_of_their_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def reading(step: str) -> KnownReads:
        reads = KnownReads()
        reads.recall([(step, "variable", "INCOOP_TEST_READ")])
        reads.look()
        return reads

    assert PLAIN.within(KnownReads()) is PLAIN
    monkeypatch.setenv("INCOOP_TEST_READ", "1")
    mapped, contracted = PLAIN.within(reading(MAP)), PLAIN.within(reading(CONTRACT))
    assert mapped.map != PLAIN.map and contracted.map == tuple(PLAIN.within(reading("none")).map)
    assert len({mapped.map, contracted.map, PLAIN.map}) == 3
    assert len({mapped.combine, contracted.combine}) == 2 and len({mapped.reduce, contracted.reduce}) == 2
    assert len({PLAIN.tree, mapped.tree, contracted.tree}) == 3
    assert set(mapped.parts) - set(PLAIN.parts) == {str(read) for read in reading(MAP).names()}
    assert mapped.parts | PLAIN.parts == mapped.parts
    monkeypatch.setenv("INCOOP_TEST_READ", "2")
    again = PLAIN.within(reading(MAP))
    assert changed(mapped, again) == {"map", "tree"} and mapped.reads_id != again.reads_id
    assert changed(contracted, PLAIN.within(reading(CONTRACT))) == {"combine", "reduce", "tree"}


def test_functions_are_those_of_the_job_in_its_order() -> None:
    functions = functions_of(job(mapper={"a": mapper, "b": other_mapper}, combiner=largest))
    assert functions.mappers == (mapper, other_mapper)
    assert (functions.combiner, functions.reducer, functions.records) == (largest, total, Lines())
    assert not functions.start_programs and functions_of(job(hints=Hints(nearby=1))).start_programs


def test_steps_go_by_the_names_that_records_hold() -> None:
    assert (MAP, CONTRACT) == ("map", "contract")


def test_what_is_only_told_does_not_count() -> None:
    assert replace(PLAIN, parts={}, impurities=["reads a clock"]) == PLAIN


def test_a_job_without_functions_has_an_id_for_each_mapper_all_the_same() -> None:
    for without in (job(combiner=None), job(combiner=None, reducer=None)):
        identity = identify(without)
        assert len(identity.map) == 1
        assert identity.map != identify(replace(without, mapper=other_mapper)).map
    assert identify(job(combiner=None)).reduce != identify(job(combiner=None, reducer=None)).reduce


def test_parts_of_a_version_are_that_and_no_code() -> None:
    kinds = {part.partition(" ")[0] for part in identify(job(version="1")).parts}
    assert kinds == {"python", "version"}


def test_what_modules_are_imported_by_name_nobody_knows_so_all_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)

    def loaded(body: str, value: int) -> Any:
        (tmp_path / "a_helper.py").write_text(f"VALUE = {value}\n")
        (tmp_path / "a_home.py").write_text(f"import importlib\nimport a_helper\n{body}")
        importlib.invalidate_caches()
        for name in ("a_home", "a_helper"):
            sys.modules.pop(name, None)
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        return importlib.import_module("a_home").mapper

    by_name = "def mapper(_, line):\n    yield importlib.import_module(line), 1\n"
    plainly = "def mapper(_, line):\n    yield line, 1\n"
    ids = [identify(job(mapper=loaded(by_name, value))) for value in (1, 2, 1)]
    assert changed(ids[0], ids[1]) == {"map", "combine", "reduce", "tree"}
    assert ids[0] == ids[2]
    assert identify(job(mapper=loaded(plainly, 1))) == identify(job(mapper=loaded(plainly, 2)))
    versions = [identify(job(mapper=loaded(by_name, value), version="1")) for value in (1, 2)]
    assert versions[0] == versions[1]
    for name in ("a_home", "a_helper"):
        sys.modules.pop(name, None)
