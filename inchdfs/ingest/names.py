"""What a log is called when it is rotated. A hint for what content cannot tell, never the proof.

Content cannot tell a copy that is being made from a second log that so far has the same first lines. Names can: the
copy is called like the log, with a number or a date.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from incoop.inchdfs.files.sources import COMPRESSED

_DATE = r"\d{4}-?\d\d[-_T.:\d]{0,30}"

#: `.1`, `-20240131`, `.2024-01-31.2`, `.old` at the end. A number has a dot before it: `web-1` and `web-2` are two.
_AT_THE_END = re.compile(rf"(?:\.\d{{1,4}}|[-._]{_DATE}|[-._](?:old|bak|prev)|~)$")

#: `-20240131` before the last ending, as in access-20240131.log.
_BEFORE_THE_ENDING = re.compile(rf"[-._]{_DATE}(?=\.[A-Za-z]\w*$)")


def live_name(path: str) -> str:
    """The name of the log that a file is, or was before it was rotated.

    Example:
        >>> [live_name(name) for name in ("a.log", "a.log.2.gz", "a.log-20240131", "a-2024-01-31.log", "web-1")]
        ['a.log', 'a.log', 'a.log', 'a.log', 'web-1']
    """
    name = PurePath(path).name
    if name.endswith(COMPRESSED):
        name = name.rpartition(".")[0]
    while (shorter := _AT_THE_END.sub("", name)) != name and shorter:
        name = shorter
    return _BEFORE_THE_ENDING.sub("", name)


def is_rotated(path: str) -> bool:
    """Whether a file has the name of a log that nobody writes to any more, or not for long."""
    return live_name(path) != PurePath(path).name


def may_be_copy(path: str, of: str) -> bool:
    """Whether a file is called as a copy of a log would be that is made when it is rotated.

    Example:
        >>> may_be_copy("a.log.1", of="a.log"), may_be_copy("b.log", of="a.log"), may_be_copy("a.log", of="a.log.1")
        (True, False, False)
    """
    return is_rotated(path) and live_name(path) == live_name(of) and PurePath(path).name != PurePath(of).name
