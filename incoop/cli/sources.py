"""Files that arguments name, standard input among them."""

from __future__ import annotations

from contextlib import ExitStack

from incoop import inchdfs
from incoop.base.errors import BadCall
from incoop.inchdfs.files.sources import InputFile
from incoop.inchdfs.store.spool import spooled


def named_files(
    sources: tuple[str, ...], stack: ExitStack, datasets: inchdfs.DatasetStore | None = None
) -> list[InputFile]:
    """The files that the arguments name; `-` is standard input, kept in a temporary file."""
    if "-" not in sources:
        return inchdfs.expand(sources)
    if len(sources) > 1:
        raise BadCall("standard input (-) cannot be mixed with other sources.")
    if datasets is None:
        return [stack.enter_context(spooled())]
    stack.enter_context(datasets.writing())
    return [stack.enter_context(spooled(datasets.temporary))]
