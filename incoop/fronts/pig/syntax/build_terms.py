"""From lark's parse tree to nodes: expressions, types and schemas. A method a rule, `on_` and its name."""

from __future__ import annotations

from typing import Any, NoReturn, cast

from incoop.fronts.pig.syntax import terms as t
from incoop.fronts.pig.syntax.errors import PigSyntaxError, error_at
from incoop.fronts.pig.syntax.literals import number_value, text_value, whole_value
from incoop.fronts.pig.syntax.places import PlacedText, ScriptPlace

#: What the old words for comparisons mean.
_WORDS = {"eq": "==", "neq": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}

#: Whoever walks through a tree needs some frames a level, and Python has a thousand.
MAX_DEPTH = 200

Children = list[Any]


def is_literal(term: t.Argument) -> bool:
    """Whether parentheses around a term make a tuple, as Pig has it: around what is a value in itself."""
    match term:
        case t.LiteralTerm():
            return True
        case t.TupleTerm(items) | t.BagTerm(items):
            return all(map(is_literal, items))
        case t.MapTerm(entries):
            return all(is_literal(entry.value) for entry in entries)
        case _:
            return False


class TermBuilder:
    """Nodes of one text. `self.here` is the place of the rule that is being built."""

    def __init__(self, text: PlacedText) -> None:
        self.text = text
        self.here: ScriptPlace = text.place(0)

    def complain(self, problem: str, offset: int | None = None, remedy: str = "") -> NoReturn:
        """Refuse what stands at an offset, or the rule that is being built."""
        place = self.here if offset is None else self.text.place(offset)
        raise error_at(PigSyntaxError, problem, self.text.source, place, remedy=remedy)

    def place(self, token: Any) -> ScriptPlace:
        return self.text.place(token.start_pos)

    # ---- types and schemas

    def on_simple_type(self, children: Children) -> t.ScalarTypeName:
        return t.ScalarTypeName(t.TypeWord(str(children[0]).lower()), place=self.here)

    def on_tuple_type(self, children: Children) -> t.TupleTypeName:
        return t.TupleTypeName(children[-1] if isinstance(children[-1], tuple) else (), place=self.here)

    def on_bag_type(self, children: Children) -> t.BagTypeName:
        row = children[-1] if children and isinstance(children[-1], tuple) else (None, None)
        return t.BagTypeName(row[1], row[0], place=self.here)

    def on_bag_row(self, children: Children) -> tuple[str | None, t.TupleTypeName]:
        name, row = children
        return None if name is None or str(name).lower() == "null" else str(name), row

    def on_map_type(self, children: Children) -> t.MapTypeName:
        last = children[-1] if children else None
        known = isinstance(last, t.ScalarTypeName | t.TupleTypeName | t.BagTypeName | t.MapTypeName)
        return t.MapTypeName(last if known else None, place=self.here)

    def on_implicit_tuple_type(self, children: Children) -> t.TupleTypeName:
        return t.TupleTypeName(children[0] or (), place=self.here)

    on_implicit_bag_type = on_bag_type
    on_implicit_map_type = on_map_type

    def on_cast_tuple(self, children: Children) -> t.TupleTypeName:
        return t.TupleTypeName(children[-1] or (), place=self.here)

    def on_cast_types(self, children: Children) -> tuple[t.FieldDeclaration, ...]:
        fields: list[t.FieldDeclaration] = []
        name = None
        for each in children:
            if isinstance(each, str):
                name = str(each)
            else:
                fields.append(t.FieldDeclaration(name, each, place=each.place))
                name = None
        return tuple(fields)

    def on_cast_bag(self, children: Children) -> t.BagTypeName:
        return t.BagTypeName(children[-1], place=self.here)

    def on_named_field(self, children: Children) -> t.FieldDeclaration:
        return t.FieldDeclaration(str(children[0]), children[1], place=self.here)

    def on_unnamed_field(self, children: Children) -> t.FieldDeclaration:
        return t.FieldDeclaration(None, children[0], place=self.here)

    def on_field_list(self, children: Children) -> tuple[t.FieldDeclaration, ...]:
        return tuple(children)

    def on_schema(self, children: Children) -> tuple[t.FieldDeclaration, ...]:
        match children:
            case [t.FieldDeclaration() as field]:
                return (field,)
            case [tuple() as fields]:
                return cast("tuple[t.FieldDeclaration, ...]", fields)
            case _:
                return ()

    # ---- values and columns

    def on_literal(self, children: Children) -> t.LiteralTerm:
        token = children[0]
        match token.type:
            case "STRING":
                return t.LiteralTerm(t.LiteralKind.CHARARRAY, text_value(token), place=self.here)
            case "NUMBER":
                found = number_value(token)
                if found is None:
                    self.complain(f"{token[:40]} is no number", token.start_pos, "A whole number may end with L or BI.")
                return t.LiteralTerm(*found, place=self.here)
            case "NULL":
                return t.LiteralTerm(t.LiteralKind.NULL, None, place=self.here)
            case _:
                return t.LiteralTerm(t.LiteralKind.BOOLEAN, token.type == "TRUE", place=self.here)

    def on_name(self, children: Children) -> t.NameTerm:
        return t.NameTerm(str(children[0]), place=self.here)

    def on_index(self, children: Children) -> t.IndexTerm:
        number = whole_value(children[0][1:])
        if number is None:
            self.complain(f"{children[0][:40]} is no field", children[0].start_pos, "Fields are counted from $0.")
        return t.IndexTerm(number, place=self.here)

    def on_star(self, children: Children) -> t.StarTerm:
        return t.StarTerm(place=self.here)

    def on_range_from(self, children: Children) -> t.RangeTerm:
        return t.RangeTerm(children[0], children[1], place=self.here)

    def on_range_to(self, children: Children) -> t.RangeTerm:
        return t.RangeTerm(None, children[0], place=self.here)

    def on_fields(self, children: Children) -> t.FieldsTerm:
        return t.FieldsTerm(children[0], tuple(children[1:]), place=self.here)

    def on_lookup(self, children: Children) -> t.LookupTerm:
        source, key = children
        return t.LookupTerm(source, text_value(key) if key.type == "STRING" else None, place=self.here)

    def on_arguments(self, children: Children) -> tuple[t.Argument, ...]:
        return tuple(children)

    def on_call(self, children: Children) -> t.CallTerm:
        callee, arguments = children
        name = _function_name(callee)
        if name is None:
            self.complain(
                "this is followed by arguments, and is no name of a function",
                remedy="Is a comma or an operator missing?",
            )
        return t.CallTerm(name, arguments or (), place=self.here)

    # ---- operators

    def on_paren(self, children: Children) -> t.Term:
        (term,) = children
        return t.TupleTerm((term,), place=self.here) if is_literal(term) else term

    def on_paren_empty_map(self, children: Children) -> t.TupleTerm:
        return t.TupleTerm((t.MapTerm((), place=self.here),), place=self.here)

    def on_cast(self, children: Children) -> t.CastTerm:
        return t.CastTerm(children[0], children[1], place=self.here)

    def on_cast_to_map(self, children: Children) -> t.CastTerm:
        return t.CastTerm(t.MapTypeName(None, place=self.here), children[0], place=self.here)

    def on_cast_to_typed_map(self, children: Children) -> t.CastTerm:
        return t.CastTerm(t.MapTypeName(children[0], place=self.here), children[1], place=self.here)

    def on_negative(self, children: Children) -> t.NegativeTerm:
        sign, operand = children
        if sign == "+":
            self.complain("a sign before a value can only be '-'", sign.start_pos, "Leave the '+' out.")
        return t.NegativeTerm(operand, place=self.here)

    def on_arithmetic(self, children: Children) -> t.ArithmeticTerm:
        left, operator, right = children
        return t.ArithmeticTerm(str(operator), left, right, place=self.here)

    def on_comparison(self, children: Children) -> t.ComparisonTerm:
        left, operator, right = children
        word = str(operator).lower()
        return t.ComparisonTerm(_WORDS.get(word, word), left, right, place=self.here)

    def on_or_(self, children: Children) -> t.LogicTerm:
        return self._logic("or", *children)

    def on_and_(self, children: Children) -> t.LogicTerm:
        return self._logic("and", *children)

    def _logic(self, operator: str, left: t.Term, right: t.Term) -> t.LogicTerm:
        """A chain is one node, so that a long one is not deep."""
        if isinstance(left, t.LogicTerm) and left.operator == operator:
            return t.LogicTerm(operator, (*left.operands, right), place=self.here)
        return t.LogicTerm(operator, (left, right), place=self.here)

    def on_not_(self, children: Children) -> t.NotTerm:
        return t.NotTerm(children[0], place=self.here)

    def on_is_null(self, children: Children) -> t.NullTestTerm:
        return t.NullTestTerm(children[0], False, place=self.here)

    def on_is_not_null(self, children: Children) -> t.NullTestTerm:
        return t.NullTestTerm(children[0], True, place=self.here)

    def on_membership(self, children: Children) -> t.MembershipTerm:
        return t.MembershipTerm(children[0], tuple(children[1:]), place=self.here)

    def on_bincond(self, children: Children) -> t.BincondTerm:
        return t.BincondTerm(*children, place=self.here)

    def on_case(self, children: Children) -> t.CaseTerm:
        return self._case(None, children)

    def on_case_of(self, children: Children) -> t.CaseTerm:
        return self._case(children[0], children[1:])

    def _case(self, subject: t.Term | None, children: Children) -> t.CaseTerm:
        *branches, otherwise = children
        pairs = zip(branches[::2], branches[1::2], strict=True)
        made = tuple(t.CaseBranch(condition, chosen, place=condition.place) for condition, chosen in pairs)
        return t.CaseTerm(subject, made, otherwise, place=self.here)

    def on_tuple(self, children: Children) -> t.TupleTerm:
        return t.TupleTerm(tuple(children), place=self.here)

    def on_bag(self, children: Children) -> t.BagTerm:
        return t.BagTerm(children[0] or (), place=self.here)

    def on_map_of(self, children: Children) -> t.Term:
        if children[0] is None:
            return t.MapTerm((), place=self.here)
        return t.CallTerm("TOMAP", children[0], place=self.here)

    def on_map(self, children: Children) -> t.MapTerm:
        return t.MapTerm(tuple(children), place=self.here)

    def on_entry(self, children: Children) -> t.MapEntry:
        return t.MapEntry(text_value(children[0]), children[1], place=self.here)


def _function_name(callee: t.Term) -> str | None:
    """`a.b.c` as it stands before parentheses; None for what is no name."""
    names: list[str] = []
    while isinstance(callee, t.FieldsTerm):
        if len(callee.columns) != 1 or not isinstance(callee.columns[0], t.NameTerm):
            return None
        names.append(callee.columns[0].name)
        callee = callee.source
    if not isinstance(callee, t.NameTerm):
        return None
    return ".".join((callee.name, *reversed(names)))
