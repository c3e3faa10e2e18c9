"""Files that describe one task each: where a job's output shows how mrjob would have cut it into tasks.

Contract: the first line is a header in JSON, the rest the lines that the task reads. A file's content is all that the
task depends on, so that one which did not change need not run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from incoop.fronts.mrjob.lines import split_lines


def task_file(header: Mapping[str, Any], lines: bytes = b"") -> bytes:
    """The content of a file that describes one task: variables, a raw input file, lines to read."""
    return json.dumps(header, sort_keys=True).encode() + b"\n" + lines


def read_task(records: Sequence[bytes]) -> tuple[list[bytes], dict[str, str], list[str]]:
    """Lines, variables and arguments of the task that a file describes, given as its only record."""
    header, _, lines = records[0].partition(b"\n")
    told = json.loads(header)
    return split_lines(lines), told.get("variables", {}), told.get("arguments", [])


def write_tasks(folder: Path, contents: Iterable[bytes]) -> list[str]:
    """Task files, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, content in enumerate(contents):
        path = folder / f"task-{number:05d}"
        path.write_bytes(content)
        paths.append(str(path))
    return paths


def raw_tasks(folder: Path, paths: Sequence[str], digests: Mapping[str, str]) -> list[str]:
    """Task files for `mapper_raw`: one a file, which it is given by its name; its content counts, too."""
    return write_tasks(folder, (task_file({"arguments": [path, path], "content": digests[path]}) for path in paths))
