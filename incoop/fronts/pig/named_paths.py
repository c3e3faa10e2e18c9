"""How a script writes paths: lists with commas, `{a,b}`, `*`, `?`, `[ab]`, `[^a]`, `[!a]`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from glob import glob, has_magic
from pathlib import Path

from incoop.base.paths import local_path


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


def existing(path: str, folder: Path) -> list[str]:
    """What there is of a path or a pattern."""
    if not path.strip(", "):
        return []
    whole = str(folder / local_path(path))
    if Path(whole).exists():
        return [whole]
    if not has_magic(whole):
        return []
    return [each for each in sorted(glob(whole.replace("[^", "[!"))) if not Path(each).name.startswith(("_", "."))]
