"""A script's text or file to its statements: parameters replaced, macros expanded, files imported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from incoop.base.errors import IncoopError
from incoop.fronts.pig.syntax.macros import Expansion, read_source
from incoop.fronts.pig.syntax.parameters import Parameters
from incoop.fronts.pig.syntax.places import SourceFile
from incoop.fronts.pig.syntax.statements import PigScript


class ScriptUnreadable(IncoopError):
    """The file of a script is not there, or is no text."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(path, why)
        self.path, self.why = path, why

    def __str__(self) -> str:
        return f"The script {self.path} cannot be read: {self.why}. Give the path of a text in UTF-8."


def read_script(path: Path | str, parameters: Parameters | None = None, search: Sequence[Path] = ()) -> PigScript:
    """The script in a file. Imports are looked for beside it, in the current folder, and in `search`."""
    path = Path(path)
    try:
        source = read_source(path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise ScriptUnreadable(str(path), why) from error
    return _expanded(source, parameters, path.parent, search)


def parse_script(
    text: str,
    parameters: Parameters | None = None,
    *,
    file: str = "script",
    folder: Path | None = None,
    search: Sequence[Path] = (),
) -> PigScript:
    """A script that is a text; `file` is what errors call it, `folder` where its imports are.

    Example:
        >>> script = parse_script("a = LOAD 'x' AS (n: int); b = FILTER a BY n > $least;", Parameters({"least": "3"}))
        >>> script.statements[1].operator.condition
        ComparisonTerm(operator='>', left=NameTerm(name='n'), right=LiteralTerm(kind=<LiteralKind.INT: 'int'>, value=3))
    """
    return _expanded(SourceFile(file, text), parameters, folder or Path(), search)


def _expanded(source: SourceFile, parameters: Parameters | None, folder: Path, search: Sequence[Path]) -> PigScript:
    """`parameters` are left as they are."""
    own = (parameters or Parameters()).scope({})
    statements = Expansion(own, folder, search).script(source)
    return PigScript(source.name, statements, own.values)
