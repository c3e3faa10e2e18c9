"""Macros and imports: a script's statements without them.

Contract: a macro is known from its definition on, to the script and to macros called later. Its body gets the texts of
the arguments, and the parameters of the script, which its own hide. Aliases that it gives are its own: `x` of the
second call of macro `m` (counted from 0) becomes `macro_m_x_1`, wherever it is used as a relation, a bag or a prefix;
arguments and what it returns keep their names. A macro that calls itself is refused, also through others.
A file is imported once; it is looked for beside the file that names it, then in the search path.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from incoop.fronts.pig.syntax.errors import BadMacro, ImportNotFound, PigSyntaxError, error_at
from incoop.fronts.pig.syntax.file_text import read_text
from incoop.fronts.pig.syntax.nodes import PigNode
from incoop.fronts.pig.syntax.operators import (
    ForeachOperator,
    GenerateItem,
    NestedStatement,
    Relation,
    RelationName,
)
from incoop.fronts.pig.syntax.parameters import Parameters
from incoop.fronts.pig.syntax.parser import parse_text
from incoop.fronts.pig.syntax.places import Excerpt, MacroCallSite, ScriptPlace, SourceFile
from incoop.fronts.pig.syntax.statements import (
    AssignStatement,
    DefineFunction,
    DefineMacro,
    ImportStatement,
    MacroCall,
    RealiasStatement,
    SetStatement,
    SplitStatement,
    Statement,
)
from incoop.fronts.pig.syntax.substitution import substitute
from incoop.fronts.pig.syntax.terms import FieldDeclaration, FieldsTerm, NameTerm

#: The setting by which a script says where imports are looked for, folders with commas between them.
SEARCH_PATH = "pig.import.search.path"

#: Macros in macros, and files in files: each level takes some of Python's stack.
DEEPEST = 50

#: Calls of macros in a script. Macros that each call another twice are a few lines, and would never end.
MOST_CALLS = 10_000

_N = TypeVar("_N", bound=PigNode)


def read_source(path: Path) -> SourceFile:
    """A file's text. Raises OSError, or UnicodeDecodeError."""
    return SourceFile(str(path), read_text(path))


@dataclass
class Expansion:
    """What is known while a script is expanded, from its first statement to its last."""

    parameters: Parameters
    folder: Path
    search: Sequence[Path] = ()
    macros: dict[str, DefineMacro] = field(default_factory=dict)
    sources: dict[str, SourceFile] = field(default_factory=dict)
    imported: set[str] = field(default_factory=set)
    calls: dict[str, int] = field(default_factory=dict)
    #: How many files stand around the one that is read, each of which imports the next.
    files_around: int = 0

    def script(self, source: SourceFile) -> tuple[Statement, ...]:
        self.sources[source.name] = source
        return tuple(self.expand(parse_text(substitute(Excerpt.whole(source), self.parameters)), self.folder, ()))

    def expand(self, statements: Iterable[Statement], folder: Path, within: tuple[str, ...]) -> Iterator[Statement]:
        """Statements without macros and imports; `within` names the macros whose body they are, outermost first."""
        for statement in statements:
            match statement:
                case DefineMacro():
                    self.define(statement, within)
                case ImportStatement():
                    yield from self.import_file(statement, folder)
                case MacroCall():
                    yield from self.call(statement, folder, within)
                case _:
                    if isinstance(statement, SetStatement) and statement.key == SEARCH_PATH:
                        self.search = [Path(each.strip()) for each in (statement.value or "").split(",")]
                    yield statement

    def error(self, kind: type[PigSyntaxError], problem: str, place: ScriptPlace, remedy: str) -> PigSyntaxError:
        source = self.sources.get(place.file)
        return error_at(kind, problem, source, place, remedy=remedy) if source else kind(problem, place, remedy=remedy)

    def define(self, macro: DefineMacro, within: tuple[str, ...]) -> None:
        if within:
            raise self.error(
                BadMacro,
                f"macro {within[-1]} defines another",
                macro.place,
                "Define it outside, before the first call.",
            )
        known = self.macros.get(macro.name)
        if known is not None:
            raise self.error(
                BadMacro,
                f"there is a macro {macro.name} already, at {known.place}",
                macro.place,
                "Give it another name.",
            )
        names = (*macro.parameters, *macro.returns)
        twice = next((each for each in names if names.count(each) > 1), None)
        if twice is not None:
            raise self.error(
                BadMacro, f"two parameters are called {twice}", macro.place, "Give each a name of its own."
            )
        self.macros[macro.name] = macro

    def call(self, call: MacroCall, folder: Path, within: tuple[str, ...]) -> Iterator[Statement]:
        macro = self._known(call, within)
        self._demand_an_end(call, within)
        own = dict(zip(macro.parameters, call.arguments, strict=True))
        own |= dict(zip(macro.returns, (each.name for each in call.outputs), strict=True))
        number = self.calls.get(macro.name, 0)
        self.calls[macro.name] = number + 1
        text = substitute(macro.body, self.parameters.scope(own), MacroCallSite(macro.name, call.place))
        inner = tuple(self.expand(parse_text(text), folder, (*within, macro.name)))
        given = set(_aliases(inner))
        for output in call.outputs:
            if output.name not in given:
                name = macro.returns[call.outputs.index(output)]
                raise self.error(
                    BadMacro,
                    f"macro {macro.name} returns {name}, and nothing in it makes that",
                    macro.place,
                    f"Write ${name} = …; in its body.",
                )
        return _Masks(self, macro.name, number, {*call.arguments, *(each.name for each in call.outputs)}).all(inner)

    def _demand_an_end(self, call: MacroCall, within: tuple[str, ...]) -> None:
        if len(within) >= DEEPEST:
            raise self.error(
                BadMacro,
                f"macros call macros, {DEEPEST} levels deep",
                call.place,
                f"{' calls '.join((*within[-3:], call.name))}: write some of them into others.",
            )
        if sum(self.calls.values()) >= MOST_CALLS:
            raise self.error(
                BadMacro,
                f"macros are called more than {MOST_CALLS:,} times",
                call.place,
                "Does each of them call another several times?",
            )

    def _known(self, call: MacroCall, within: tuple[str, ...]) -> DefineMacro:
        macro = self.macros.get(call.name)
        if macro is None:
            near = difflib.get_close_matches(call.name, self.macros, n=1)
            meant = f"Did you mean {near[0]}? " if near else ""
            raise self.error(
                BadMacro,
                f"there is no macro {call.name}",
                call.place,
                f"{meant}A macro is defined above its first call.",
            )
        if macro.name in within:
            way = " calls ".join((*within[within.index(macro.name) :], macro.name))
            raise self.error(BadMacro, f"{way}: a macro cannot call itself", call.place, "Take the call out.")
        for given, wanted, verb in (
            (len(call.arguments), macro.parameters, "takes"),
            (len(call.outputs), macro.returns, "returns"),
        ):
            if given != len(wanted):
                named = f"{len(wanted)} ({', '.join(wanted)})" if wanted else "nothing"
                raise self.error(
                    BadMacro,
                    f"macro {macro.name} {verb} {named}, and here {'is' if given == 1 else 'are'} {given}",
                    call.place,
                    f"It is defined at {macro.place}.",
                )
        return macro

    def import_file(self, statement: ImportStatement, folder: Path) -> Iterator[Statement]:
        folders = list(dict.fromkeys((folder, self.folder, Path(), *self.search)))
        for path in (each / statement.path for each in folders):
            if os.path.isfile(path):  # noqa: PTH113 - Path.is_file raises where a name is too long
                break
        else:
            looked = ", ".join(str(each.absolute()) for each in folders)
            raise self.error(
                ImportNotFound,
                f"there is no file {statement.path} to import",
                statement.place,
                f"It was looked for in {looked}. Other folders are given with SET {SEARCH_PATH} 'FOLDER';",
            )
        key = str(path.resolve())
        if key in self.imported:
            return
        self.imported.add(key)
        try:
            source = read_source(path)
        except (OSError, UnicodeDecodeError) as error:
            raise self.error(
                ImportNotFound,
                f"{path} cannot be imported: {error}",
                statement.place,
                "It must be a readable text in UTF-8.",
            ) from error
        self.sources[source.name] = source
        if self.files_around >= DEEPEST:
            raise self.error(
                ImportNotFound,
                f"files import files, {DEEPEST} levels deep",
                statement.place,
                "Import them in one script, one behind the other.",
            )
        self.files_around += 1
        yield from self.expand(parse_text(substitute(Excerpt.whole(source), self.parameters)), path.parent, ())
        self.files_around -= 1


def _aliases(statements: Iterable[Statement]) -> Iterator[str]:
    """The names that statements give."""
    for statement in statements:
        match statement:
            case AssignStatement(alias=RelationName(name)) | RealiasStatement(alias=RelationName(name)):
                yield name
            case SplitStatement(branches=branches):
                yield from (branch.alias.name for branch in branches)
            case DefineFunction(name=name):
                yield name


@dataclass
class _Masks:
    """New names for the aliases of one call of a macro."""

    expansion: Expansion
    macro: str
    number: int
    #: Names that stay: they are the caller's.
    kept: set[str]
    #: Aliases that came up so far. A field of such a name means the relation.
    seen: set[str] = field(default_factory=set)
    #: Names that the block around gives: they hide relations of those names.
    nested: set[str] = field(default_factory=set)

    def all(self, statements: Iterable[Statement]) -> Iterator[Statement]:
        return iter([self.node(each) for each in statements])

    def name(self, alias: str) -> str:
        return alias if alias in self.kept else f"macro_{self.macro}_{alias}_{self.number}"

    def block(
        self, source: Relation, statements: tuple[NestedStatement, ...], items: tuple[GenerateItem, ...]
    ) -> dict[str, Any]:
        """A block of FOREACH, in the order in which its names are given."""
        renamed = self.node(source)
        made = []
        for each in statements:
            made.append(self.node(each))
            self.nested.add(each.name)
        generated = self.value(items)
        self.nested.clear()
        return {"source": renamed, "nested": tuple(made), "items": generated}

    def value(self, value: Any) -> Any:
        if isinstance(value, PigNode):
            return self.node(value)
        return tuple(map(self.value, value)) if isinstance(value, tuple) else value

    def node(self, node: _N) -> _N:
        match node:
            case RelationName(name):
                alias, *nested = name.split("::")
                self.seen.add(alias)
                return replace(node, name="::".join((self.name(alias), *nested)))
            case NameTerm(name):
                parts = (self.name(each) if each in self.seen - self.nested else each for each in name.split("::"))
                return replace(node, name="::".join(parts))
            case ForeachOperator(source=source, items=items, nested=nested) if nested:
                return replace(node, **self.block(source, nested, items))
            case FieldsTerm(source):
                return replace(node, source=self.node(source))
            case FieldDeclaration(name) if name in self.seen and name not in self.kept:
                raise self.expansion.error(
                    BadMacro,
                    f"{name} is a field here, and the alias of a relation in the same macro",
                    node.place,
                    "Give one of them another name: in a macro, fields are told from aliases by their names.",
                )
            case _:
                old = {each.name: getattr(node, each.name) for each in fields(node) if each.name != "place"}
                new = {name: self.value(value) for name, value in old.items()}
                return node if new == old else replace(node, **new)
