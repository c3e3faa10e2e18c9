"""The command line of hadoop-streaming: options with one dash, generic ones among them.

Contract: what Hadoop accepts is accepted. Options that do nothing here are named in a note, deprecated spellings too;
an option that Hadoop does not know is refused, with the nearest one that it does.
"""

from __future__ import annotations

import difflib
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from incoop.base.errors import BadCall
from incoop.fronts.streaming.properties import canonical


@dataclass(slots=True)
class Options:
    """A streaming job as it was called for."""

    inputs: list[str] = field(default_factory=list)
    output: str | None = None
    mapper: str | None = None
    combiner: str | None = None
    reducer: str | None = None
    #: Paths or URIs, with `#link` where it was given.
    files: list[str] = field(default_factory=list)
    archives: list[str] = field(default_factory=list)
    #: By the name that Hadoop uses today.
    properties: dict[str, str] = field(default_factory=dict)
    #: By the name that was used, for the environment.
    given_properties: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    input_format: str | None = None
    output_format: str | None = None
    partitioner: str | None = None
    lazy_output: bool = False
    verbose: bool = False
    help: bool = False
    #: incoop's own options, by their names without dashes.
    own: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


Take = Callable[[Options, str], None]


def _list(attribute: str, instead: str = "") -> Take:
    def take(options: Options, value: str) -> None:
        if instead:
            options.note(instead)
        getattr(options, attribute).extend(_outside_braces(value))

    return take


def _set(attribute: str) -> Take:
    return lambda options, value: setattr(options, attribute, value)


def _flag(attribute: str) -> Take:
    return lambda options, _: setattr(options, attribute, True)


def _property(name: str, instead: str = "") -> Take:
    def take(options: Options, value: str) -> None:
        if instead:
            options.note(instead)
        _define(options, name, value)

    return take


def _ignored(reason: str) -> Take:
    return lambda options, _: options.note(reason)


def _definition(instead: str = "") -> Take:
    def take(options: Options, text: str) -> None:
        if instead:
            options.note(instead)
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise BadCall(f"a property is written as -D name=value, not {text!r}.")
        _define(options, name.strip(), value)

    return take


def _define(options: Options, name: str, value: str) -> None:
    options.given_properties[name] = value
    options.properties[canonical(name)] = value


def _environment(options: Options, text: str) -> None:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise BadCall(f"a variable is written as -cmdenv NAME=value, not {text!r}.")
    options.environment[name] = value


def _configuration(options: Options, path: str) -> None:
    """Properties of a Hadoop configuration file; what the command line says comes after and wins."""
    try:
        root = ElementTree.fromstring(Path(path).read_bytes())
    except OSError as error:
        raise BadCall(f"-conf {path} cannot be read: {error.strerror}.") from None
    except ElementTree.ParseError as error:
        raise BadCall(f"-conf {path} is not a Hadoop configuration: {error}.") from None
    for each in root.iter("property"):
        name, value = each.findtext("name"), each.findtext("value")
        if name and value is not None and name not in options.given_properties:
            _define(options, name.strip(), value)


def _text_only(options: Options, kind: str) -> None:
    if kind != "text":
        raise BadCall(f"-io {kind} is not supported; records are lines of text: -io text.")


def _no_reader(_: Options, value: str) -> None:
    raise BadCall(f"-inputreader {value} names a Java class, which incoop does not run; records are lines of text.")


#: Option -> what takes its value. The order is that of Hadoop's help.
_VALUES: dict[str, Take] = {
    "input": _list("inputs"),
    "output": _set("output"),
    "mapper": _set("mapper"),
    "combiner": _set("combiner"),
    "reducer": _set("reducer"),
    "partitioner": _set("partitioner"),
    "inputformat": _set("input_format"),
    "outputformat": _set("output_format"),
    "numReduceTasks": _property("mapreduce.job.reduces"),
    "cmdenv": _environment,
    "io": _text_only,
    "inputreader": _no_reader,
    "D": _definition(),
    "conf": _configuration,
    "files": _list("files"),
    "archives": _list("archives"),
    "file": _list("files", "-file is deprecated, -files does the same."),
    "cacheFile": _list("files", "-cacheFile is deprecated, -files does the same."),
    "cacheArchive": _list("archives", "-cacheArchive is deprecated, -archives does the same."),
    "jobconf": _definition("-jobconf is deprecated, -D does the same."),
    "additionalconfspec": _configuration,
    "fs": _ignored("-fs has no effect: paths are those of this machine."),
    "dfs": _ignored("-dfs has no effect: paths are those of this machine."),
    "jt": _ignored("-jt has no effect: give a Spark master with --master."),
    "libjars": _ignored("-libjars has no effect: no Java code is run."),
    "tokenCacheFile": _ignored("-tokenCacheFile has no effect: there is no cluster to log in to."),
    "mapdebug": _ignored("-mapdebug has no effect: the error shows the mapper's last lines."),
    "reducedebug": _ignored("-reducedebug has no effect: the error shows the reducer's last lines."),
}
_FLAGS: dict[str, Take] = {
    "lazyOutput": _flag("lazy_output"),
    "verbose": _flag("verbose"),
    "info": _flag("help"),
    "help": _flag("help"),
    "background": _ignored("-background has no effect: append & to the command instead."),
    "debug": _ignored("-debug has no effect: see incoop -vv."),
}
#: Options of which Hadoop takes all values up to the next option.
_SEVERAL = frozenset({"input", "file", "cacheFile", "cacheArchive"})

#: incoop's own, as every command has them.
_OWN = ("store", "memo", "memo-file", "master", "report")


def parse_options(arguments: Sequence[str]) -> Options:
    """Read a command line; raises BadCall for what cannot be understood."""
    options = Options()
    left = list(arguments)
    while left:
        word = left.pop(0)
        name, attached = _name_of(word)
        if word.startswith("--") and name in _OWN:
            options.own[name] = attached if attached is not None else _value(left, word)
        elif name in _FLAGS and attached is None:
            _FLAGS[name](options, "")
        elif name in _VALUES:
            take = _VALUES[name]
            take(options, attached if attached is not None else _value(left, word))
            while name in _SEVERAL and left and not left[0].startswith("-"):
                take(options, left.pop(0))
        else:
            raise _unknown(word)
    return options


def _name_of(word: str) -> tuple[str | None, str | None]:
    """An option's name, and a value that is attached to it (-Dname=value, --store=DIR)."""
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        return (name, value if equals else None) if name in (*_OWN, "help") else (None, None)
    if not word.startswith("-"):
        return None, None
    if word.startswith("-D") and word != "-D":
        return "D", word[2:]
    return ("help" if word == "-h" else word[1:]), None


def _value(left: list[str], word: str) -> str:
    if not left:
        raise BadCall(f"{word} needs a value.")
    return left.pop(0)


def _unknown(word: str) -> BadCall:
    if not word.startswith("-"):
        return BadCall(f"unexpected argument {word!r}: options come with a dash, and values with spaces in quotes.")
    known = [*(f"-{name}" for name in (*_VALUES, *_FLAGS)), *(f"--{name}" for name in _OWN)]
    by_fold = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), by_fold, 1, 0.5)
    hint = f"did you mean {by_fold[near[0]]}?" if near else "incoop streaming -help lists them."
    return BadCall(f"hadoop-streaming has no option {word}; {hint}")


def _outside_braces(text: str) -> list[str]:
    """A list at its commas, but for those inside braces of a glob.

    Example:
        >>> _outside_braces("a.txt,logs/{x,y}.log")
        ['a.txt', 'logs/{x,y}.log']
    """
    return [piece for piece in re.split(r",(?![^{}]*\})", text) if piece]


#: What `-help` prints: option, value, what it does.
HELP = (
    ("-input", "PATH", "Input: file, folder, glob or inchdfs:/NAME; may be repeated."),
    ("-output", "FOLDER", "Where part-00000 ... and _SUCCESS go; must not exist."),
    ("-mapper", "COMMAND", "Program that reads lines and prints key TAB value; the identity unless given."),
    ("-combiner", "COMMAND", "Program that combines values of a key, any number of times."),
    ("-reducer", "COMMAND", "Program that reads lines sorted by key; NONE for map only, or aggregate."),
    ("-files", "PATH[#LINK],...", "Files and folders that the programs find in their working folder."),
    ("-archives", "PATH[#LINK],...", "Archives (zip, tar, jar), unpacked into a folder there."),
    ("-file", "PATH", "As -files, with one path (deprecated)."),
    ("-numReduceTasks", "N", "Number of reducers and part files; 0 for map only."),
    ("-partitioner", "CLASS", "HashPartitioner or KeyFieldBasedPartitioner."),
    ("-inputformat", "CLASS", "TextInputFormat or KeyValueTextInputFormat."),
    ("-outputformat", "CLASS", "TextOutputFormat."),
    ("-cmdenv", "NAME=VALUE", "A variable for the programs' environment."),
    ("-lazyOutput", "", "No part files for reducers without output."),
    ("-verbose", "", "Show the last lines that the programs print on standard error."),
    ("-D", "NAME=VALUE", "A property, also given to the programs as NAME with _ for other characters."),
    ("-conf", "FILE", "Properties from a Hadoop configuration file."),
    ("-info, -help", "", "This text."),
)
