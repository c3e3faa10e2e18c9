"""What the path of a LOAD stands for when it is read.

Contract: of the choices in braces those that exist are taken, one at least for each path of a list. What is not there
is an error at the statement, with the nearest name beside it.
"""

from __future__ import annotations

from difflib import get_close_matches
from glob import has_magic
from pathlib import Path

from incoop.fronts.pig.errors import MissingInput, TextOf, line_at
from incoop.fronts.pig.named_paths import choices_of, existing, parts_of
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
        own = [path for choice in choices_of(part) for path in existing(choice, loaded.folder)]
        if not own:
            raise _missing(part, loaded, text_of)
        found += [each for each in own if not _is_empty_folder(Path(each))]
    return list(dict.fromkeys(found))


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
