"""The parser's tables, made from the grammar once and kept beside Python's own compiled files.

Contract: what is kept is trusted as a .pyc is: it lies in the same folder. Where nothing can be written, or what was
kept does not load, the tables are made anew, which takes 0.2 s instead of 0.02.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import pickle
import sys
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from incoop.base.atomic import write_atomically
from incoop.fronts.pig.syntax.words import grammar_text

if TYPE_CHECKING:
    from lark import Lark


@functools.cache
def pig_parser() -> Lark:
    """The parser, loaded when it is first asked for: lark takes 0.03 s to import."""
    import lark

    grammar = grammar_text()
    kept = kept_tables(hashlib.sha256(f"{lark.__version__}\n{grammar}".encode()).hexdigest()[:16])
    with suppress(Exception), kept.open("rb") as file:
        return lark.Lark.load(file)
    made = lark.Lark(grammar, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=True)
    if not sys.dont_write_bytecode:
        _keep(made, kept)
    return made


def kept_tables(version: str) -> Path:
    compiled = Path(importlib.util.cache_from_source(__file__))
    return compiled.with_name(f"{compiled.stem}.{version}.tables")


def _keep(made: Lark, kept: Path) -> None:
    packed = BytesIO()
    with suppress(OSError, pickle.PicklingError):
        made.save(packed)
        kept.parent.mkdir(exist_ok=True)
        for old in kept.parent.glob("tables.cpython*.tables"):
            if old.stem.split(".")[:2] == kept.stem.split(".")[:2]:
                old.unlink(missing_ok=True)
        write_atomically(kept, [packed.getvalue()], durable=False)
