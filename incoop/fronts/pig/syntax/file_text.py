"""A file's text, as far as a script can be long: what is named may be a device, which has no end."""

from __future__ import annotations

import errno
import io
from pathlib import Path

#: Characters of a script, of a file of parameters, or of a text with its parameters replaced: a hundred times the
#: longest that anybody runs.
LONGEST_TEXT = 16 << 20


def read_text(path: Path) -> str:
    """The text. Raises OSError, or UnicodeDecodeError."""
    try:
        file = path.open("rb")
    except ValueError:
        raise OSError(errno.EINVAL, "its name holds a NUL", str(path)) from None
    with file:
        data = file.read(LONGEST_TEXT + 1)
    if len(data) > LONGEST_TEXT:
        raise OSError(errno.EFBIG, f"it is longer than {LONGEST_TEXT:,} bytes, as no script is", str(path))
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig").read()
