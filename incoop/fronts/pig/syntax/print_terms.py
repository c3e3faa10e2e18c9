"""Expressions, types and schemas back to text, which is read as the same tree.

Contract: parentheses stand only where they are needed: around a single literal they would make a tuple.
"""

from __future__ import annotations

from collections.abc import Iterable

from incoop.fronts.pig.syntax import terms as t
from incoop.fronts.pig.syntax.literals import written_number, written_text

#: How strongly what is printed holds together: what a place demands, and what a term has.
_CONDITION, _CONJUNCTION, _NEGATION, _TEST, _SUM, _PRODUCT, _SIGNED, _PRIMARY = range(8)


def print_type(type_name: t.TypeName) -> str:
    match type_name:
        case t.ScalarTypeName(word):
            return word.value
        case t.TupleTypeName(declared):
            return f"tuple({print_fields(declared)})"
        case t.BagTypeName(row, row_name):
            named = f"{row_name}: " if row_name is not None else ""
            return f"bag{{{named + print_type(row) if row is not None else ''}}}"
        case t.MapTypeName(value):
            return f"map[{print_type(value) if value is not None else ''}]"


def print_field(declared: t.FieldDeclaration) -> str:
    if declared.name is None:
        return print_type(declared.type) if declared.type is not None else "()"
    return declared.name if declared.type is None else f"{declared.name}: {print_type(declared.type)}"


def print_fields(declared: Iterable[t.FieldDeclaration]) -> str:
    return ", ".join(map(print_field, declared))


def print_schema(declared: tuple[t.FieldDeclaration, ...] | None) -> str:
    return "" if declared is None else f" AS ({print_fields(declared)})"


def print_argument(term: t.Argument) -> str:
    """What stands between commas: an expression, `*`, a range."""
    match term:
        case t.StarTerm():
            return "*"
        case t.RangeTerm(first, last):
            return f"{print_argument(first) if first else ''}..{print_argument(last) if last else ''}"
        case _:
            return _term(term, _SUM)


def print_arguments(terms: Iterable[t.Argument]) -> str:
    return ", ".join(map(print_argument, terms))


def print_condition(term: t.Term) -> str:
    return _term(term, _CONDITION)


def print_columns(columns: tuple[t.ColumnTerm, ...]) -> str:
    return print_argument(columns[0]) if len(columns) == 1 else f"({print_arguments(columns)})"


def _term(term: t.Term, demanded: int) -> str:
    text, strength = _printed(term)
    return text if strength >= demanded else f"({text})"


def _printed(term: t.Term) -> tuple[str, int]:
    """The text of a term, and how strongly it holds together."""
    match term:
        case t.LogicTerm("or", operands):
            first, *others = operands
            return " OR ".join((_term(first, _CONDITION), *(_term(each, _CONJUNCTION) for each in others))), _CONDITION
        case t.LogicTerm(_, operands):
            first, *others = operands
            return " AND ".join(
                (_term(first, _CONJUNCTION), *(_term(each, _NEGATION) for each in others))
            ), _CONJUNCTION
        case t.NotTerm(operand):
            return f"NOT {_term(operand, _NEGATION)}", _NEGATION
        case t.ComparisonTerm(operator, left, right):
            return f"{_term(left, _SUM)} {operator.upper()} {_term(right, _SUM)}", _TEST
        case t.NullTestTerm(operand, negated):
            return f"{_term(operand, _SUM)} IS {'NOT ' if negated else ''}NULL", _TEST
        case t.MembershipTerm(operand, choices):
            return f"{_term(operand, _SUM)} IN ({', '.join(_term(each, _SUM) for each in choices)})", _TEST
        case t.ArithmeticTerm(("+" | "-") as operator, left, right):
            return f"{_term(left, _SUM)} {operator} {_term(right, _PRODUCT)}", _SUM
        case t.ArithmeticTerm(operator, left, right):
            return f"{_term(left, _PRODUCT)} {operator} {_term(right, _SIGNED)}", _PRODUCT
        case t.NegativeTerm(operand):
            # A blank: two signs side by side would begin a comment.
            return f"- {_term(operand, _SIGNED)}" if isinstance(
                operand, t.NegativeTerm
            ) else f"-{_term(operand, _SIGNED)}", _SIGNED
        case t.CastTerm(type_name, operand):
            return f"({_cast_type(type_name)}) {_term(operand, _SIGNED)}", _SIGNED
        case t.BincondTerm(condition, chosen, otherwise):
            return f"({print_condition(condition)} ? {_term(chosen, _SUM)} : {_term(otherwise, _SUM)})", _SIGNED
        case _:
            return _primary(term), _PRIMARY


def _primary(term: t.Term) -> str:
    match term:
        case t.LiteralTerm():
            return _literal(term)
        case t.NameTerm(name):
            return name
        case t.IndexTerm(index):
            return f"${index}"
        case t.FieldsTerm(source, columns):
            return f"{_term(source, _PRIMARY)}.{print_columns(columns)}"
        case t.LookupTerm(source, key):
            return f"{_term(source, _PRIMARY)}#{'null' if key is None else written_text(key)}"
        case t.CallTerm(function, arguments):
            return f"{function}({print_arguments(arguments)})"
        case t.CaseTerm(subject, branches, otherwise):
            return _case(subject, branches, otherwise)
        case t.TupleTerm(items):
            return f"({print_arguments(items)})"
        case t.BagTerm(items):
            return f"{{{print_arguments(items)}}}"
        case t.MapTerm(entries):
            return f"[{', '.join(f'{written_text(each.key)}#{_term(each.value, _SUM)}' for each in entries)}]"
        case _:
            raise AssertionError(term)


def _case(subject: t.Term | None, branches: tuple[t.CaseBranch, ...], otherwise: t.Term | None) -> str:
    words = ["CASE"] if subject is None else ["CASE", _term(subject, _SUM)]
    for each in branches:
        condition = _term(each.condition, _CONDITION if subject is None else _SUM)
        words += ["WHEN", condition, "THEN", _term(each.chosen, _SUM)]
    if otherwise is not None:
        words += ["ELSE", _term(otherwise, _SUM)]
    return " ".join((*words, "END"))


def _literal(term: t.LiteralTerm) -> str:
    match term.value:
        case None:
            return "null"
        case bool(value):
            return str(value).lower()
        case str(value):
            return written_text(value)
        case value:
            return written_number(term.kind, value)


def _cast_type(type_name: t.TypeName) -> str:
    """A type in a cast: the row of a bag has no name there."""
    return print_type(t.BagTypeName(type_name.row)) if isinstance(type_name, t.BagTypeName) else print_type(type_name)
