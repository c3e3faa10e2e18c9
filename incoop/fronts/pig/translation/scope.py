"""What names in a script mean: relations, functions, commands; and in an expression: fields, names of a block.

Contract: an alias that is given again means the later relation from there on. A name in an expression is looked for in
the block, in the row, in the rows around, and among the relations (a scalar), in this order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from incoop.fronts.pig.errors import PigPosition, at
from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.syntax.statements import DefineCommand
from incoop.fronts.pig.udfs import UserFunction
from incoop.query.errors import BadPlan, QueryError, nearest
from incoop.query.expressions.nodes import Expression, OuterReference, Reference
from incoop.query.functions.function import Registry
from incoop.query.plan.node import Plan
from incoop.query.plan.single import Project
from incoop.query.schema import Schema
from incoop.query.sources.text_format import Format
from incoop.query.types import BYTES, Field, Type


class UnknownRelation(QueryError):
    """A name that no relation has."""

    def __init__(self, name: str, known: tuple[str, ...], position: PigPosition) -> None:
        super().__init__(f"there is no relation {name}{nearest(name, known)}", position)
        self.args = (name, known, position)
        self.name, self.known = name, known


@dataclass(frozen=True)
class ScriptRelation:
    """A relation of a script: what computes it, and its fields as the script names them."""

    alias: str | None
    plan: Plan
    schema: Schema
    #: Places in the plan's rows of bags that are never null: those of groups.
    bags: frozenset[int] = frozenset()
    #: The fields as expressions over the plan's rows, where they are not these rows' own: a group's key may be a tuple
    #: that need not be made where only its parts are asked for.
    columns: tuple[Expression, ...] | None = None
    #: Types of what the block that made it names, for DESCRIBE.
    nested: Mapping[str, Type] = field(default_factory=dict)

    def over(self, plan: Plan) -> ScriptRelation:
        """The same fields, of other rows."""
        return replace(self, plan=plan, nested={})

    def whole(self) -> ScriptRelation:
        """The same with rows that are the fields."""
        if self.columns is None:
            return self
        names = tuple(each.name for each in self.schema.fields or ())
        plan = Project(self.plan, self.columns, names, position=self.plan.position)
        kept = [at for at, each in enumerate(self.columns) if isinstance(each, Reference) and each.index in self.bags]
        return replace(self, plan=plan, bags=frozenset(kept), columns=None)


@dataclass(frozen=True, slots=True)
class LoadedPath:
    """What a LOAD names, as it was written, the folder that it is relative to, and the format."""

    path: str
    folder: Path
    form: Format
    position: PigPosition


@dataclass
class ScriptScope:
    """What the statements so far have named."""

    registry: Registry
    folder: Path = field(default_factory=Path)
    relations: dict[str, ScriptRelation] = field(default_factory=dict)
    functions: dict[str, o.FunctionReference] = field(default_factory=dict)
    commands: dict[str, DefineCommand] = field(default_factory=dict)
    #: The user's functions, by the names that the script calls them by.
    user: dict[str, UserFunction] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    previous: ScriptRelation | None = None
    #: What is loaded, by the names of scans.
    loads: dict[str, LoadedPath] = field(default_factory=dict)
    #: Folders that the script has stored into by now, each with the fields that lie beside the data.
    stored: dict[Path, tuple[Field, ...] | None] = field(default_factory=dict)
    #: What a reader of the script should know, each once.
    notes: list[str] = field(default_factory=list)

    def relation(self, name: o.RelationName | o.PreviousRelation) -> ScriptRelation:
        if isinstance(name, o.PreviousRelation):
            if self.previous is None:
                raise BadPlan("there is no relation before this one. Write its alias in place of @.", at(name))
            return self.previous
        found = self.relations.get(name.name)
        if found is None:
            raise UnknownRelation(name.name, tuple(self.relations), at(name))
        return replace(found, alias=name.name)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


@dataclass(frozen=True)
class RowScope:
    """What names in an expression over a row mean."""

    schema: Schema
    script: ScriptScope
    bags: frozenset[int] = frozenset()
    columns: tuple[Expression, ...] | None = None
    #: What the block around has named: expressions over the row.
    nested: Mapping[str, Expression] = field(default_factory=dict)
    #: For a row of a bag: the row that holds the bag.
    outer: RowScope | None = None

    @classmethod
    def of(cls, relation: ScriptRelation, script: ScriptScope) -> RowScope:
        return cls(relation.schema, script, relation.bags, relation.columns)

    def inside(self, fields: tuple[Field, ...] | None) -> RowScope:
        """The scope of a row of a bag with these fields."""
        return RowScope(Schema(fields), self.script, outer=self)

    def field(self, index: int) -> Field:
        known = self.schema.fields
        return known[index] if known is not None and index < len(known) else Field(None, BYTES)

    def place_of(self, name: str, position: PigPosition) -> int:
        """The place of a field of the row itself."""
        if self.schema.fields is None:
            raise BadPlan(
                f"the fields here are not known, so none is called {name!r}. Declare them with AS where they come "
                "from, or write $0, $1, …",
                position,
            )
        return self.schema.find(name, position)

    def reference(self, index: int, position: PigPosition) -> Expression:
        """A field of the row."""
        if self.columns is not None and index < len(self.columns):
            return self.columns[index]
        found = self.field(index)
        return Reference(index, found.type, found.name, position=position)

    def has(self, name: str) -> bool:
        wanted = tuple(name.split("::"))
        return any(field.path[-len(wanted) :] == wanted for field in self.schema.fields or ())


def from_inside(expression: Expression, depth: int = 0) -> Expression:
    """The same value, said from within a row of one of the row's bags."""
    if depth == 0 and isinstance(expression, Reference):
        return OuterReference(expression.index, expression.kind, 1, position=expression.position)
    if isinstance(expression, OuterReference) and expression.levels >= max(depth, 1):
        return replace(expression, levels=expression.levels + 1)
    return expression.rebuilt(lambda child: from_inside(child, depth), lambda part: from_inside(part, depth + 1))
