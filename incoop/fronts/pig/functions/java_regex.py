"""Regular expressions of Java in Python: what is written alike and means something else is translated.

Contract: a pattern that is compiled here matches what Java's would, texts of code points taken for texts of UTF-16
units aside. What Python cannot say is refused with a BadPattern that says why; so is what Java would refuse, but for
some quantifiers that Python takes literally. Classes such as \\w are ASCII, as Java's.

How it goes: (1) signs outside of classes are copied, but for those that have another meaning in Python. (2) A class
is read into its members; nested ones are joined, `&&` is a look ahead before the other part. (3) Flags that stand in
the middle hold to the end of their group, alternatives included: they become groups of their own, closed and opened
again at every `|`.
"""

from __future__ import annotations

import functools
import re
import sys

from incoop.fronts.pig.functions.java_classes import (
    HORIZONTAL,
    VERTICAL,
    ClassPart,
    SignClass,
    complement_of,
    in_class,
    named_members,
)
from incoop.query.errors import QueryError

#: What `.` is not, and what may stand between `$` and the end.
_NO_END = "[^\\n\\r\\x85\\u2028\\u2029]"
_LINE_END = "(?:\r\n|[\n\r\u0085\u2028\u2029])"
_AT_END = f"(?=(?:{_LINE_END})?\\Z)"
#: What RE2 means otherwise or has not: looking around, atoms, groups by name or number, letters of any case, blanks
#: with the vertical tab, quantifiers without a beginning, characters by their number, possessive quantifiers.
_NOT_ALIKE = ("(?=", "(?!", "(?<", "(?>", "(?P", "(?i", "(?-i", "\\s", "\\S", "{,", "\\U", "++", "*+", "?+", "}+",
              *(f"(?:\\{digit}" for digit in "123456789"))  # fmt: skip
_PLAIN_ESCAPES = {"t": "\\t", "n": "\\n", "r": "\\r", "f": "\\f", "a": "\\x07", "e": "\\x1b"}


class BadPattern(QueryError):
    """A regular expression that is none, or that Python has no words for."""

    def __init__(self, pattern: str, reason: str) -> None:
        super().__init__(f"{pattern!r} cannot be taken as a regular expression: {reason}")
        self.args = (pattern, reason)
        self.pattern, self.reason = pattern, reason


@functools.lru_cache(maxsize=512)
def as_re2(pattern: str) -> str | None:
    """A pattern in the words of RE2, which pyarrow has, where all of a text matches both or neither; None where that is
    not known: what RE2 has no words for, or means otherwise (letters of any case, `\\s`, a quantifier `{,n}`).
    """
    translated = _Translation(pattern).done()
    if not translated.isascii() or any(each in translated for each in _NOT_ALIKE):
        return None
    return translated.replace(_NO_END, "[^\\n\\r\\x{85}\\x{2028}\\x{2029}]").replace("\\Z", "\\z")


@functools.lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of Java as one of Python.

    Example:
        >>> compiled(r"[a-z&&[^aeiou]]+(?i)x").fullmatch("bcdX").group()
        'bcdX'
    """
    translated = _Translation(pattern).done()
    try:
        return re.compile(translated, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        said = str(error)
        if "look-behind" in said:
            said = "what stands in a look-behind has to be of one length in Python"
        raise BadPattern(pattern, f"{said}. Mend it; a backslash before a sign takes it literally.") from None


class _Translation:
    """One pattern, from left to right."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._out: list[str] = []
        #: For each group that is open: the flags that were set in its middle, each a group of ours.
        self._flags: list[list[str]] = [[]]
        #: Whether `.` takes ends of lines, and `$` stands before them, for each open group.
        self._modes: list[tuple[bool, bool, bool]] = [(False, False, False)]
        self._groups = 0

    def done(self) -> str:
        while self._at < len(self._text):
            self._step()
        if len(self._flags) > 1:
            raise self._bad("a group is not closed")
        self._out.append(")" * len(self._flags[0]))
        return "".join(self._out)

    def _bad(self, reason: str) -> BadPattern:
        return BadPattern(self._text, f"{reason}. Mend it; a backslash before a sign takes it literally.")

    def _step(self) -> None:
        sign = self._text[self._at]
        dot_all, multiline, unix = self._modes[-1]
        match sign:
            case "\\":
                self._out.append(self._escape())
                return
            case "[":
                self._at += 1
                self._out.append(self._class().written())
                return
            case "(":
                self._open()
                return
            case ")":
                if len(self._flags) == 1:
                    raise self._bad("a group is closed that was not opened")
                self._out.append(")" * len(self._flags.pop()) + ")")
                self._modes.pop()
            case "|":
                flags = self._flags[-1]
                self._out.append(")" * len(flags) + "|" + "".join(flags))
            case ".":
                self._out.append("[\\s\\S]" if dot_all else "[^\\n]" if unix else _NO_END)
            case "$":
                if multiline:
                    self._out.append(f"(?={_LINE_END}|\\Z)" if not unix else "(?=\\n|\\Z)")
                else:
                    self._out.append(_AT_END if not unix else "(?=\\n?\\Z)")
            case "^" if multiline:
                # Java: behind an end of a line, but not at the end of the text
                self._out.append("(?:\\A|(?<=[\n\u0085\u2028\u2029])(?!\\Z)|(?<=\r)(?!\n)(?!\\Z))")
            case "^":
                self._out.append("\\A")
            case _:
                self._out.append(sign)
        self._at += 1

    def _open(self) -> None:
        """A group, of whatever kind."""
        rest = self._text[self._at :]
        if found := re.match(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])", rest):
            self._at += found.end()
            self._flag_group(found[1], found[2] or "", only=found[3] == ")")
            return
        self._flags.append([])
        self._modes.append(self._modes[-1])
        if found := re.match(r"\(\?<([a-zA-Z][a-zA-Z0-9]*)>", rest):
            self._out.append(f"(?P<{found[1]}>")
            self._groups += 1
        elif found := re.match(r"\(\?(?:=|!|<=|<!|>)", rest):
            self._out.append(found[0])
        elif rest.startswith("(?"):
            raise self._bad(f"{rest[:4]!r} begins no group of Java's")
        else:
            found = re.match(r"\(", rest)
            self._out.append("(")
            self._groups += 1
        assert found is not None
        self._at += found.end()

    def _flag_group(self, on: str, off: str, only: bool) -> None:
        if strange := set(on + off) - set("ismd"):
            flag = sorted(strange)[0]
            raise self._bad(f"the flag {flag} is not known here. Write the pattern without it")
        dot_all, multiline, unix = self._modes[-1]
        mode = (
            (dot_all or "s" in on) and "s" not in off,
            (multiline or "m" in on) and "m" not in off,
            (unix or "d" in on) and "d" not in off,
        )
        group = "(?" + ("i" if "i" in on else "") + ("-i" if "i" in off else "") + ":"
        self._out.append(group)
        if only:
            self._flags[-1].append(group)
            self._modes[-1] = mode
        else:
            self._flags.append([])
            self._modes.append(mode)

    def _escape(self) -> str:
        """A backslash and what belongs to it, outside of a class."""
        sign = self._text[self._at + 1 : self._at + 2]
        if sign == "b" and self._text.startswith("\\b{", self._at):
            raise self._bad("\\b{…} is not known here")
        simple = {"A": "\\A", "z": "\\Z", "Z": _AT_END, "b": "\\b", "B": "\\B", "R": _LINE_END}
        if sign in simple:
            self._at += 2
            return f"(?>{_LINE_END}|[\\x0b\\f])" if sign == "R" else simple[sign]
        if sign and sign in "GX":
            raise self._bad(f"\\{sign} has no counterpart in Python")
        if sign == "k":
            found = re.compile(r"\\k<([a-zA-Z][a-zA-Z0-9]*)>").match(self._text, self._at)
            if found is None:
                raise self._bad("\\k needs the name of a group")
            self._at = found.end()
            return f"(?P={found[1]})"
        if sign and sign in "123456789":
            found = re.compile(r"\\([0-9]+)").match(self._text, self._at)
            assert found is not None
            digits = found[1]
            while len(digits) > 1 and int(digits) > self._groups:  # as many digits as there are groups for
                digits = digits[:-1]
            self._at += 1 + len(digits)
            if int(digits) > self._groups:
                return "(?!)"  # a group that is not there matches nothing
            return f"(?:\\{digits})"
        members = self._class_escape()
        if members.startswith("Q"):
            return re.escape(members[1:])
        return members[1:] if members.startswith("=") else f"[{members[1:]}]"

    def _class_escape(self) -> str:
        """What an escape says in a class or outside: `=x` one sign, `[members` several, `Q…` a quoted text."""
        sign = self._text[self._at + 1 : self._at + 2]
        if not sign:
            raise self._bad("it ends with a backslash")
        self._at += 2
        if sign in _PLAIN_ESCAPES:
            return "=" + _PLAIN_ESCAPES[sign]
        if sign in "dDwWsS":
            return f"[\\{sign}"
        ranges = {"h": HORIZONTAL, "v": VERTICAL}
        if sign in ranges:
            return "[" + ranges[sign]
        if sign in "HV":
            return "[" + complement_of(ranges[sign.lower()])
        if sign in "pP":
            return "[" + self._property(sign == "P")
        if sign == "Q":
            end = self._text.find("\\E", self._at)
            quoted = self._text[self._at :] if end < 0 else self._text[self._at : end]
            self._at = len(self._text) if end < 0 else end + 2
            return "Q" + quoted
        if sign == "0":
            return self._number(r"[0-3][0-7]{2}|[0-7]{1,2}", 8)
        if sign == "x":
            return self._number(r"[0-9a-fA-F]{2}|\{[0-9a-fA-F]+\}", 16)
        if sign == "u":
            return self._number(r"[0-9a-fA-F]{4}", 16)
        if sign == "c":
            return "=" + re.escape(chr(ord(self._next()) ^ 64))
        if sign.isascii() and sign.isalnum():
            raise self._bad(f"\\{sign} says nothing in Java")
        return "=" + re.escape(sign)

    def _next(self) -> str:
        sign = self._text[self._at : self._at + 1]
        if not sign:
            raise self._bad("it ends too early")
        self._at += 1
        return sign

    def _number(self, digits: str, base: int) -> str:
        found = re.compile(digits).match(self._text, self._at)
        if found is None:
            raise self._bad("digits are missing behind a backslash")
        self._at = found.end()
        code = int(found[0].strip("{}"), base)
        if code > sys.maxunicode:
            raise self._bad("there is no such sign")
        return "=" + re.escape(chr(code))

    def _property(self, negated: bool) -> str:
        found = re.compile(r"\{\^?([A-Za-z_=]+)\}|([A-Z])").match(self._text, self._at)
        if found is None:
            raise self._bad("\\p needs a name in braces")
        self._at = found.end()
        name = found[1] or found[2]
        name = name.rpartition("=")[2] if name.startswith(("gc=", "general_category=")) else name
        members = named_members(name, negated)
        if members is None:
            raise self._bad(f"\\p{{{name}}} is not known here. Write its signs as a class, such as [à-ÿ]")
        return members

    def _class(self) -> SignClass:
        """A class behind its opening bracket, up to the closing one."""
        found = SignClass()
        if self._text.startswith("^", self._at):
            found.negated = True
            self._at += 1
        first = True
        while True:
            sign = self._text[self._at : self._at + 1]
            if not sign:
                raise self._bad("a class is not closed")
            if sign == "]" and not first:
                self._at += 1
                return found
            first = False
            if self._text.startswith("&&", self._at):
                self._at += 2
                found.parts.append(ClassPart())
            elif sign == "[":
                self._at += 1
                found.parts[-1].nested.append(self._class())
            else:
                self._member(found.parts[-1])

    def _member(self, part: ClassPart) -> None:
        """One sign, a range, or an escape that stands for several signs."""
        low = self._sign_of_class()
        if low.startswith("Q"):
            part.members += "".join(map(re.escape, low[1:]))
            return
        follows = self._text[self._at + 1 : self._at + 2]
        if (
            low.startswith("[")
            or not self._text.startswith("-", self._at)
            or follows in ("]", "[", "")
            or self._text.startswith("-&&", self._at)
        ):
            part.members += low[1:]
            return
        self._at += 1
        high = self._sign_of_class()
        if not high.startswith("="):
            raise self._bad("a range ends with several signs")
        part.members += f"{low[1:]}-{high[1:]}"

    def _sign_of_class(self) -> str:
        if self._text[self._at] == "\\":
            return self._class_escape()
        return "=" + in_class(self._next())


def java_split(text: str, pattern: str, limit: int = 0) -> list[str]:
    """What String.split gives: at most `limit` parts where that is positive; with zero, no empty ones at the end.

    Example:
        >>> java_split("a,b,,", ","), java_split("a,b,,", ",", -1), java_split(",", ","), java_split("", ",")
        (['a', 'b'], ['a', 'b', '', ''], [], [''])
    """
    parts: list[str] = []
    last, found_any = 0, False
    for found in compiled(pattern).finditer(text):
        if limit > 0 and len(parts) == limit - 1:
            break
        if found.end() == 0:  # a match of nothing at the beginning splits nothing off
            continue
        found_any = True
        parts.append(text[last : found.start()])
        last = found.end()
    if not found_any:
        return [text]
    parts.append(text[last:])
    while limit == 0 and parts and not parts[-1]:
        parts.pop()
    return parts


_REPLACEMENT = re.compile(r"\\(.)|\$\{([a-zA-Z][a-zA-Z0-9]*)\}|\$([0-9]+)|([\\$])", re.DOTALL)


def java_replace(text: str, pattern: str, new: str) -> str:
    """What String.replaceAll gives: `$1` is a group, a backslash takes a sign literally. ValueError where `new` says a
    group that there is not.

    Example:
        >>> java_replace("John Smith", r"(\\w+) (\\w+)", "$2, $1")
        'Smith, John'
    """
    rule = compiled(pattern)
    pieces = _pieces(rule, new)
    return rule.sub(
        lambda found: "".join(each if isinstance(each, str) else found[each[0]] or "" for each in pieces), text
    )


@functools.lru_cache(maxsize=512)
def _pieces(rule: re.Pattern[str], new: str) -> tuple[str | tuple[int | str], ...]:
    """Texts, and groups in their place."""
    pieces: list[str | tuple[int | str]] = []
    last = 0
    at = 0
    while (found := _REPLACEMENT.search(new, at)) is not None:
        pieces.append(new[last : found.start()])
        last = at = found.end()
        if found[1] is not None:
            pieces.append(found[1])
        elif found[2] is not None:
            if found[2] not in rule.groupindex:
                raise ValueError(f"there is no group {found[2]}")
            pieces.append((found[2],))
        elif found[3] is not None:
            digits = found[3]
            while len(digits) > 1 and int(digits) > rule.groups:
                digits = digits[:-1]
            if int(digits) > rule.groups:
                raise ValueError(f"there is no group {digits}")
            pieces.append((int(digits),))
            last = at = found.start() + 1 + len(digits)
        else:
            raise ValueError("a backslash or a dollar sign at the end")
    pieces.append(new[last:])
    return tuple(pieces)
