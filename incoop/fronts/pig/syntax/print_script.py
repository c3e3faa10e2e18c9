"""A syntax tree back to text, as `-dryrun` shows it: a statement a line, keywords in capitals.

Contract: reading the text gives the same tree; comments and the layout of the script as written are gone. Statements of
macros and imports are expanded by then, and refused here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.syntax import statements as s
from incoop.fronts.pig.syntax.literals import written_text
from incoop.fronts.pig.syntax.print_terms import print_argument, print_arguments, print_condition, print_schema
from incoop.fronts.pig.syntax.terms import Argument, Term, TupleTerm

#: A word of a command that needs no quotes.
_WORD = re.compile(r"(?!--|/\*)[^\s;'`\\\x00-\x1f\x7f]+")


#: A dollar that would be taken for that of a parameter, or whose backslash would be taken from it.
_DOLLAR = re.compile(r"\$(?=[a-zA-Z_{])|(?<=\\)\$")


def print_script(script: s.PigScript) -> str:
    """The text of a script, in which no parameter is left to replace."""
    printed = "".join(f"{print_statement(each)}\n" for each in script.statements)
    return _DOLLAR.sub(r"\\$", printed)


def print_statement(statement: s.Statement) -> str:
    match statement:
        case s.AssignStatement(alias, operator):
            head = "=> " if alias is None else f"{alias.name} = "
            return f"{head}{print_operator(operator)};"
        case s.RealiasStatement(alias, other):
            return f"{alias.name} = {print_relation(other)};"
        case s.StoreStatement(source, path, function, parallel):
            using = _using(function) + _parallel(parallel)
            return f"STORE {print_relation(source)} INTO {written_text(path)}{using};"
        case s.SplitStatement(source, branches):
            return f"SPLIT {print_relation(source)} INTO {', '.join(map(_branch, branches))};"
        case s.AssertStatement(source, condition, message):
            said = "" if message is None else f", {written_text(message)}"
            return f"ASSERT {print_relation(source)} BY {print_condition(condition)}{said};"
        case s.DefineFunction(name, function):
            return f"DEFINE {name} {_function(function)};"
        case s.DefineCommand():
            return _define_command(statement)
        case s.DefineMacro() | s.MacroCall() | s.ImportStatement():
            raise ValueError(f"{type(statement).__name__} is expanded before a script is printed")
        case _:
            return f"{_command(statement)};"


def _branch(branch: s.SplitBranch) -> str:
    if branch.condition is None:
        return f"{branch.alias.name} OTHERWISE{' ALL' if branch.nulls_too else ''}"
    return f"{branch.alias.name} IF {print_condition(branch.condition)}"


def _define_command(defined: s.DefineCommand) -> str:
    words = [f"DEFINE {defined.name} `{defined.command}`"]
    if defined.ship is not None:
        words.append(f"SHIP({_texts(defined.ship)})")
    if defined.cache:
        words.append(f"CACHE({_texts(defined.cache)})")
    for name, handles in (("INPUT", defined.input), ("OUTPUT", defined.output)):
        if handles:
            words.append(f"{name}({', '.join(map(_handle, handles))})")
    if defined.stderr is not None:
        limit = "" if defined.stderr_limit is None else f" LIMIT {defined.stderr_limit}"
        words.append(f"STDERR({written_text(defined.stderr) + limit if defined.stderr else ''})")
    return f"{' '.join(words)};"


def _handle(handle: s.StreamHandle) -> str:
    return (handle.handle if handle.standard else written_text(handle.handle)) + _using(handle.function)


def _command(statement: s.Statement) -> str:
    match statement:
        case s.RegisterStatement(path, engine, namespace):
            using = "" if engine is None else f" USING {engine}" + (f" AS {namespace}" if namespace else "")
            return f"REGISTER {written_text(path)}{using}"
        case s.SetStatement(key, value):
            return _line("SET", (*(() if key is None else (key,)), *(() if value is None else (value,))))
        case s.DumpStatement(source):
            return f"DUMP{_alias(source)}"
        case s.DescribeStatement(source):
            return f"DESCRIBE{_alias(source)}"
        case s.ExplainStatement(source, script, out, shape, brief):
            flags = ["-brief"] * brief + [f"-{shape}"] * (shape != "text")
            return _line("EXPLAIN", (*flags, *_options(script, out, statement))) + _alias(source)
        case s.IllustrateStatement(source, script, out):
            return _line("ILLUSTRATE", _options(script, out, statement)) + _alias(source)
        case s.ScriptStatement(batch, script):
            words = (*_options(None, None, statement), *(() if script is None else (script,)))
            return _line("EXEC" if batch else "RUN", words)
        case s.ShellStatement(command, words):
            return _line(command, words)
        case _:
            raise AssertionError(statement)


def _options(
    script: str | None, out: str | None, statement: s.ExplainStatement | s.IllustrateStatement | s.ScriptStatement
) -> tuple[str, ...]:
    words: list[str] = []
    for name, values in (
        ("-script", () if script is None else (script,)),
        ("-out", () if out is None else (out,)),
        ("-param", statement.params),
        ("-param_file", statement.param_files),
    ):
        for value in values:
            words += [name, value]
    return tuple(words)


def _line(command: str, words: Iterable[str]) -> str:
    return " ".join((command, *(each if _WORD.fullmatch(each) else written_text(each) for each in words)))


def _alias(source: o.RelationName | o.PreviousRelation | None) -> str:
    return "" if source is None else f" {print_relation(source)}"


def _texts(values: Iterable[str]) -> str:
    return ", ".join(map(written_text, values))


def _function(function: o.FunctionReference) -> str:
    return function.name if function.arguments is None else f"{function.name}({_texts(function.arguments)})"


def _using(function: o.FunctionReference | None) -> str:
    return "" if function is None else f" USING {_function(function)}"


def _parallel(parallel: int | None) -> str:
    return "" if parallel is None else f" PARALLEL {parallel}"


def print_relation(relation: o.Relation) -> str:
    match relation:
        case o.RelationName(name):
            return name
        case o.PreviousRelation():
            return "@"
        case _:
            return f"({print_operator(relation)})"


def print_operator(operator: o.RelationalOperator) -> str:
    return _operator(operator) + _parallel(operator.parallel)


def _operator(operator: o.RelationalOperator) -> str:
    match operator:
        case o.LoadOperator(path, function, schema):
            return f"LOAD {written_text(path)}{_using(function)}{print_schema(schema)}"
        case o.FilterOperator(source, condition):
            return f"FILTER {print_relation(source)} BY {print_condition(condition)}"
        case o.ForeachOperator():
            return _foreach(operator)
        case o.GroupOperator(inputs, hint, partitioner):
            word = "GROUP" if len(inputs) == 1 else "COGROUP"
            return f"{word} {', '.join(map(_group_input, inputs))}{_hint(hint)}{_partition(partitioner)}"
        case o.JoinOperator(inputs, kind, hint, partitioner):
            between = ", " if kind is o.JoinWord.INNER else f" {kind.value.upper()} OUTER, "
            joined = between.join(f"{print_relation(each.source)} BY {_keys(each.keys)}" for each in inputs)
            return f"JOIN {joined}{_hint(hint)}{_partition(partitioner)}"
        case o.OrderOperator(source, keys, function):
            return f"ORDER {print_relation(source)} BY {_sort_keys(keys)}{_using(function)}"
        case o.RankOperator(source, keys, dense):
            by = f" BY {_sort_keys(keys)}{' DENSE' if dense else ''}" if keys else ""
            return f"RANK {print_relation(source)}{by}"
        case o.DistinctOperator(source, partitioner):
            return f"DISTINCT {print_relation(source)}{_partition(partitioner)}"
        case o.LimitOperator(source, count):
            return f"LIMIT {print_relation(source)} {print_argument(count)}"
        case o.SampleOperator(source, size):
            return f"SAMPLE {print_relation(source)} {print_argument(size)}"
        case o.CrossOperator(sources, partitioner):
            return f"CROSS {', '.join(map(print_relation, sources))}{_partition(partitioner)}"
        case o.UnionOperator(sources, onschema):
            return f"UNION {'ONSCHEMA ' if onschema else ''}{', '.join(map(print_relation, sources))}"
        case o.CubeOperator(source, dimensions):
            by = ", ".join(f"{'ROLLUP' if d.rollup else 'CUBE'}({print_arguments(d.columns)})" for d in dimensions)
            return f"CUBE {print_relation(source)} BY {by}"
        case o.StreamOperator(source, command, name, schema):
            through = name if command is None else f"`{command}`"
            return f"STREAM {print_relation(source)} THROUGH {through}{print_schema(schema)}"
        case o.NativeOperator():
            return _native(operator)


def _foreach(operator: o.ForeachOperator) -> str:
    head = f"FOREACH {print_relation(operator.source)}"
    if not operator.block:
        return f"{head} GENERATE {_items(operator.items)}"
    nested = "".join(f"    {each.name} = {_nested(each.value)};\n" for each in operator.nested)
    return f"{head} {{\n{nested}    GENERATE {_items(operator.items)};\n}}"


def _items(items: Iterable[o.GenerateItem]) -> str:
    return ", ".join(
        (f"FLATTEN({print_argument(each.term)})" if each.flatten else print_argument(each.term))
        + print_schema(each.schema)
        for each in items
    )


def _nested(value: o.NestedOperator | Term) -> str:
    match value:
        case o.NestedFilter(source, condition):
            return f"FILTER {print_argument(source)} BY {print_condition(condition)}"
        case o.NestedOrder(source, keys, function):
            return f"ORDER {print_argument(source)} BY {_sort_keys(keys)}{_using(function)}"
        case o.NestedDistinct(source):
            return f"DISTINCT {print_argument(source)}"
        case o.NestedLimit(source, count):
            return f"LIMIT {print_argument(source)} {print_argument(count)}"
        case o.NestedCross(sources):
            return f"CROSS {print_arguments(sources)}"
        case o.NestedForeach(source, items):
            return f"FOREACH {print_argument(source)} GENERATE {_items(items)}"
        case _:
            return print_argument(value)


def _group_input(each: o.GroupedInput) -> str:
    by = f"BY {_keys(each.keys)}" if each.keys else "ALL"
    return f"{print_relation(each.source)} {by}{f' {each.side.value.upper()}' if each.side else ''}"


def _keys(keys: tuple[Argument, ...]) -> str:
    """Several in parentheses. A single tuple needs a call: parentheses around it would be those of the keys."""
    if len(keys) == 1 and not isinstance(keys[0], TupleTerm):
        return print_argument(keys[0])
    return f"({print_arguments(keys)})" if len(keys) > 1 else f"TOTUPLE({print_arguments(keys)})"


def _sort_keys(keys: Iterable[o.SortColumn]) -> str:
    return ", ".join(f"{print_argument(each.column)}{' DESC' if each.descending else ''}" for each in keys)


def _hint(hint: str | None) -> str:
    return "" if hint is None else f" USING {written_text(hint)}"


def _partition(partitioner: str | None) -> str:
    return "" if partitioner is None else f" PARTITION BY {partitioner}"


def _native(operator: o.NativeOperator) -> str:
    jars = f" ({_texts(operator.jars)})" if operator.jars else ""
    arguments = "" if operator.arguments is None else f" `{operator.arguments}`"
    return (
        f"MAPREDUCE {written_text(operator.jar)}{jars} STORE {print_relation(operator.source)}"
        f" INTO {written_text(operator.into)}{_using(operator.storer)} {_operator(operator.load)}{arguments}"
    )
