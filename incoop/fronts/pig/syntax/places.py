"""Where something stands in a script, also after parameters were replaced and macros expanded.

Contract: a `PlacedText` is what is parsed; each of its characters has a place in a file as it was written. What came of
a parameter stands where the parameter stands. What came of a macro stands in the macro, and says where that was called.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class MacroCallSite:
    """The call that a macro was expanded for."""

    macro: str
    place: ScriptPlace


@dataclass(frozen=True, slots=True)
class ScriptPlace:
    """A place in a file as it was written; lines and columns count from 1."""

    file: str
    line: int
    column: int
    #: For what stands in a macro: the call. Its own place names the next one, where that is in a macro, too.
    called: MacroCallSite | None = None

    def __str__(self) -> str:
        said = f"{self.file}:{self.line}:{self.column}"
        if self.called is not None:
            said += f" (in macro {self.called.macro}, called at {self.called.place})"
        return said


#: The place of a node that was made by a program, not read.
NOWHERE = ScriptPlace("", 0, 0)


@dataclass(frozen=True)
class SourceFile:
    """A script or a file of macros, as it was written."""

    name: str
    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        starts, at = [0], self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts

    def place(self, offset: int, called: MacroCallSite | None = None) -> ScriptPlace:
        line = bisect_right(self.line_starts, offset)
        return ScriptPlace(self.name, line, offset - self.line_starts[line - 1] + 1, called)

    def line_text(self, line: int) -> str:
        begin = self.line_starts[line - 1]
        end = self.text.find("\n", begin)
        return self.text[begin : end if end >= 0 else None].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of a file: a whole script, or the body of a macro."""

    source: SourceFile
    start: int
    end: int

    @classmethod
    def whole(cls, source: SourceFile) -> Excerpt:
        return cls(source, 0, len(source.text))


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Consecutive characters of a placed text that came of one place."""

    start: int
    #: Where the first of them stands in the file.
    origin: int
    #: The parameter whose value they are: all of them then stand where it does.
    parameter: str | None = None


@dataclass(frozen=True)
class PlacedText:
    """A text to parse, and where its characters come from."""

    text: str
    source: SourceFile
    pieces: tuple[TextPiece, ...]
    called: MacroCallSite | None = None
    #: Bodies of macros that the text defines; in the text each is a marker with its number.
    bodies: tuple[Excerpt, ...] = field(default=())

    @cached_property
    def _starts(self) -> list[int]:
        return [piece.start for piece in self.pieces]

    def piece(self, offset: int) -> TextPiece:
        return self.pieces[max(bisect_right(self._starts, offset) - 1, 0)]

    def place(self, offset: int) -> ScriptPlace:
        piece = self.piece(offset)
        within = 0 if piece.parameter is not None else offset - piece.start
        return self.source.place(piece.origin + within, self.called)
