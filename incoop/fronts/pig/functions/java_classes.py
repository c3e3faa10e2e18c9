"""Classes of signs in regular expressions of Java, as Python writes them: what their names mean, and what is in
brackets.

Contract: members are written as they stand between the brackets of a class of Python. Names of categories are
Unicode's, as this Python knows them; all others are ASCII, but for blanks.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable

#: Classes that Java has by name, as members of a class of Python.
_POSIX = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\\x00-\\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": "!-/:-@\\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": " \\t",
    "Cntrl": "\\x00-\\x1f\\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": " \\t\\n\\x0b\\f\\r",
}
_WORDS = {"IsAlphabetic": "L", "IsLetter": "L", "IsDigit": "Nd", "IsUppercase": "Lu", "IsLowercase": "Ll"}
_CATEGORY = re.compile(
    r"(?:Is)?(L|Lu|Ll|Lt|Lm|Lo|M|Mn|Mc|Me|N|Nd|Nl|No|P|Pc|Pd|Ps|Pe|Pi|Pf|Po|S|Sm|Sc|Sk|So|Z|Zs|Zl|Zp)"
)
HORIZONTAL = " \\t\u00a0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000"
VERTICAL = "\\n\\x0b\\f\\r\u0085\u2028\u2029"
#: No member of a class that Java has by name stands behind this.
_LAST_NAMED = 0x3000


def named_members(name: str, negated: bool) -> str | None:
    r"""Members of the class that `\\p{name}` is, or of all other signs; None where there is no such name."""
    if members := _POSIX.get(name):
        return complement_of(members) if negated else members
    category = _WORDS.get(name) or ((found := _CATEGORY.fullmatch(name)) and found[1])
    return _category(category, negated) if category else None


class ClassPart:
    """What stands between two `&&` of a class."""

    def __init__(self) -> None:
        self.members = ""
        self.nested: list[SignClass] = []

    def written(self) -> str:
        choices = [f"[{self.members}]"] if self.members else []
        choices += [each.written() for each in self.nested]
        if not choices:
            return "(?!)"
        return choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})"


class SignClass:
    """A class in brackets."""

    def __init__(self) -> None:
        self.negated = False
        self.parts = [ClassPart()]

    def written(self) -> str:
        parts = [each for each in self.parts if each.members or each.nested] or [ClassPart()]
        if self.negated and len(parts) == 1 and not parts[0].nested and parts[0].members:
            return f"[^{parts[0].members}]"
        *conditions, last = [each.written() for each in parts]
        both = "".join(f"(?={each})" for each in conditions) + last
        if self.negated:
            return f"(?:(?!{both})[\\s\\S])"
        return both if len(parts) == 1 else f"(?:{both})"


def in_class(sign: str) -> str:
    return "\\" + sign if sign in "\\]^-[&~|" else sign


def complement_of(members: str) -> str:
    """Members of a class that has all other signs."""
    has = re.compile(f"[{members}]", re.ASCII).match
    return (
        _ranges(lambda code: has(chr(code)) is None, _LAST_NAMED) + f"\\U{_LAST_NAMED + 1:08x}-\\U{sys.maxunicode:08x}"
    )


@functools.lru_cache(maxsize=64)
def _category(name: str, negated: bool) -> str:
    """Members of a class: all signs of a category of Unicode, or all others."""
    return _ranges(lambda code: unicodedata.category(chr(code)).startswith(name) is not negated)


def _ranges(belongs: Callable[[int], bool], last: int = sys.maxunicode) -> str:
    found: list[str] = []
    start: int | None = None
    for code in range(last + 2):
        there = code <= last and belongs(code)
        if there and start is None:
            start = code
        elif not there and start is not None:
            found.append(f"\\U{start:08x}-\\U{code - 1:08x}")
            start = None
    return "".join(found)
