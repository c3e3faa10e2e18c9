"""What the options and properties of a job mean: separators, order, partitions, limits."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from incoop.base.errors import BadCall
from incoop.base.paths import local_path
from incoop.fronts.streaming.key_fields import KeyField, parse_fields
from incoop.fronts.streaming.lines import KeyRule, LineOrder
from incoop.fronts.streaming.options import Options
from incoop.fronts.streaming.partitions import Partitioner
from incoop.fronts.streaming.properties import separator, truth, whole_number

#: Hadoop's default for mapreduce.task.timeout, in milliseconds.
_TIMEOUT = 600_000

#: Packages that classes may be named with.
_PACKAGE = re.compile(r"^org\.apache\.hadoop\.(mapred|mapreduce|io|streaming)\.(lib\.)?([a-z]+\.)*")
_JAVA_CLASS = re.compile(r"[a-z]\w*(\.[a-z]\w*)+\.[A-Z]\w*")


@dataclass(frozen=True, slots=True)
class Settings:
    """How records are cut, ordered, partitioned and written."""

    reducers: int
    order: LineOrder
    partitioner: Partitioner
    #: Between key and value of what combiners and reducers read.
    input_separator: bytes
    #: How what reducers and combiners print is read.
    reduce_printed: KeyRule
    combine_printed: KeyRule
    #: Between key and value in part files.
    output_separator: bytes
    #: Whether it also follows a key without a value, as in Hadoop.
    trailing: bool
    #: Between key and value of KeyValueTextInputFormat; None for TextInputFormat.
    key_value_separator: bytes | None
    #: Seconds without progress; None for any.
    timeout: float | None
    exit_code_counts: bool
    #: Whether mappers get their input file's name; None to look whether they mention it.
    input_file: bool | None
    depends_on: tuple[Path, ...]
    #: Whether a combiner is tried on a sample before it runs for the first time.
    tries_combiner: bool

    @classmethod
    def of(cls, options: Options) -> Settings:
        """Read a job's options; raises BadCall for what cannot work, and notes what has no effect."""
        properties = options.properties
        if simple_name(options.output_format or "TextOutputFormat") != "TextOutputFormat":
            raise BadCall(f"-outputformat {options.output_format} is not supported; there is TextOutputFormat.")
        for name in ("stream.map.input", "stream.map.output", "stream.reduce.input", "stream.reduce.output"):
            if properties.get(name, "text") != "text":
                raise BadCall(f"{name}={properties[name]} is not supported; records are lines of text.")
        fields = whole_number(properties, "stream.num.map.output.key.fields", 1)
        rule = KeyRule(separator(properties, "stream.map.output.field.separator"), fields)
        printed_by = separator(properties, "stream.reduce.output.field.separator")
        within_key = separator(properties, "mapreduce.map.output.key.field.separator")
        reducers = 0 if options.reducer == "NONE" else whole_number(properties, "mapreduce.job.reduces", 1)
        timeout = whole_number(properties, "mapreduce.task.timeout", _TIMEOUT)
        return cls(
            reducers=reducers,
            order=LineOrder(rule, _comparator(options), within_key),
            partitioner=_partitioner(options, max(1, reducers), within_key),
            input_separator=separator(properties, "stream.reduce.input.field.separator"),
            reduce_printed=KeyRule(printed_by, whole_number(properties, "stream.num.reduce.output.key.fields", 1)),
            combine_printed=KeyRule(
                printed_by, whole_number(properties, "stream.num.reduce.output.key.fields", fields)
            ),
            output_separator=separator(properties, "mapreduce.output.textoutputformat.separator"),
            trailing=truth(properties, "incoop.trailing.separator", False),
            key_value_separator=_key_value_separator(options),
            timeout=timeout / 1000 if timeout else None,
            exit_code_counts=truth(properties, "stream.non.zero.exit.is.failure", True),
            input_file=_maybe(properties, "incoop.input.file.name"),
            depends_on=tuple(
                Path(local_path(path, percent=False))
                for path in properties.get("incoop.depends.on", "").split(",")
                if path
            ),
            tries_combiner=truth(properties, "incoop.combiner.trial", True),
        )


def simple_name(name: str) -> str:
    """A class without the packages of Hadoop.

    Example:
        >>> simple_name("org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner")
        'KeyFieldBasedPartitioner'
    """
    return _PACKAGE.sub("", name)


def command_or_none(role: str, given: str | None) -> str | None:
    """The command of a role; None for the identity. Other Java classes are refused."""
    if given is None or simple_name(given) in ("IdentityMapper", "IdentityReducer"):
        return None
    if _JAVA_CLASS.fullmatch(given):
        raise BadCall(f"-{role} {given} names a Java class, which incoop does not run; give a command.")
    return given


def input_paths(options: Options) -> list[str]:
    """The inputs, braces of Hadoop's globs written out."""
    if not options.inputs:
        raise BadCall("no input is named: -input PATH.")
    named = [path if path.startswith("inchdfs:") else local_path(path, percent=False) for path in options.inputs]
    return [path for each in named for path in _without_braces(each)]


def _without_braces(path: str) -> list[str]:
    """A glob for every choice that its braces give.

    Example:
        >>> _without_braces("logs/{a,b}.txt")
        ['logs/a.txt', 'logs/b.txt']
    """
    pieces = re.split(r"\{([^{}]*)\}", path)
    if len(pieces) == 1 or Path(path).exists():
        return [path]
    choices = [piece.split(",") if at % 2 else [piece] for at, piece in enumerate(pieces)]
    return ["".join(chosen) for chosen in itertools.product(*choices)]


def _comparator(options: Options) -> tuple[KeyField, ...]:
    given = options.properties.get("mapreduce.partition.keycomparator.options", "")
    class_name = options.properties.get("mapreduce.job.output.key.comparator.class")
    if class_name is None:
        if given:
            options.note(
                "mapreduce.partition.keycomparator.options has no effect without "
                "-D mapreduce.job.output.key.comparator.class=KeyFieldBasedComparator."
            )
        return ()
    if simple_name(class_name) in ("Text.Comparator", "Text$Comparator"):
        return ()
    if simple_name(class_name) != "KeyFieldBasedComparator":
        raise BadCall(f"comparator {class_name} is not supported; there is KeyFieldBasedComparator.")
    return parse_fields(given)


def _partitioner(options: Options, reducers: int, within_key: bytes) -> Partitioner:
    properties = options.properties
    name = options.partitioner or properties.get("mapreduce.job.partitioner.class", "HashPartitioner")
    if simple_name(name) == "HashPartitioner":
        return Partitioner(reducers)
    if simple_name(name) != "KeyFieldBasedPartitioner":
        raise BadCall(f"-partitioner {name} is not supported; there are HashPartitioner and KeyFieldBasedPartitioner.")
    fields = parse_fields(properties.get("mapreduce.partition.keypartitioner.options", ""))
    count = whole_number(properties, "num.key.fields.for.partition", 0)
    if count:
        options.note(
            "num.key.fields.for.partition is deprecated, mapreduce.partition.keypartitioner.options=-k1,N is the same."
        )
        fields = (KeyField(1, last_field=count), *fields)
    return Partitioner(reducers, fields, within_key)


def _key_value_separator(options: Options) -> bytes | None:
    name = simple_name(options.input_format or "TextInputFormat")
    if name == "TextInputFormat":
        return None
    if name != "KeyValueTextInputFormat":
        raise BadCall(
            f"-inputformat {options.input_format} is not supported; there are TextInputFormat and "
            "KeyValueTextInputFormat."
        )
    return separator(options.properties, "mapreduce.input.keyvaluelinerecordreader.key.value.separator")


def _maybe(properties: Mapping[str, str], name: str) -> bool | None:
    return None if properties.get(name, "auto") == "auto" else truth(properties, name, False)
