"""Side by side with what people use instead: a folder of text files, from scratch, and after one record was inserted.

PySpark, DataFrames and DuckDB know nothing of earlier runs, so an update costs them what the first run does. Pathway
stays in memory between the two, as it is meant to; incoop is asked again as at first.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from bench import changes
from bench.apps.app import App
from bench.paper.laboratory import Laboratory, WrongAnswer, sampled
from bench.paper.results import Sample
from bench.runners.base import Runner, installed
from bench.runners.duck import DuckDb
from bench.runners.frames import DataFrames
from bench.runners.watching import Pathway

FILES = 8
REMEDY = "pip install 'incoop[bench]'"


def measure(lab: Laboratory, app: App) -> tuple[list[Sample], list[str]]:
    """All tools by turns on the same folder; every answer is compared with plain PySpark's."""
    folder = lab.folder / "files"
    given = lab.input(app, lab.size.others)
    tools: list[Runner] = [lab.plain, DataFrames(lab.spark)]
    notes = []
    if installed("duckdb"):
        tools.append(DuckDb())
    else:
        notes.append(f"DuckDB was left out: it is not installed ({REMEDY}).")
    if app.name == "words" and not installed("pathway"):
        notes.append(f"Pathway was left out: it is not installed ({REMEDY}).")
    samples: list[Sample] = []
    try:
        _fill(folder, given.base)
        expected = lab.plain.answer(app, folder)
        for tool in tools:
            if tool.answer(app, folder) != expected:
                raise WrongAnswer(f"{app.name}: {tool.title} gives another answer than PySpark.")
        for round_ in range(lab.rounds):
            for tool in tools:
                lab.say(f"{app.name}: {tool.title}, round {round_ + 1} of {lab.rounds}")
                samples.append(sampled(tool.name, round_, tool.run(app, folder), given=len(given.base)))
            samples += _incoop(lab, app, folder, given.base, round_)
            if app.name == "words" and installed("pathway"):
                samples += _pathway(lab, app, folder, given.base, round_)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return samples, notes


def _fill(folder: Path, content: bytes) -> None:
    """The content as files of about equal size."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    begin = 0
    for number in range(FILES):
        end = content.index(b"\n", len(content) * (number + 1) // FILES - 1) + 1
        (folder / f"part-{number:02}.txt").write_bytes(content[begin:end])
        begin = end


def _edit(folder: Path, seed: int) -> None:
    path = folder / "part-03.txt"
    path.write_bytes(changes.insert_record(path.read_bytes(), seed))


def _incoop(lab: Laboratory, app: App, folder: Path, content: bytes, round_: int) -> list[Sample]:
    _fill(folder, content)
    lab.say(f"{app.name}: incoop, round {round_ + 1} of {lab.rounds}")
    with lab.memoized() as inc:
        first = sampled("incoop first", round_, inc.run(app, folder), given=len(content))
        _edit(folder, round_)
        update = sampled("incoop update", round_, inc.run(app, folder), given=len(content))
        if round_ == 0 and inc.last_answer(app) != lab.plain.answer(app, folder):
            raise WrongAnswer(f"{app.name}: incoop's update of a folder gives another answer than PySpark.")
    _fill(folder, content)
    return [first, update]


def _pathway(lab: Laboratory, app: App, folder: Path, content: bytes, round_: int) -> list[Sample]:
    lab.say(f"{app.name}: Pathway, round {round_ + 1} of {lab.rounds}")
    before = lab.plain.answer(app, folder)
    _edit(folder, round_)
    after = lab.plain.answer(app, folder)
    _fill(folder, content)
    assert isinstance(before, tuple) and isinstance(after, tuple)
    with Pathway() as pathway:
        pathway.start(folder)
        first = pathway.until(before)
        _edit(folder, round_)
        update = pathway.until(after)
    _fill(folder, content)
    size = len(content)
    return [
        Sample("pathway first", round_, first, input_bytes=size),
        Sample("pathway update", round_, update, input_bytes=size),
    ]
