"""The fields of a relation, or that they are not known.

Contract: a name finds a field by the end of its path: `name`, `b::name` and `a::b::name` all find `a::b::name`. One
that finds several is an error, as is one that finds none; the error names the nearest.
"""

from __future__ import annotations

from dataclasses import dataclass

from incoop.query.errors import AmbiguousField, BadPlan, Position, UnknownField
from incoop.query.types import BagType, Field, TupleType, Type


@dataclass(frozen=True, slots=True)
class Schema:
    """Fields by place; None where rows may have any width."""

    fields: tuple[Field, ...] | None = None

    @classmethod
    def of(cls, **types: Type) -> Schema:
        """Fields by name, in the order in which they are given."""
        return cls(tuple(Field(name, kind) for name, kind in types.items()))

    @property
    def width(self) -> int | None:
        return None if self.fields is None else len(self.fields)

    @property
    def types(self) -> tuple[Type, ...] | None:
        return None if self.fields is None else tuple(field.type for field in self.fields)

    def known(self, what: str, position: Position | None = None) -> tuple[Field, ...]:
        """The fields, where something needs to know them."""
        if self.fields is None:
            raise BadPlan(f"{what} needs to know the fields of its input. Declare them where it is loaded.", position)
        return self.fields

    def find(self, name: str, position: Position | None = None) -> int:
        """The place of the field with a name.

        Example:
            >>> from incoop.query.types import INT
            >>> Schema((Field("x", INT, ("a",)), Field("y", INT))).find("a::x")
            0
        """
        wanted = tuple(name.split("::"))
        fields = self.fields or ()
        found = [at for at, field in enumerate(fields) if field.path[-len(wanted) :] == wanted]
        exact = [at for at in found if fields[at].path == wanted]
        if len(exact) == 1:
            return exact[0]
        if not found:
            raise UnknownField(name, tuple("::".join(field.path) for field in fields if field.name), position)
        if len(found) > 1:
            raise AmbiguousField(name, tuple("::".join(fields[at].path) for at in found), position)
        return found[0]

    def qualified(self, relation: str) -> Schema:
        """The same fields, come through a relation of that name."""
        if self.fields is None:
            return self
        return Schema(tuple(Field(each.name, each.type, (relation, *each.qualifiers)) for each in self.fields))

    def __add__(self, other: Schema) -> Schema:
        if self.fields is None or other.fields is None:
            return Schema(None)
        return Schema(self.fields + other.fields)

    @property
    def as_tuple(self) -> TupleType:
        return TupleType(self.fields)

    @property
    def as_bag(self) -> BagType:
        return BagType(self.fields)

    def __str__(self) -> str:
        return "(?)" if self.fields is None else str(self.as_tuple)
