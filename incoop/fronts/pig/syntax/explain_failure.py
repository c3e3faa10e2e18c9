"""Why a text is no Pig Latin: what stands where something else should, what could, and what was probably meant.

Contract: pure; called once, after the parser failed. The text is parsed again step by step, to know what was possible
at the word that failed and at the one before it, where a misspelled keyword stands if it could be a name.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from incoop.fronts.pig.syntax.errors import PigSyntaxError, error_at
from incoop.fronts.pig.syntax.places import PlacedText
from incoop.fronts.pig.syntax.words import COMMANDS, called, is_keyword

#: As many words as one reads.
MOST_EXPECTED = 6

#: How alike two words must be (1 is equal) for one to be meant by the other: ITN and INT are 0.67.
_ALIKE = 0.65


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Terminals that are named as one where most of them are possible: the fewest that must be, and what they are called.
_CLASSES = (
    (_names("COMMAND"), 1, "a statement"),
    (
        _names("NAME INDEX NUMBER STRING LPAR LBRACE LSQB _CASE NULL TRUE FALSE SUM_SIGN _NOT STAR _FLATTEN"),
        9,
        "an expression",
    ),
    (
        _names(
            "DOT HASH LPAR SUM_SIGN STAR PRODUCT_SIGN COMPARISON EQ NEQ GT GTE LT LTE MATCHES _IS _IN _OR _AND _RANGE"
        ),
        5,
        "an operator",
    ),
    (
        _names("BOOLEAN INT LONG FLOAT DOUBLE DATETIME BIGINTEGER BIGDECIMAL CHARARRAY BYTEARRAY TUPLE BAG MAP"),
        9,
        "a type (int, chararray, …)",
    ),
)

#: What people write who know other languages.
_MEANT = {
    '"': "A text stands in 'single quotes'.",
    "&": "Write AND.",
    "|": "Write OR.",
    "!": "Write NOT, or != between two values.",
    "$": "Write $0 for the first field, or $name for a parameter that has a value.",
    "'": "A text ends on the line where it begins: is its closing quote missing?",
    "`": "Is the closing backtick missing?",
    "\\": "A backslash has a meaning in 'quotes' only.",
}


@dataclass
class _Step:
    """A word, and the parser as it was before it."""

    parser: Any
    token: Any


def explain_failure(parser: Any, text: PlacedText, error: Any) -> PigSyntaxError:
    """The error for a text that `parser` refused with `error`."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput

    stepwise = parser.parse_interactive(text.text)
    before: _Step | None = None
    step: _Step | None = None
    try:
        for token in stepwise.iter_parse():
            before, step = step, _Step(stepwise.copy(deepcopy_values=False), token)
        stepwise.feed_eof(step.token if step else None)
    except UnexpectedInput as again:
        error = again
    if isinstance(error, UnexpectedCharacters):
        return _strange_character(text, error.pos_in_stream or 0)
    failed = error.token
    if step is not None and step.token is failed:
        stepwise, step = step.parser, before
    possible = stepwise.accepts()
    offset = len(text.text.rstrip()) if failed.type == "$END" else failed.start_pos

    if step is not None:
        meant = _misspelled(parser, step, failed)
        if meant:
            word, at = str(step.token), step.token.start_pos
            return _error(text, f"{word} is nothing that is known here", at, (), f"Did you mean {meant}?")
    keywords = _keywords(parser, possible)
    near = _alike(str(failed).upper(), keywords) if str(failed).isidentifier() else []
    remedy = f"Did you mean {near[0]}?" if near else _remedy(text, failed, step, possible)
    expected = () if near else _expected(parser, possible)
    problem = (
        "the script ends in the middle of a statement" if failed.type == "$END" else f"unexpected {_shown(failed)}"
    )
    return _error(text, problem, offset, expected, remedy)


def _error(text: PlacedText, problem: str, offset: int, expected: tuple[str, ...], remedy: str) -> PigSyntaxError:
    piece = text.piece(offset)
    if piece.parameter is not None:
        end = next((each.start for each in text.pieces if each.start > piece.start), len(text.text))
        value = text.text[piece.start : end]
        remedy += f"{' ' if remedy else ''}It stands in the value of ${piece.parameter}: {_short(value)}."
    return error_at(PigSyntaxError, problem, text.source, text.place(offset), expected, remedy)


def _short(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _shown(token: Any) -> str:
    return f"text {_short(token)}" if token.type in ("STRING", "LONG_STRING") else _short(token)


def _strange_character(text: PlacedText, offset: int) -> PigSyntaxError:
    found = text.text[offset]
    name = found if found.isprintable() else f"U+{ord(found):04X}"
    return _error(text, f"unexpected character {name}", offset, (), _MEANT.get(found, ""))


def _keywords(parser: Any, terminals: set[str]) -> list[str]:
    words = [called(each, None) for each in terminals if is_keyword(each, _literal(parser, each))]
    return words + [word.upper() for word in COMMANDS] if "COMMAND" in terminals else words


def _alike(word: str, keywords: list[str]) -> list[str]:
    """Keywords that may have been meant; by one or two letters none is, nor a short one by a much longer word."""
    if len(word) < 3:
        return []
    near = difflib.get_close_matches(word, keywords, n=3, cutoff=_ALIKE)
    return [each for each in near if abs(len(each) - len(word)) <= max(1, len(each) // 4)]


def _literal(parser: Any, terminal: str) -> str | None:
    if terminal == "$END":
        return None
    pattern = parser.get_terminal(terminal).pattern
    return str(pattern.value) if pattern.type == "str" else None


def _misspelled(parser: Any, step: _Step, failed: Any) -> str | None:
    """The keyword that the word before the one that failed should have been: with it, the latter fits."""
    from lark import Token

    if step.token.type != "NAME":
        return None
    possible = step.parser.accepts()
    word = str(step.token).upper()
    for near in _alike(word, _keywords(parser, possible)):
        if near == word:
            continue
        terminal = next((each for each in possible if each.strip("_") == near), None)
        if terminal is None:
            return near  # a command: its line is one word
        trial = step.parser.copy(deepcopy_values=False)
        trial.feed_token(Token(terminal, near))
        if failed.type in trial.accepts():
            return near
    return None


def _remedy(text: PlacedText, failed: Any, step: _Step | None, possible: set[str]) -> str:
    """What helps in cases that are common."""
    if failed.type == "EQUAL" and "COMPARISON" in possible:
        return "A comparison is written with ==."
    if failed == ">" and step is not None and step.token == "<":
        return "Write != for “not equal”."
    if "SEMICOLON" in possible and step is not None:
        ended = text.place(max(step.token.end_pos - 1, 0))
        if failed.type == "$END":
            return "A statement ends with a semicolon."
        if ended.line < text.place(failed.start_pos).line:
            return f"Is a semicolon missing at the end of line {ended.line}?"
    if failed.type == "$END" and "RBRACE" in possible:
        return "A brace is not closed."
    return ""


def _expected(parser: Any, possible: set[str]) -> tuple[str, ...]:
    """What could have stood there: keywords first, then signs; that an expression could go on is said last."""
    left = set(possible) - {"LONG_STRING"}
    if "SEMICOLON" in left:
        left.discard("$END")
    classes = []
    for members, fewest, name in _CLASSES:
        if len(left & members) >= fewest:
            left -= members if name != "a statement" else left
            classes.append(name)
    words = sorted(called(each, _literal(parser, each)) for each in left)
    keywords = [each for each in words if each.isupper()]
    signs = [each for each in words if not each.isupper()]
    if "an operator" in classes:
        return (*(keywords + signs)[: MOST_EXPECTED - 1], "an operator")
    return tuple((classes + keywords + signs)[:MOST_EXPECTED])
