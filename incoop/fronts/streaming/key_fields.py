"""Parts of keys: the `-k` options of Hadoop's KeyFieldBasedPartitioner and KeyFieldBasedComparator.

Contract: an option is read and a part is cut as Hadoop does it: fields and characters count from 1, `-k2` reaches to
the key's end, `-k2,2` to the field's. Numbers compare as decimals, and what is no number counts as 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from incoop.base.errors import BadCall

_POSITIONS = re.compile(r"(\d+)(?:\.(\d+))?([nr]*)(?:,(\d+)(?:\.(\d+))?([nr]*))?")
_NUMBER = re.compile(rb"-?\d*(?:\.\d*)?")

#: Of a key that has no such field, which comes before all that have it.
_MISSING = (False,)


@dataclass(frozen=True, slots=True)
class KeyField:
    """One `-k` of an option."""

    first_field: int = 1
    first_character: int = 1
    #: 0: to the end of the key.
    last_field: int = 0
    #: 0: to the end of the field.
    last_character: int = 0
    numeric: bool = False
    reverse: bool = False

    def cut(self, key: bytes, separator: bytes) -> bytes | None:
        """This part of a key; None when the key ends before it begins.

        Example:
            >>> KeyField(2, last_field=3).cut(b"a.bc.d.e", b".")
            b'bc.d'
        """
        fields = key.split(separator)
        if len(fields) < self.first_field:
            return None
        width = len(separator)
        begin = sum(len(field) + width for field in fields[: self.first_field - 1]) + self.first_character - 1
        if begin >= len(key):
            return None
        end = len(key)
        if 0 < self.last_field <= len(fields):
            before = sum(len(field) + width for field in fields[: self.last_field - 1])
            end = min(end, before + (self.last_character or len(fields[self.last_field - 1])))
        return key[begin:end]

    def rank(self, separator: bytes) -> Callable[[bytes], tuple[Any, ...]]:
        """What to sort keys by for this part, in ascending order."""

        def ranked(key: bytes) -> tuple[Any, ...]:
            part = self.cut(key, separator)
            if part is None:
                return _MISSING
            return True, number_of(part) if self.numeric else part

        return ranked


def number_of(text: bytes) -> Decimal:
    """The number that a text begins with; 0 where there is none.

    Example:
        >>> number_of(b"-2.50 EUR"), number_of(b"many")
        (Decimal('-2.50'), Decimal('0'))
    """
    found = _NUMBER.match(text)
    digits = found.group().decode() if found else ""
    return Decimal(digits) if any(each.isdigit() for each in digits) else Decimal(0)


def parse_fields(option: str) -> tuple[KeyField, ...]:
    """The parts that an option such as `-k1,2 -k3nr` names; without -k, the whole key, ordered as -n and -r say.

    Example:
        >>> parse_fields("-k2,2nr")
        (KeyField(first_field=2, first_character=1, last_field=2, last_character=0, numeric=True, reverse=True),)
    """
    fields: list[KeyField] = []
    everywhere = KeyField()
    words = iter(option.split())
    for word in words:
        if word in ("-n", "-r", "-nr", "-rn"):
            everywhere = replace(
                everywhere, numeric=everywhere.numeric or "n" in word, reverse=everywhere.reverse or "r" in word
            )
        elif word.startswith("-k"):
            fields.append(_field(word[2:] or next(words, ""), option))
        else:
            raise _not_understood(option)
    if not fields:
        return (everywhere,) if option.split() else ()
    return tuple(
        field
        if field.numeric or field.reverse
        else replace(field, numeric=everywhere.numeric, reverse=everywhere.reverse)
        for field in fields
    )


def _field(text: str, option: str) -> KeyField:
    found = _POSITIONS.fullmatch(text)
    if found is None:
        raise _not_understood(option)
    first, first_character, flags, last, last_character, last_flags = found.groups()
    flags += last_flags or ""
    field = KeyField(
        int(first), int(first_character or 1), int(last or 0), int(last_character or 0), "n" in flags, "r" in flags
    )
    if field.first_field < 1 or field.first_character < 1:
        raise _not_understood(option)
    return field


def _not_understood(option: str) -> BadCall:
    return BadCall(f"key fields {option!r} are not understood; they are written as in -k1,2 or -k2,2nr or -k1.3,1.5.")
