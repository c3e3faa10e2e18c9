"""Pig's functions of text. Places count code points, from zero; null in, null out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from incoop.fronts.pig.functions.java_regex import BadPattern, as_re2, compiled, java_replace, java_split
from incoop.fronts.pig.functions.request import Maker, Request
from incoop.query.casts import text_of
from incoop.query.errors import QueryError
from incoop.query.expressions.nodes import Expression
from incoop.query.functions import GENERAL
from incoop.query.functions.function import Function, Rule, Signature, fixed
from incoop.query.types import BOOLEAN, BYTES, INT, TEXT, BagType, Field, TupleType, Type, Value
from incoop.query.warnings import CAST, RANGE, NoValue

_TOKENS = BagType((Field("token", TEXT),))
#: What separates words where nothing else is said.
_BETWEEN_WORDS = ' ",()*'
_SPACE = "\\s"


def _substring(text: str, start: int, stop: int) -> str:
    """Null where the start lies behind the end, or before the text."""
    stop = min(stop, len(text))
    if not 0 <= start <= stop:
        raise NoValue(RANGE)
    return text[start:stop]


def _index_of(text: str, part: str, start: int = 0) -> int:
    return text.find(part, min(max(start, 0), len(text)))


def _first(change: Callable[[str], str]) -> Callable[[str], str]:
    """The first letter changed, where that is still one letter."""

    def row(text: str) -> str:
        letter = change(text[:1])
        return (letter if len(letter) == 1 else text[:1]) + text[1:]

    return row


def _same_letters(one: Value, other: Value) -> bool:
    """Letter by letter, in upper or in lower case, as Java compares."""
    mine, its = (text_of(each, BYTES) for each in (one, other))
    return len(mine) == len(its) and all(
        a == b or a.upper() == b.upper() or a.upper().lower() == b.upper().lower()
        for a, b in zip(mine, its, strict=True)
    )


def tokens(text: str, signs: str = _BETWEEN_WORDS) -> Value:
    """What stands between any of the signs, in the order of the text."""
    return GENERAL.functions["tokens"].row(text, signs)


def _all_tokens(texts: Any, signs: Any = _BETWEEN_WORDS) -> tuple[Any, list[Any]] | None:
    """The same of a column."""
    kernel = GENERAL.functions["tokens"].rows_kernel
    return None if kernel is None else kernel(texts, signs)


def _fails_softly(row: Callable[..., Value]) -> Callable[..., Value]:
    """A pattern that comes from the data and is none makes a null, counted."""

    def tried(*values: Value) -> Value:
        try:
            return row(*values)
        except (BadPattern, ValueError):
            raise NoValue(CAST) from None

    return tried


def extract(text: str, pattern: str, group: int, whole: bool = False) -> Value:
    rule = compiled(pattern)
    found = rule.fullmatch(text) if whole else rule.search(text)
    return found[group] if found is not None and 0 <= group <= rule.groups else None


def _extract_all(text: str, pattern: str, whole: bool = True) -> Value:
    rule = compiled(pattern)
    found = rule.fullmatch(text) if whole else rule.search(text)
    return None if found is None else found.groups()


def _search_all(text: str, pattern: str) -> Value:
    """The first group of every match, as a bag in the order of the text."""
    rule = compiled(pattern)
    if rule.groups == 0:
        raise NoValue(CAST)
    found = [(each[1],) for each in rule.finditer(text)]
    return found or None


def _matches(text: str, pattern: str) -> bool:
    return compiled(pattern).fullmatch(text) is not None


def _sized(types: tuple[Type, ...]) -> Signature | None:
    return (
        None
        if len(types) != 2 or any(isinstance(each, TupleType | BagType) for each in types)
        else Signature(types, BOOLEAN)
    )


def _texts(name: str, rule: Rule, row: Callable[..., Value], takes: str, may_fail: bool = False) -> Function:
    return Function(name, rule, row, takes, may_fail=may_fail)


def _with_pattern(name: str, rule: Rule, row: Callable[..., Value], takes: str) -> Function:
    return Function(name, rule, _fails_softly(row), takes, may_fail=True)


def _all_match(pc: Any, texts: Any, pattern: Any) -> Any:
    """Where the script says a pattern that RE2 knows."""
    said = _said(pc, texts, pattern)
    try:
        wanted = None if said is None else as_re2(said)
        return None if wanted is None else pc.match_substring_regex(texts, f"\\A(?:{wanted})\\z")
    except (BadPattern, ValueError):  # ArrowInvalid is one: RE2 takes it for no pattern, or for one that is too large
        return None


def _said(pc: Any, texts: Any, other: Any) -> str | None:
    """The text that stands beside all texts of a column."""
    import pyarrow as pa

    if not isinstance(texts, pa.StringArray) or not isinstance(other, pa.StringScalar):
        return None
    found: str | None = other.as_py()
    return found


def _begins(name: str) -> Callable[..., Any]:
    def kernel(pc: Any, texts: Any, part: Any) -> Any:
        said = _said(pc, texts, part)
        return None if said is None else getattr(pc, name)(texts, said)

    return kernel


#: The full match that MATCHES is.
MATCHES = Function(
    "MATCHES",
    fixed(TEXT, TEXT, result=BOOLEAN),
    _fails_softly(_matches),
    "a text and a regular expression",
    kernel=_all_match,
    may_fail=True,
)

FUNCTIONS = (
    Function(
        "CONCAT",
        GENERAL.functions["concat"].rule,
        GENERAL.functions["concat"].row,
        "texts, or bytearrays",
        kernel=GENERAL.functions["concat"].kernel,
    ),
    Function("UPPER", fixed(TEXT, result=TEXT), str.upper, "a text", kernel=GENERAL.functions["upper"].kernel),
    Function("LOWER", fixed(TEXT, result=TEXT), str.lower, "a text", kernel=GENERAL.functions["lower"].kernel),
    _texts("UCFIRST", fixed(TEXT, result=TEXT), _first(str.upper), "a text"),
    _texts("LCFIRST", fixed(TEXT, result=TEXT), _first(str.lower), "a text"),
    Function("TRIM", fixed(TEXT, result=TEXT), GENERAL.functions["trim"].row, "a text"),
    _texts("LTRIM", fixed(TEXT, result=TEXT), lambda text: text.lstrip(" "), "a text"),
    _texts("RTRIM", fixed(TEXT, result=TEXT), lambda text: text.rstrip(" "), "a text"),
    _texts("SUBSTRING", fixed(TEXT, INT, INT, result=TEXT), _substring, "a text, a start and an end", may_fail=True),
    _texts("INDEXOF", fixed(TEXT, TEXT, INT, result=INT, optional=1), _index_of, "two texts, and where to begin"),
    _texts("LAST_INDEX_OF", fixed(TEXT, TEXT, result=INT), str.rfind, "two texts"),
    Function(
        *("STARTSWITH", fixed(TEXT, TEXT, result=BOOLEAN), str.startswith, "two texts"), kernel=_begins("starts_with")
    ),
    Function(*("ENDSWITH", fixed(TEXT, TEXT, result=BOOLEAN), str.endswith, "two texts"), kernel=_begins("ends_with")),
    _texts("EqualsIgnoreCase", _sized, _same_letters, "two texts"),
    Function(
        *("TOKENIZE", fixed(TEXT, TEXT, result=_TOKENS, optional=1), tokens, "a text, and the signs between words"),
        rows_kernel=_all_tokens,
    ),
    _with_pattern(
        "REPLACE",
        fixed(TEXT, TEXT, TEXT, result=TEXT),
        java_replace,
        "a text, a regular expression and what to put in its place",
    ),
    _with_pattern(
        "STRSPLIT",
        fixed(TEXT, TEXT, INT, result=TupleType(), optional=2),
        lambda text, pattern=_SPACE, limit=0: tuple(java_split(text, pattern, limit)),
        "a text, a regular expression, a limit",
    ),
    _with_pattern(
        "STRSPLITTOBAG",
        fixed(TEXT, TEXT, INT, result=BagType(), optional=2),
        lambda text, pattern=_SPACE, limit=0: [(part,) for part in java_split(text, pattern, limit)],
        "a text, a regular expression, a limit",
    ),
    _with_pattern(
        "REGEX_EXTRACT", fixed(TEXT, TEXT, INT, result=TEXT), extract, "a text, a regular expression and a group"
    ),
    _with_pattern(
        "REGEX_EXTRACT_ALL", fixed(TEXT, TEXT, result=TupleType()), _extract_all, "a text and a regular expression"
    ),
    _with_pattern(
        "REGEX_SEARCH",
        fixed(TEXT, TEXT, result=BagType((Field("match", TEXT),))),
        _search_all,
        "a text and a regular expression with a group",
    ),
    MATCHES,
)
#: Where the pattern is among the arguments: one that the script says is looked at before anything runs.
PATTERN_AT = {
    **{"REPLACE": 1, "STRSPLIT": 1, "STRSPLITTOBAG": 1, "MATCHES": 1},
    **{"REGEX_EXTRACT": 1, "REGEX_EXTRACT_ALL": 1, "REGEX_SEARCH": 1},
}
_BY_NAME = {each.name: each for each in FUNCTIONS}


def check_pattern(request: Request) -> None:
    """A pattern that the script says is one, and what REPLACE puts in says groups that there are."""
    pattern = request.text(PATTERN_AT[request.name])
    if pattern is None:
        return
    try:
        compiled(pattern)
        new = request.text(2) if request.name == "REPLACE" else None
        if new is not None:
            java_replace("", pattern, new)
    except BadPattern as trouble:
        raise QueryError(trouble.message, request.position) from None
    except ValueError as trouble:
        raise QueryError(
            f"REPLACE cannot put {new!r} in: {trouble}. Write \\\\$ for a dollar sign.", request.position
        ) from None


def _checked(request: Request) -> Expression:
    check_pattern(request)
    return request.of(_BY_NAME[request.name])


def _how_whole(request: Request) -> Expression:
    """REGEX_EXTRACT('true') takes all of a text, REGEX_EXTRACT_ALL('false') a part of it."""
    check_pattern(request)
    base = _BY_NAME[request.name]
    if not request.constructor:
        return request.of(base)
    whole = request.constructor[0].lower() == "true"
    row: Callable[..., Value] = extract if request.name == "REGEX_EXTRACT" else _extract_all

    def chosen(*values: Value) -> Value:
        return row(*values, whole)

    return request.of(Function(f"{base.name} {whole}", base.rule, _fails_softly(chosen), base.takes, may_fail=True))


MAKERS: dict[str, Maker] = {
    **dict.fromkeys(PATTERN_AT, _checked),
    "REGEX_EXTRACT": _how_whole,
    "REGEX_EXTRACT_ALL": _how_whole,
}
