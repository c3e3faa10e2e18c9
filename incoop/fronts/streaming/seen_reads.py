"""What programs were seen to read: files by names that no text spells out.

Contract: results of a program are found again while every file that it was seen to read, in any run that stored results
under the same id, has the content that it had. What is seen is noted at once by the program's own Python (`watching/`),
so that a run that is killed leaves its notes.

    <store>/streaming-reads/<program>/<state>/    one folder for each state of the files in which the program ran
        files.json                                name -> digest then; one that was not there has one, too
        *.reads                                   notes that are not in files.json yet

A state whose files are no longer as they were is not used; the program then runs under a new state's id.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple
from pathlib import Path

from incoop.base.atomic import write_atomically
from incoop.base.content_ids import content_id
from incoop.base.file_stamps import Stamp
from incoop.code.reads import FILE, FOLDER, Read, digest_of

#: The state in which nothing was seen yet.
FIRST = "first"

#: A digest that none is equal to: the file changed while the program ran.
_MOVED = "moved"

_FOLDER = "dir:"

#: Behind the stamp of a temporary file that is younger than the program that reads it.
_YOUNG = " young"

#: How the notes spell what ends a name or a line.
_QUOTED = {"n": "\n", "t": "\t"}

#: Put first on the path of a program's Python.
WATCHING = Path(__file__).parent / "watching"


def state_for(folder: Path) -> Path:
    """The folder of the state in which a program's files are now; made if there was none."""
    with _alone(folder):
        states = sorted(path for path in folder.iterdir() if path.is_dir())
        known = {state: _consolidated(state) for state in states}
        for state, files in known.items():
            if all(_digest(name) == digest for name, digest in files.items()):
                return state
        seen = sorted({name for files in known.values() for name in files})
        now = json.dumps([(name, _digest(name)) for name in seen] + [len(states)])
        state = folder / (content_id(now.encode()).hex() if states else FIRST)
        state.mkdir()
        return state


def observed(states: Iterable[Path]) -> set[str]:
    """All files that programs were seen to read in these states; a folder whose list was read begins with `dir:`."""
    found: set[str] = set()
    for state in states:
        with _alone(state.parent):
            found |= _consolidated(state).keys()
    return found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _consolidated(state: Path) -> dict[str, str]:
    """The files of a state, notes taken in."""
    path = state / "files.json"
    files: dict[str, str] = {}
    with suppress(FileNotFoundError):
        files = json.loads(path.read_text())
    notes = sorted(state.glob("*.reads"))
    for note in notes:
        for line in os.fsdecode(note.read_bytes()).split("\n")[:-1]:  # one that is cut short was not read yet
            quoted, _, stamp = line.rpartition("\t")
            name = re.sub(r"\\(.)", lambda match: _QUOTED.get(match[1], match[1]), quoted)
            if stamp.endswith(_YOUNG) and not Path(name).exists():
                continue  # a temporary file of the program's own
            stamp = stamp.removesuffix(_YOUNG)
            digest = _digest(name) if _stamp(name) == stamp else _MOVED
            files[name] = digest if files.get(name, digest) == digest else _MOVED
    if notes:
        write_atomically(path, [json.dumps(files).encode()], durable=False)
        for note in notes:
            note.unlink()
    return files


def _stamp(name: str) -> str:
    try:
        return " ".join(map(str, astuple(Stamp.of(Path(name.removeprefix(_FOLDER))))))
    except OSError:
        return ""


def _digest(name: str) -> str:
    if name.startswith(_FOLDER):
        return digest_of(Read(FOLDER, name.removeprefix(_FOLDER))).hex()
    return digest_of(Read(FILE, name)).hex()
