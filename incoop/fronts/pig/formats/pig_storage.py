"""PigStorage's arguments: what separates fields, and its options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from incoop.query.errors import BadPlan, Position

#: What a loader puts before each row: the name of the file, or its path.
SourceTag = Literal["file", "path"]
#: Whether a schema beside the data is looked for: not, where there is one, or it has to be there.
SchemaBeside = Literal["no", "may", "must"]
_OPTIONS = {"-schema", "-noschema", "-tagFile", "-tagPath", "-tagsource", "--overwrite", "-overwrite"}


@dataclass(frozen=True, slots=True)
class StorageOptions:
    """What a script says of a PigStorage."""

    delimiter: str = "\t"
    tag: SourceTag | None = None
    #: `-schema`: a STORE keeps the schema beside the data, a LOAD finds it there.
    schema: bool = False
    noschema: bool = False

    @property
    def beside(self) -> SchemaBeside:
        """Of a LOAD."""
        return "no" if self.noschema else "must" if self.schema else "may"


def storage_options(arguments: Sequence[str], position: Position | None = None) -> StorageOptions:
    """The options that arguments say."""
    if len(arguments) > 2:
        raise BadPlan("PigStorage takes a delimiter and options: PigStorage(',', '-schema').", position)
    given = (*arguments, "\t", "")[:2] if not arguments else (*arguments, "")[:2]
    words = given[1].split()
    for word in words:
        if word not in _OPTIONS and words[words.index(word) - 1] not in ("--overwrite", "-overwrite"):
            raise BadPlan(f"PigStorage has no option {word!r}; there are {', '.join(sorted(_OPTIONS))}.", position)
    tag: SourceTag | None = "path" if "-tagPath" in words else None
    if "-tagFile" in words or "-tagsource" in words:
        tag = "file"
    return StorageOptions(delimiter_of(given[0], position), tag, "-schema" in words, "-noschema" in words)


def delimiter_of(written: str, position: Position | None = None) -> str:
    r"""One sign: itself, or by its number, which stands behind `\x` in base 16 and, as Pig has it, behind `\u` in base
    10.

    Example:
        >>> delimiter_of(","), delimiter_of("\\t"), delimiter_of("\\x01"), delimiter_of("\\u0009")
        (',', '\t', '\x01', '\t')
    """
    found = written
    if len(written) > 1 and written.startswith("\\"):
        try:
            if written[1] in "xu":
                found = chr(int(written[2:], 16 if written[1] == "x" else 10))
            elif len(written) == 2:
                found = {"t": "\t", "n": "\n", "\\": "\\"}.get(written[1], written)
        except (ValueError, OverflowError):
            pass
    if len(found.encode("utf-8", "replace")) != 1 or found in "\r\n":
        raise BadPlan(
            f"{written!r} cannot stand between fields: that is one ASCII character that ends no line, as ',' or '\\t'. "
            "A longer one: LOAD … USING TextLoader() AS (line: chararray), then STRSPLIT(line, '…').",
            position,
        )
    return found
