"""LOAD, STORE and STREAM: what comes in and goes out, in which format.

Contract: a scan is named by the alias that it was loaded as, not by its path, so that another path does not make
another query; the scope knows the path. Only a schema that lies beside the data is looked at here.
"""

from __future__ import annotations

from incoop.base.errors import BadCall
from incoop.base.paths import local_path
from incoop.fronts.pig import formats
from incoop.fronts.pig.errors import PigPosition, at, refuse
from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.syntax.statements import DefineCommand
from incoop.fronts.pig.translation.schema_beside import with_schema_beside
from incoop.fronts.pig.translation.scope import LoadedPath, ScriptRelation, ScriptScope
from incoop.fronts.pig.types import fields_of
from incoop.query.errors import BadPlan, QueryError, nearest
from incoop.query.plan.single import Scan, Store, StreamThrough
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.sources.text_format import Format

#: What reads and writes lines with tabs.
_TABBED = ("PigStreaming", "PigStorage")
_DEFAULT = o.FunctionReference("PigStorage")


def loaded(alias: str | None, operator: o.LoadOperator, script: ScriptScope) -> ScriptRelation:
    where = at(operator)
    served(operator.path, where)
    called = _called(operator.function, script)
    place = where if operator.function is None else at(operator.function)
    declared = None if operator.schema is None else fields_of(operator.schema)
    fields = with_schema_beside(called, operator.path, declared, script, place)
    form = formats.format_of(called.name, called.arguments or (), Schema(fields), place, loads=True)
    plan = Scan(_scan_name(alias, operator, form, script), form, position=at(operator))
    return ScriptRelation(None, plan, form.schema)


def served(path: str, where: PigPosition) -> str:
    """A path of this machine; other file systems are refused at their place."""
    try:
        return local_path(path)
    except BadCall as error:
        raise QueryError(str(error), where) from error


def _scan_name(alias: str | None, operator: o.LoadOperator, form: Format, script: ScriptScope) -> str:
    """The alias; with a number behind it where that is taken by another path or format."""
    wanted = LoadedPath(operator.path, script.folder, form, at(operator))
    for name, known in script.loads.items():
        if (known.path, known.folder, known.form) == (wanted.path, wanted.folder, wanted.form):
            return name
    name, number = alias or "input", 1
    while name in script.loads:
        number += 1
        name = f"{alias or 'input'}#{number}"
    script.loads[name] = wanted
    return name


def _called(function: o.FunctionReference | None, script: ScriptScope) -> o.FunctionReference:
    """What USING names; PigStorage where it names nothing."""
    called = function or _DEFAULT
    defined = script.functions.get(called.name)
    if defined is None:
        return called
    return o.FunctionReference(defined.name, called.arguments or defined.arguments)


def stored(
    name: str, source: ScriptRelation, function: o.FunctionReference | None, script: ScriptScope, where: PigPosition
) -> tuple[Store, dict[str, bytes]]:
    """What STORE writes, and the files beside it."""
    called = _called(function, script)
    place = where if function is None else at(function)
    form = formats.format_of(called.name, called.arguments or (), source.schema, place)
    return Store(source.plan, name, form, position=where), formats.files_beside(
        called.name, called.arguments or (), form, place
    )


# ---- STREAM


def streamed(source: ScriptRelation, operator: o.StreamOperator, script: ScriptScope) -> ScriptRelation:
    """Rows go through a command as tabbed lines, and come back so."""
    where = at(operator)
    command = operator.command or ""
    if operator.name is not None:
        defined = script.commands.get(operator.name)
        if defined is None:
            raise BadPlan(
                f"there is no command {operator.name}{nearest(operator.name, script.commands)} "
                f"DEFINE {operator.name} `command`; says what it is.",
                where,
            )
        command = _command(defined, script)
    sent = DelimitedText(source.schema)
    received = DelimitedText(Schema(None if operator.schema is None else fields_of(operator.schema)))
    plan = StreamThrough(source.plan, command, sent, received, position=where)
    return ScriptRelation(None, plan, received.schema)


def _command(defined: DefineCommand, script: ScriptScope) -> str:
    """A defined command, the files that it ships by their paths."""
    for handle in (*defined.input, *defined.output):
        if not handle.standard:
            refuse("commands read standard input and write standard output here. Leave out INPUT and OUTPUT.", handle)
        if handle.function is not None and handle.function.name.rpartition(".")[2] not in _TABBED:
            refuse("a command gets and gives lines with tabs here. Leave out its USING.", handle)
    words = defined.command.split(" ")
    for path in (*(defined.ship or ()), *defined.cache):
        file = (script.folder / path.partition("#")[0]).absolute()
        name = path.partition("#")[2] or file.name
        words = [str(file) if word in (name, f"./{name}", path) else word for word in words]
    return " ".join(words)
