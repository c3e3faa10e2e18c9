"""What the path of a LOAD stands for: lists with commas, `{a,b}`, `*`, `?`, `[ab]`, `[^a]`, `[!a]`.

Contract: of the choices in braces those that exist are taken, one at least for each path of a list. What is not there
is an error at the statement, with the nearest name beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path

from incoop.base.paths import local_path
from incoop.fronts.pig.errors import MissingInput, TextOf, line_at
from incoop.fronts.pig.translation.scope import LoadedPath

#: A stored dataset.
_DATASET = "inchdfs:/"


def inputs_of(loaded: LoadedPath, text_of: TextOf) -> list[str]:
    """Paths that exist, but for folders without files; and stored datasets, which are not looked at."""
    found: list[str] = []
    for part in parts_of(loaded.path) or [loaded.path]:
        if part.startswith(_DATASET):
            found.append(part)
            continue
        own = [path for choice in choices_of(part) for path in _existing(choice, loaded.folder)]
        if not own:
            raise _missing(part, loaded, text_of)
        found += [each for each in own if not _is_empty_folder(Path(each))]
    return list(dict.fromkeys(found))


def parts_of(path: str) -> list[str]:
    """The paths of a list, cut at commas that are not in braces.

    Example:
        >>> parts_of("a,b{1,2},c")
        ['a', 'b{1,2}', 'c']
    """
    parts, depth = [""], 0
    for sign in path:
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def choices_of(path: str) -> Iterator[str]:
    """The paths that braces stand for.

    Example:
        >>> list(choices_of("in{,null}/{a,b}"))
        ['in/a', 'in/b', 'innull/a', 'innull/b']
    """
    found = re.search(r"\{([^{}]*)\}", path)
    if found is None:
        yield path
        return
    for choice in found[1].split(","):
        yield from choices_of(path[: found.start()] + choice + path[found.end() :])


def _existing(path: str, folder: Path) -> list[str]:
    if not path.strip(", "):
        return []
    whole = str(folder / local_path(path))
    if Path(whole).exists():
        return [whole]
    if not has_magic(whole):
        return []
    return [each for each in sorted(glob(whole.replace("[^", "[!"))) if not Path(each).name.startswith(("_", "."))]


def _is_empty_folder(path: Path) -> bool:
    """Whether a folder has no file, as one that nothing was stored into."""
    return path.is_dir() and all(each.name.startswith(("_", ".")) for each in path.iterdir())


def _missing(part: str, loaded: LoadedPath, text_of: TextOf) -> MissingInput:
    place = loaded.position.place
    beside = (loaded.folder / part).parent
    names = [each.name for each in beside.iterdir()] if not has_magic(str(beside)) and beside.is_dir() else []
    close = get_close_matches(Path(part).name, names, n=1)
    meant = f" Did you mean {Path(part).with_name(close[0])}?" if close else ""
    return MissingInput(
        f"there is nothing to load at {part}", place, line_at(place, text_of), remedy=f"Nothing was run.{meant}"
    )
