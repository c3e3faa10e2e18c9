"""Files whose rows say which of them they are from: a branch for each file.

Contract: a file's name is part of what its branch's results are found by, and of nothing else's; a file that comes,
goes or is called otherwise changes its own rows.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from incoop.engine.inputs import SCHEME
from incoop.inchdfs.files.sources import expand
from incoop.query.errors import BadPlan
from incoop.query.execution.reading import ReadText
from incoop.query.execution.records import cut_by
from incoop.query.execution.relations import Branch, Relation
from incoop.query.execution.stages import said_hash, tag_of
from incoop.query.plan.digest import digest
from incoop.query.plan.single import Scan
from incoop.query.sources.tagged import TaggedText


def tagged_files(plan: Scan, form: TaggedText, given: Any) -> Relation:
    """The rows of a scan, file by file."""
    types, tag = plan.schema.types, tag_of(plan)
    branches = []
    for path in _files_of(given, plan):
        own = form.of_file(path)
        said = said_hash("tagged", digest(plan), own.source)
        branches.append(Branch([str(path)], ReadText(own, plan.wanted, types), said, tag, cut_by(own.form)))
    return Relation(tuple(branches), types, frozenset([tag]))


def _files_of(given: Any, plan: Scan) -> list[Path]:
    """The files that paths stand for; what has no names is refused."""
    several = [given] if isinstance(given, str | os.PathLike) else given
    paths = isinstance(several, list | tuple) and all(isinstance(one, str | os.PathLike) for one in several)
    if not paths or any(os.fspath(one).startswith(SCHEME) for one in several):
        raise BadPlan(f"{plan.name!r} is asked for the names of its files, which only files have.", plan.position)
    return [file.path for file in expand(several)]
