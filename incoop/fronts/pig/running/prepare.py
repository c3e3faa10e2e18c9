"""A script to steps: every statement is translated, and every type is checked, before anything runs.

Contract: steps are in the order of the statements. RUN goes on in the same names, EXEC in its own. Of a relation that
nobody stores or prints nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from incoop.fronts.pig.errors import ScriptError, TextOf, at, line_at, placed, refuse, texts
from incoop.fronts.pig.functions import PIG
from incoop.fronts.pig.running.steps import (
    BatchEnd,
    DumpStep,
    ExplainStep,
    IllustrateStep,
    ScriptStep,
    ShellStep,
    ShowStep,
    StoreStep,
)
from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.syntax import statements as s
from incoop.fronts.pig.syntax.nodes import PigNode
from incoop.fronts.pig.syntax.parameters import Parameters
from incoop.fronts.pig.syntax.script import read_script
from incoop.fronts.pig.translation.loads import served, stored
from incoop.fronts.pig.translation.relations import relation_of
from incoop.fronts.pig.translation.row_operators import asserted, split
from incoop.fronts.pig.translation.scope import ScriptRelation, ScriptScope
from incoop.fronts.pig.types import describe_text, type_text
from incoop.fronts.pig.udfs import load_udfs
from incoop.query.errors import BadPlan, nearest
from incoop.query.plan.single import Scan
from incoop.query.schema import Schema
from incoop.query.types import BagType, Field

#: Scripts that run scripts that run scripts: more than this are a circle.
_DEEPEST = 20
#: What REGISTER … USING may say of a file in Python.
_PYTHONS = ("", "jython", "python", "streaming_python")
#: Commands of the shell that say or change nothing here.
_IDLE = ("help", "history", "clear", "kill")


@dataclass
class Preparation:
    """Statements on their way to steps."""

    text_of: TextOf = field(default_factory=texts)
    steps: list[ScriptStep] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: Folders that are stored into, and where that is said.
    _folders: dict[Path, PigNode] = field(default_factory=dict)
    #: The same folders, with the fields that lie beside the data.
    _stored: dict[Path, tuple[Field, ...] | None] = field(default_factory=dict)
    _depth: int = 0

    def script(self, script: s.PigScript, folder: Path | None = None) -> list[ScriptStep]:
        """The steps of a script."""
        self._statements(script.statements, self._scope(folder or Path()))
        return self.steps

    def _scope(self, folder: Path) -> ScriptScope:
        return ScriptScope(PIG, folder, stored=self._stored)

    def _statements(self, statements: tuple[s.Statement, ...], scope: ScriptScope) -> bool:
        """Translate statements; whether the script ends here."""
        for statement in statements:
            with placed(statement, self.text_of):
                if isinstance(statement, s.ShellStatement) and statement.command == "quit":
                    return True
                self._statement(statement, scope)
        for note in scope.notes:
            if note not in self.notes:
                self.notes.append(note)
        return False

    def _statement(self, statement: s.Statement, scope: ScriptScope) -> None:
        match statement:
            case s.AssignStatement(alias, operator):
                name = None if alias is None else alias.name
                self._named(name, relation_of(operator, scope, name), scope)
            case s.RealiasStatement(alias, other):
                self._named(alias.name, scope.relation(other), scope)
            case s.SplitStatement(source):
                for name, branch in split(relation_of(source, scope).whole(), statement, scope):
                    self._named(name, branch, scope)
            case s.AssertStatement(source):
                checked = asserted(relation_of(source, scope).whole(), statement, scope)
                if isinstance(source, o.RelationName):
                    self._named(source.name, checked, scope)
            case s.StoreStatement():
                self._store(statement, scope)
            case s.DumpStatement(source):
                relation = _asked(source, scope, statement)
                self.steps.append(DumpStep(statement, relation.whole(), scope.loads))
            case s.DescribeStatement(source):
                self.steps.append(ShowStep(statement, _described(source, scope, statement)))
            case s.ExplainStatement() | s.IllustrateStatement():
                self._explained(statement, scope)
            case s.RegisterStatement():
                self._register(statement, scope)
            case s.DefineFunction(name, function):
                scope.functions[name] = function
            case s.DefineCommand(name):
                scope.commands[name] = statement
            case s.SetStatement(key, value):
                if key is not None:
                    scope.settings[key] = value or ""
            case s.ScriptStatement():
                self._other_script(statement, scope)
            case s.ShellStatement():
                self._shell(statement, scope)
            case s.DefineMacro() | s.MacroCall() | s.ImportStatement():
                raise AssertionError("macros and imports are expanded when a script is read")

    def _named(self, name: str | None, relation: ScriptRelation, scope: ScriptScope) -> None:
        relation = ScriptRelation(
            name, relation.plan, relation.schema, relation.bags, relation.columns, relation.nested
        )
        scope.previous = relation
        if name is not None:
            scope.relations[name] = relation

    # ---- outputs

    def _store(self, statement: s.StoreStatement, scope: ScriptScope) -> None:
        relation = relation_of(statement.source, scope).whole()
        folder = (scope.folder / served(statement.path, at(statement))).absolute().resolve()
        earlier = self._folders.get(folder)
        if earlier is not None:
            raise BadPlan(
                f"{statement.path} is stored into at {earlier.place}, too. Each STORE has a folder of its own.",
                at(statement),
            )
        self._folders[folder] = statement
        name = relation.alias or "output"
        plan, beside = stored(name, relation, statement.function, scope, at(statement))
        self._stored[folder] = plan.format.schema.fields if beside else None
        self.steps.append(StoreStep(statement, plan, folder, scope.loads, beside))

    def _explained(self, statement: s.ExplainStatement | s.IllustrateStatement, scope: ScriptScope) -> None:
        if statement.script is not None:
            inner = Preparation(self.text_of, _depth=self._depth + 1)
            read = self._read(statement.script, statement.params, statement.param_files, statement, scope)
            inner._statements(read.statements, inner._scope(scope.folder))
            chosen = tuple(each for step in inner.steps for each in _outputs_of(step))
            loads = next((step.loads for step in inner.steps if isinstance(step, StoreStep | DumpStep)), {})
        elif statement.source is None and isinstance(statement, s.ExplainStatement):
            chosen = tuple(each for step in self.steps for each in _outputs_of(step))
            loads = scope.loads
        else:
            chosen, loads = (_asked(statement.source, scope, statement).whole(),), scope.loads
        if not chosen:
            raise BadPlan("there is nothing to explain: nothing is stored. Name a relation.", at(statement))
        if isinstance(statement, s.IllustrateStatement):
            self.steps.append(IllustrateStep(statement, _way_to(chosen[-1], scope), loads))
            return
        out = None if statement.out is None else scope.folder / statement.out
        self.steps.append(ExplainStep(statement, chosen, loads, out))

    # ---- what else there is

    def _register(self, statement: s.RegisterStatement, scope: ScriptScope) -> None:
        path, engine = statement.path, (statement.engine or "").lower()
        if path.lower().endswith(".jar") or path.startswith(("hdfs:", "ivy:", "maven:")) or "*" in path:
            self.notes.append(f"nothing of {path} is used: no Java is run here")
            return
        if engine not in _PYTHONS or not path.endswith(".py"):
            refuse(f"functions of {statement.engine or path} are not run here. Write them in Python.", statement)
        scope.user.update(
            load_udfs(_beside(path, statement, scope), engine or None, statement.namespace, at(statement))
        )

    def _other_script(self, statement: s.ScriptStatement, scope: ScriptScope) -> None:
        self.steps.append(BatchEnd(statement))
        if statement.script is None:
            return
        read = self._read(statement.script, statement.params, statement.param_files, statement, scope)
        self._depth += 1
        self._statements(read.statements, self._scope(scope.folder) if statement.batch else scope)
        self._depth -= 1
        if statement.batch:
            self.steps.append(BatchEnd(statement))

    def _read(
        self, path: str, params: tuple[str, ...], files: tuple[str, ...], statement: PigNode, scope: ScriptScope
    ) -> s.PigScript:
        if self._depth >= _DEEPEST:
            refuse(f"scripts run scripts {_DEEPEST} deep, and this is one more. Do they run each other?", statement)
        found = _beside(path, statement, scope)
        if not found.is_file():
            place = statement.place
            raise ScriptError(
                f"there is no script {path}", place, line_at(place, self.text_of), remedy="Mend the path."
            )
        return read_script(found, Parameters.load(params, [scope.folder / each for each in files]))

    def _shell(self, statement: s.ShellStatement, scope: ScriptScope) -> None:
        command, words = statement.command, statement.words
        match command:
            case "cd":
                scope.folder = (scope.folder / words[0]) if words else Path()
            case "aliases":
                self.steps.append(ShowStep(statement, "\n".join(scope.relations)))
            case "sql":
                refuse("`sql` is run by Hive's server, which is not here. Write what it does in Pig Latin.", statement)
            case _ if command not in _IDLE:
                self.steps.append(ShellStep(statement, command, words, scope.folder))


def _beside(path: str, statement: PigNode, scope: ScriptScope) -> Path:
    """A file that a script names: in the current folder, or beside the file that the statement is in."""
    own = Path(statement.place.file).parent / path
    found = scope.folder / path
    return own if not found.is_file() and own.is_file() else found


def _asked(
    source: o.RelationName | o.PreviousRelation | None, scope: ScriptScope, statement: PigNode
) -> ScriptRelation:
    return scope.relation(source or o.PreviousRelation(place=statement.place))


def _described(
    source: o.RelationName | o.PreviousRelation | None, scope: ScriptScope, statement: s.DescribeStatement
) -> str:
    """Also of what a block names: `alias::nested`."""
    if isinstance(source, o.RelationName) and source.name not in scope.relations:
        outer, sign, inner = source.name.rpartition("::")
        relation = scope.relations.get(outer)
        if sign and relation is not None:
            kind = relation.nested.get(inner)
            if kind is None:
                raise BadPlan(f"nothing is called {inner} in {outer}{nearest(inner, relation.nested)}", at(source))
            if isinstance(kind, BagType):
                return describe_text(source.name, Schema(kind.fields))
            return f"{source.name}: {type_text(kind)}"
    relation = _asked(source, scope, statement)
    return describe_text(relation.alias or "@", relation.schema)


def _outputs_of(step: ScriptStep) -> Iterator[ScriptRelation]:
    if isinstance(step, StoreStep):
        yield ScriptRelation(step.plan.name, step.plan, step.plan.schema)
    elif isinstance(step, DumpStep):
        yield step.relation


def _way_to(relation: ScriptRelation, scope: ScriptScope) -> tuple[ScriptRelation, ...]:
    """Named relations that a relation comes from, first ones first, and itself."""
    below: set[int] = set()
    waiting = [relation.plan]
    while waiting:
        plan = waiting.pop()
        if id(plan) not in below:
            below.add(id(plan))
            waiting += plan.children
    named = [each for each in scope.relations.values() if id(each.plan) in below and each.plan is not relation.plan]
    return (*(each.whole() for each in named if each.columns is None or isinstance(each.plan, Scan)), relation)
