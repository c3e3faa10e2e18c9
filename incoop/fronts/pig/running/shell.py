"""`fs`, `sh`, and the commands that go without either: rm, rmf, cat, ls, mkdir, cp, mv and their kin.

Contract: files are those of this machine, relative to the script's folder. What a command prints goes to `say`. A
command that fails ends the script, as in Pig, but for `rmf` of what is not there.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from glob import glob
from pathlib import Path

from incoop.base.paths import local_path
from incoop.fronts.pig.errors import ScriptCommandFailed, TextOf, line_at
from incoop.fronts.pig.running.steps import ShellStep

Say = Callable[[str], None]
#: What `fs -name` is as a command of its own.
_FS = {
    **{"-rm": "rm", "-rmr": "rm", "-rmf": "rmf", "-ls": "ls", "-lsr": "ls", "-cat": "cat", "-text": "cat"},
    **{"-mkdir": "mkdir", "-cp": "cp", "-mv": "mv", "-put": "copyFromLocal", "-get": "copyToLocal"},
    **{"-copyFromLocal": "copyFromLocal", "-copyToLocal": "copyToLocal", "-moveFromLocal": "mv", "-moveToLocal": "mv"},
    **{"-touchz": "touch", "-test": "test", "-getmerge": "getmerge", "-chmod": "nothing", "-chown": "nothing"},
    **{"-setrep": "nothing", "-expunge": "nothing", "-chgrp": "nothing", "-touch": "touch"},
}


def run_shell(step: ShellStep, say: Say, text_of: TextOf) -> None:
    """Do what a command says."""
    command, words = step.command, list(step.words)
    if command == "sh":
        _sh(step, say, text_of)
        return
    if command == "fs":
        name = words.pop(0)
        if name not in _FS:
            raise _failed(step, f"fs {name} is not known here", text_of, f"There are {', '.join(_FS)}.")
        command = _FS[name]
    flags = [word for word in words if word.startswith("-") and len(word) > 1]
    paths = [_inside(step.folder, word) for word in words if word not in flags]
    forced = command == "rmf" or any("f" in flag for flag in flags)
    try:
        for line in _done(command, paths, forced, flags):
            say(line)
    except (OSError, shutil.Error) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise _failed(step, f"{command}: {getattr(error, 'filename', None) or ''} {said}", text_of) from error


def _inside(folder: Path, word: str) -> Path:
    return folder / local_path(word)


def _done(command: str, paths: list[Path], forced: bool, flags: list[str]) -> Iterator[str]:
    match command:
        case "rm" | "rmf":
            for path in _matching(paths, forced):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=forced)
        case "cat":
            for path in _matching(paths, False):
                for file in _files(path):
                    yield from file.read_text(encoding="utf-8", errors="replace").splitlines()
        case "ls":
            for path in _matching(paths or [Path()], False):
                yield from map(str, sorted(path.iterdir()) if path.is_dir() else [path])
        case "pwd":
            yield str(Path.cwd())
        case "mkdir":
            for path in paths:
                path.mkdir(parents=True, exist_ok="-p" in flags)
        case "cp" | "copyFromLocal" | "copyToLocal":
            *sources, target = paths
            for path in _matching(sources, False):
                into = target / path.name if target.is_dir() else target
                shutil.copytree(path, into) if path.is_dir() else shutil.copy2(path, into)
        case "mv":
            *sources, target = paths
            for path in _matching(sources, False):
                shutil.move(path, target)
        case "touch":
            for path in paths:
                path.touch()
        case "test":
            if not all(path.exists() for path in paths):
                raise FileNotFoundError(2, "there is no such file or folder", str(paths[0]))
        case "getmerge":
            *sources, target = paths
            target.write_bytes(b"".join(file.read_bytes() for path in sources for file in _files(path)))


def _matching(paths: list[Path], forced: bool) -> Iterator[Path]:
    for path in paths:
        found = [path] if path.exists() or path.is_symlink() else [Path(each) for each in sorted(glob(str(path)))]
        if not found and not forced:
            raise FileNotFoundError(2, "there is no such file or folder", str(path))
        yield from found


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return [each for each in sorted(path.iterdir()) if each.is_file() and not each.name.startswith(("_", "."))]


def _sh(step: ShellStep, say: Say, text_of: TextOf) -> None:
    """A command by bash. A word with blanks in it was quoted, and is again."""
    line = " ".join(shlex.quote(word) if any(map(str.isspace, word)) else word for word in step.words)
    done = subprocess.run(["bash", "-c", line], cwd=step.folder, capture_output=True, check=False)
    for each in done.stdout.decode(errors="replace").splitlines():
        say(each)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-500:]
        raise _failed(step, f"sh {line} failed with exit code {done.returncode}", text_of, said)


def _failed(step: ShellStep, problem: str, text_of: TextOf, remedy: str = "") -> ScriptCommandFailed:
    place = step.statement.place
    return ScriptCommandFailed(problem, place, line_at(place, text_of), remedy=remedy or "What was stored is kept.")
