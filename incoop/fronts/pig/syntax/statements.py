"""Nodes of statements. A script that was read has all of them but those of macros and imports, which are expanded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from incoop.fronts.pig.syntax.nodes import PigNode
from incoop.fronts.pig.syntax.operators import (
    FunctionReference,
    PreviousRelation,
    Relation,
    RelationalOperator,
    RelationName,
)
from incoop.fronts.pig.syntax.places import Excerpt
from incoop.fronts.pig.syntax.terms import Term


@dataclass(frozen=True, slots=True)
class AssignStatement(PigNode):
    """`alias = operator;`; the alias is None after `=>`, where `@` is the only name it has."""

    alias: RelationName | None
    operator: RelationalOperator


@dataclass(frozen=True, slots=True)
class RealiasStatement(PigNode):
    """`alias = other;`."""

    alias: RelationName
    other: RelationName | PreviousRelation


@dataclass(frozen=True, slots=True)
class StoreStatement(PigNode):
    """`STORE source INTO 'path' USING function;`."""

    source: Relation
    path: str
    function: FunctionReference | None = None
    parallel: int | None = None


@dataclass(frozen=True, slots=True)
class SplitBranch(PigNode):
    """`alias IF condition`; the condition is None for OTHERWISE."""

    alias: RelationName
    condition: Term | None
    #: OTHERWISE ALL: rows whose condition is null, too.
    nulls_too: bool = False


@dataclass(frozen=True, slots=True)
class SplitStatement(PigNode):
    """`SPLIT source INTO alias IF condition, …, alias OTHERWISE;`."""

    source: Relation
    branches: tuple[SplitBranch, ...]


@dataclass(frozen=True, slots=True)
class AssertStatement(PigNode):
    """`ASSERT source BY condition, 'message';`."""

    source: Relation
    condition: Term
    message: str | None = None


@dataclass(frozen=True, slots=True)
class RegisterStatement(PigNode):
    """`REGISTER 'path' USING engine AS namespace;`; a jar is one, too."""

    path: str
    engine: str | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class DefineFunction(PigNode):
    """`DEFINE name function('argument');`."""

    name: str
    function: FunctionReference


@dataclass(frozen=True, slots=True)
class StreamHandle(PigNode):
    """What a command reads or writes: 'stdin', 'stdout', or a file, with a function that (de)serializes."""

    handle: str
    #: Whether `handle` is the keyword STDIN or STDOUT, not a file of that name.
    standard: bool
    function: FunctionReference | None = None


@dataclass(frozen=True, slots=True)
class DefineCommand(PigNode):
    """``DEFINE name `command` SHIP('a') CACHE('b') INPUT(…) OUTPUT(…) STDERR('log' LIMIT 5);``."""

    name: str
    command: str
    #: None where there is no SHIP; empty for SHIP().
    ship: tuple[str, ...] | None = None
    cache: tuple[str, ...] = ()
    input: tuple[StreamHandle, ...] = ()
    output: tuple[StreamHandle, ...] = ()
    #: Where the log of errors goes; empty for STDERR(), None where nothing was said.
    stderr: str | None = None
    stderr_limit: int | None = None


@dataclass(frozen=True, slots=True)
class SetStatement(PigNode):
    """`SET key value`; both None for SET alone, which lists them."""

    key: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class DumpStatement(PigNode):
    """`DUMP alias`; the relation is None for DUMP alone: the last."""

    source: RelationName | PreviousRelation | None = None


@dataclass(frozen=True, slots=True)
class DescribeStatement(PigNode):
    """`DESCRIBE alias`; the name may be `alias::nested`."""

    source: RelationName | PreviousRelation | None = None


@dataclass(frozen=True, slots=True)
class ExplainStatement(PigNode):
    """`EXPLAIN -brief -dot -out path -script path -param k=v alias`; the whole script, if there is no alias."""

    source: RelationName | PreviousRelation | None = None
    script: str | None = None
    out: str | None = None
    format: str = "text"
    brief: bool = False
    params: tuple[str, ...] = ()
    param_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IllustrateStatement(PigNode):
    """`ILLUSTRATE alias`, or of a script."""

    source: RelationName | PreviousRelation | None = None
    script: str | None = None
    out: str | None = None
    params: tuple[str, ...] = ()
    param_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptStatement(PigNode):
    """`RUN` and `EXEC -param k=v -param_file file script`; the script is None for EXEC alone: run what came so far."""

    #: EXEC: the script does not see our aliases, nor we its.
    batch: bool
    script: str | None = None
    params: tuple[str, ...] = ()
    param_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShellStatement(PigNode):
    """`fs`, `sh`, `rm`, `rmf`, `cat`, `ls`, `cd`, `pwd`, `mkdir`, `cp`, `mv`, `copyFromLocal`, `copyToLocal`, `kill`,
    `help`, `history`, `clear`, `aliases`, `quit`, `sql`, with their words. The command is in Pig's own spelling."""

    command: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DefineMacro(PigNode):
    """`DEFINE name (parameters) RETURNS names { body }`; not in a script that was read."""

    name: str
    parameters: tuple[str, ...]
    returns: tuple[str, ...]
    body: Excerpt = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MacroCall(PigNode):
    """`outputs = name(arguments);`; not in a script that was read. Quotes around an argument are gone."""

    outputs: tuple[RelationName, ...]
    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportStatement(PigNode):
    """`IMPORT 'file';`; not in a script that was read."""

    path: str


Statement = (
    AssignStatement
    | RealiasStatement
    | StoreStatement
    | SplitStatement
    | AssertStatement
    | RegisterStatement
    | DefineFunction
    | DefineCommand
    | SetStatement
    | DumpStatement
    | DescribeStatement
    | ExplainStatement
    | IllustrateStatement
    | ScriptStatement
    | ShellStatement
    | DefineMacro
    | MacroCall
    | ImportStatement
)


@dataclass(frozen=True, slots=True)
class PigScript:
    """A script that was read: its statements in their order, and the parameters as they were at its end."""

    file: str
    statements: tuple[Statement, ...]
    parameters: Mapping[str, str] = field(default_factory=dict, compare=False)
