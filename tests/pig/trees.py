"""Random syntax trees of Pig Latin, as a parser could give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.syntax import statements as s
from incoop.fronts.pig.syntax import terms as t

#: Names, and the keywords that Pig takes for names wherever they stand.
NAMES = st.sampled_from(["a", "b2", "Total_1", "group", "rank", "cube", "end", "in", "then", "else"])
ALIASES = st.sampled_from(["a", "students", "B", "rank", "cube", "end", "then", "macro_m_x_0"])
PREFIXED = NAMES | st.builds("{}::{}".format, ALIASES, NAMES)
FUNCTIONS = st.sampled_from(["COUNT", "org.example.Strip", "f", "ns.len"])
TEXTS = st.text(max_size=8) | st.sampled_from(
    ["it's", "\\d+", "$x ${y} \\$z", "-- no /* comment */", "a;b", "\r\n\t", "`"]
)
WORDS = st.sampled_from(["x.pig", "/tmp/*", "a b", "it's", "-rmr", "k=v", "$in", "$1", "a;b", "", "a\\b", "a'b"])


def _tuples(items: st.SearchStrategy[Any], least: int = 0, most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def _maybe(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | items


# ---- types

_SCALARS = st.builds(t.ScalarTypeName, st.sampled_from(t.TypeWord))


def _wider(types: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.builds(t.FieldDeclaration, NAMES, _maybe(types)) | st.builds(t.FieldDeclaration, st.none(), types)
    rows = st.builds(t.TupleTypeName, _tuples(fields))
    bags = st.builds(t.BagTypeName, rows, _maybe(NAMES)) | st.just(t.BagTypeName())
    return rows | bags | st.builds(t.MapTypeName, _maybe(types))


TYPES = st.recursive(_SCALARS, _wider, max_leaves=5)
FIELDS = st.builds(t.FieldDeclaration, NAMES, _maybe(TYPES)) | st.builds(t.FieldDeclaration, st.none(), TYPES)
SCHEMAS = _maybe(_tuples(FIELDS))
#: Without fields, GENERATE could not say AS.
ITEM_SCHEMAS = _maybe(_tuples(FIELDS, 1))


def _wider_casts(types: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    rows = st.builds(t.TupleTypeName, _tuples(st.builds(t.FieldDeclaration, _maybe(NAMES), types)))
    return rows | st.builds(t.BagTypeName, _maybe(rows)) | st.builds(t.MapTypeName, _maybe(types))


CAST_TYPES = st.recursive(_SCALARS, _wider_casts, max_leaves=4)

# ---- expressions

_WHOLE = st.integers(0, 10**20)
_DECIMALS = st.decimals(0, 10**9, allow_nan=False, allow_infinity=False)
LITERALS = st.one_of(
    st.builds(
        t.LiteralTerm, st.sampled_from([t.LiteralKind.INT, t.LiteralKind.LONG, t.LiteralKind.BIGINTEGER]), _WHOLE
    ),
    st.builds(
        t.LiteralTerm, st.sampled_from([t.LiteralKind.FLOAT, t.LiteralKind.DOUBLE, t.LiteralKind.BIGDECIMAL]), _DECIMALS
    ),
    st.builds(t.LiteralTerm, st.just(t.LiteralKind.CHARARRAY), TEXTS),
    st.builds(t.LiteralTerm, st.just(t.LiteralKind.BOOLEAN), st.booleans()),
    st.just(t.LiteralTerm(t.LiteralKind.NULL, None)),
)
COLUMNS = st.builds(t.NameTerm, PREFIXED) | st.builds(t.IndexTerm, st.integers(0, 300))
RANGES = st.one_of(st.builds(t.RangeTerm, COLUMNS, _maybe(COLUMNS)), st.builds(t.RangeTerm, st.none(), COLUMNS))
_STARS = st.just(t.StarTerm())


def _primaries(terms: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    arguments = terms | _STARS | RANGES
    return st.one_of(
        COLUMNS,
        st.builds(t.CallTerm, FUNCTIONS, _tuples(arguments)),
        st.builds(t.TupleTerm, _tuples(arguments, 2)),
        st.builds(t.TupleTerm, _tuples(_STARS | RANGES, 0, 1)),
        st.builds(t.BagTerm, _tuples(arguments)),
        st.builds(t.MapTerm, _tuples(st.builds(t.MapEntry, TEXTS, terms))),
        st.builds(t.CaseTerm, _maybe(terms), _tuples(st.builds(t.CaseBranch, terms, terms), 1), _maybe(terms)),
    )


def _logic(operator: str, terms: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A chain is one node, so none begins with a chain of its own kind."""
    first = terms.filter(lambda term: not (isinstance(term, t.LogicTerm) and term.operator == operator))
    return st.builds(lambda one, more: t.LogicTerm(operator, (one, *more)), first, _tuples(terms, 1))


def _wider_terms(terms: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    primaries = _primaries(terms)
    return st.one_of(
        primaries,
        st.builds(t.TupleTerm, _tuples(LITERALS, 1, 1)),
        st.builds(t.FieldsTerm, primaries, _tuples(COLUMNS, 1)),
        st.builds(t.LookupTerm, primaries, _maybe(TEXTS)),
        st.builds(t.CastTerm, CAST_TYPES, terms),
        st.builds(t.NegativeTerm, terms),
        st.builds(t.ArithmeticTerm, st.sampled_from("+-*/%"), terms, terms),
        st.builds(t.ComparisonTerm, st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "matches"]), terms, terms),
        _logic("and", terms),
        _logic("or", terms),
        st.builds(t.NotTerm, terms),
        st.builds(t.NullTestTerm, terms, st.booleans()),
        st.builds(t.MembershipTerm, terms, _tuples(terms, 1)),
        st.builds(t.BincondTerm, terms, terms, terms),
    )


TERMS = st.recursive(LITERALS | COLUMNS, _wider_terms, max_leaves=8)
ARGUMENTS = TERMS | _STARS | RANGES

# ---- operators

REFERENCES = st.builds(o.FunctionReference, FUNCTIONS, _maybe(_tuples(TEXTS)))
_PARALLEL = {"parallel": _maybe(st.integers(1, 99))}
_PARTITIONERS = _maybe(FUNCTIONS)
SORTED = _tuples(st.builds(o.SortColumn, COLUMNS | RANGES, st.booleans()), 1) | st.builds(
    lambda down: (o.SortColumn(t.StarTerm(), down),), st.booleans()
)
#: A single tuple is the parentheses of the keys, but in TOTUPLE.
KEYS = _tuples(ARGUMENTS, 1)
ITEMS = _tuples(
    st.builds(o.GenerateItem, ARGUMENTS, st.just(False), ITEM_SCHEMAS)
    | st.builds(o.GenerateItem, TERMS, st.just(True), ITEM_SCHEMAS),
    1,
)
_NESTED_INPUTS = COLUMNS | st.builds(t.FieldsTerm, COLUMNS, _tuples(COLUMNS, 1))
_NESTED = st.builds(
    o.NestedStatement,
    NAMES,
    st.one_of(
        TERMS,
        st.builds(o.NestedFilter, _NESTED_INPUTS, TERMS),
        st.builds(o.NestedOrder, _NESTED_INPUTS, SORTED, _maybe(REFERENCES)),
        st.builds(o.NestedDistinct, _NESTED_INPUTS),
        st.builds(o.NestedLimit, _NESTED_INPUTS, TERMS),
        st.builds(o.NestedCross, _tuples(_NESTED_INPUTS, 1)),
        st.builds(o.NestedForeach, _NESTED_INPUTS, ITEMS),
    ),
)
_LOADS = st.builds(o.LoadOperator, TEXTS, _maybe(REFERENCES), SCHEMAS, **_PARALLEL)
_COMMANDS = st.sampled_from(["cat -", "awk '{print $1}'", "echo $HOME \\$x", "a;b"])


def _operators(sources: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def built(kind: Callable[..., Any], *given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.builds(kind, *given, **_PARALLEL)

    joined = st.builds(o.JoinedInput, sources, KEYS)
    grouped = st.builds(o.GroupedInput, sources, _tuples(ARGUMENTS), _maybe(st.sampled_from(o.GroupSide)))
    dimensions = st.builds(o.CubeDimension, st.booleans(), _tuples(ARGUMENTS, 1))
    return st.one_of(
        built(o.FilterOperator, sources, TERMS),
        built(o.ForeachOperator, sources, ITEMS),
        built(o.ForeachOperator, sources, ITEMS, _tuples(_NESTED), st.just(True)),
        built(o.GroupOperator, _tuples(grouped, 1), _maybe(TEXTS), _PARTITIONERS),
        built(o.JoinOperator, _tuples(joined, 2), st.just(o.JoinWord.INNER), _maybe(TEXTS), _PARTITIONERS),
        built(o.JoinOperator, _tuples(joined, 2, 2), st.sampled_from(o.JoinWord), _maybe(TEXTS), _PARTITIONERS),
        built(o.OrderOperator, sources, SORTED, _maybe(REFERENCES)),
        st.builds(
            lambda source, keys, dense: o.RankOperator(source, keys, dense and bool(keys)),
            sources,
            st.just(()) | SORTED,
            st.booleans(),
        ),
        built(o.DistinctOperator, sources, _PARTITIONERS),
        built(o.LimitOperator, sources, TERMS),
        built(o.SampleOperator, sources, TERMS),
        built(o.CrossOperator, _tuples(sources, 1), _PARTITIONERS),
        built(o.UnionOperator, _tuples(sources, 1), st.booleans()),
        built(o.CubeOperator, sources, _tuples(dimensions, 1)),
        built(o.StreamOperator, sources, _COMMANDS, st.none(), SCHEMAS),
        built(o.StreamOperator, sources, st.none(), NAMES, SCHEMAS),
    )


_RELATION_NAMES = st.builds(o.RelationName, ALIASES)
_NAMED = _RELATION_NAMES | st.just(o.PreviousRelation())
OPERATORS = _LOADS | _operators(_NAMED | _LOADS | _operators(_NAMED))
RELATIONS = _NAMED | OPERATORS

# ---- statements

_BRANCHES = st.builds(s.SplitBranch, _RELATION_NAMES, TERMS) | st.builds(
    s.SplitBranch, _RELATION_NAMES, st.none(), st.booleans()
)
_HANDLES = st.builds(
    s.StreamHandle, st.sampled_from(["stdin", "stdout"]), st.just(True), _maybe(REFERENCES)
) | st.builds(s.StreamHandle, TEXTS, st.just(False), _maybe(REFERENCES))
_DEFINED = st.builds(
    s.DefineCommand,
    NAMES,
    _COMMANDS,
    _maybe(_tuples(TEXTS)),
    _tuples(TEXTS),
    _tuples(_HANDLES),
    _tuples(_HANDLES),
    _maybe(TEXTS),
)
STATEMENTS = st.one_of(
    st.builds(s.AssignStatement, _maybe(_RELATION_NAMES), OPERATORS),
    st.builds(s.RealiasStatement, _RELATION_NAMES, _NAMED),
    st.builds(s.StoreStatement, RELATIONS, TEXTS, _maybe(REFERENCES), _maybe(st.integers(1, 9))),
    st.builds(s.SplitStatement, RELATIONS, _tuples(_BRANCHES, 1)),
    st.builds(s.AssertStatement, RELATIONS, TERMS, _maybe(TEXTS)),
    st.builds(s.RegisterStatement, TEXTS.filter(lambda text: text != "")),
    st.builds(s.RegisterStatement, st.just("udfs/*.py"), st.just("jython"), _maybe(st.just("f"))),
    st.builds(s.DefineFunction, NAMES, REFERENCES),
    _DEFINED,
    st.builds(s.SetStatement, st.just("job.name"), _maybe(TEXTS.filter(str.strip))),
    st.builds(s.DumpStatement, _maybe(_NAMED)),
    st.builds(s.DescribeStatement, _maybe(_NAMED)),
    st.builds(
        s.ExplainStatement,
        _maybe(_NAMED),
        _maybe(st.just("x.pig")),
        _maybe(st.just("out")),
        st.sampled_from(["text", "dot", "xml"]),
        st.booleans(),
        _tuples(WORDS),
        _tuples(WORDS),
    ),
    st.builds(s.IllustrateStatement, _maybe(_NAMED), _maybe(st.just("x.pig")), st.none(), _tuples(WORDS)),
    st.builds(s.ScriptStatement, st.booleans(), _maybe(st.just("x.pig")), _tuples(WORDS), _tuples(WORDS)),
    st.builds(s.ShellStatement, st.sampled_from(["fs", "sh", "rm", "rmf", "cat"]), _tuples(WORDS, 1)),
    st.builds(s.ShellStatement, st.sampled_from(["cp", "mv", "copyFromLocal", "copyToLocal"]), _tuples(WORDS, 2, 2)),
    st.builds(s.ShellStatement, st.sampled_from(["pwd", "help", "ls"])),
)
SCRIPTS = st.builds(s.PigScript, st.just("script"), _tuples(STATEMENTS))
