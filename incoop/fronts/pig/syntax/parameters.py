"""Parameters: where their values come from, and what stands in their place.

Contract: files of parameters come first, in their order, then those given one by one; a later one replaces an earlier.
A value may use parameters that are known by then. `%default` gives a value only where there is none, and runs its
command only then; `%declare` always. A command gets the values it uses, and gives its output without blanks around it.
"""

from __future__ import annotations

import difflib
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from incoop.base.errors import IncoopError
from incoop.fronts.pig.syntax.errors import BadParameter
from incoop.fronts.pig.syntax.file_text import read_text

NAME = r"_*[a-zA-Z][a-zA-Z_0-9]*"
#: `$name` or `${name}`; a backslash before it keeps it as it is, without the backslash.
_USE = re.compile(rf"\\\$|\$(?:\{{({NAME})\}}|({NAME}))")

#: Characters of a value. Values may use values: some lines that each use the one above twice would fill any memory.
LONGEST_VALUE = 1 << 20

#: Runs a command in a shell and gives what it prints.
CommandRunner = Callable[[str], str]


class ValueCommandFailed(IncoopError):
    """A command that should give a parameter its value failed."""

    def __init__(self, command: str, why: str) -> None:
        super().__init__(command, why)
        self.command, self.why = command, why

    def __str__(self) -> str:
        return f"the command `{self.command}` {self.why}"


class UnknownParameter(IncoopError):
    """A text uses a parameter that has no value; the caller knows where."""

    def __init__(self, name: str, offset: int, nearest: str | None) -> None:
        super().__init__(name, offset, nearest)
        self.name, self.offset, self.nearest = name, offset, nearest

    def __str__(self) -> str:
        return f"parameter {self.name} has no value. {self.remedy}"

    @property
    def remedy(self) -> str:
        meant = f"Did you mean ${self.nearest}? Otherwise give" if self.nearest else "Give"
        return f"{meant} it with -param {self.name}=VALUE, or write %default {self.name} 'VALUE' above."


def run_in_bash(command: str) -> str:
    """What a command prints, as Pig runs it: by bash, where the script is run."""
    try:
        done = subprocess.run(["bash", "-c", f"exec {command}"], capture_output=True, check=False)
    except OSError as error:
        raise ValueCommandFailed(command, f"cannot be run: {error}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise ValueCommandFailed(command, f"failed with exit code {done.returncode}" + (f": {said}" if said else ""))
    return done.stdout.decode(errors="replace")


def refuse_commands(command: str) -> str:
    """For whoever only looks at a script."""
    raise ValueCommandFailed(command, "is not run, since commands were not allowed")


class ValueTooLong(IncoopError):
    """A parameter's value, with those that it uses in their places, is longer than any that somebody wrote."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"the value of {self.name} has more than {LONGEST_VALUE:,} characters. Does it use another many times?"


class Parameters:
    """Names and their values, as they become known."""

    def __init__(self, values: Mapping[str, str] | None = None, run_command: CommandRunner = run_in_bash) -> None:
        self.values = dict(values or {})
        self.run_command = run_command

    @classmethod
    def load(
        cls,
        given: Iterable[str] = (),
        files: Sequence[Path | str] = (),
        run_command: CommandRunner = run_in_bash,
    ) -> Parameters:
        """Those of `-param_file` and `-param`."""
        parameters = cls(run_command=run_command)
        for file in files:
            parameters.load_file(Path(file))
        for each in given:
            parameters.load_one(each, "-param")
        return parameters

    def scope(self, inner: Mapping[str, str]) -> Parameters:
        """Those of a macro: its own, which hide ours."""
        return Parameters({**self.values, **inner}, self.run_command)

    def load_file(self, path: Path) -> None:
        try:
            lines = read_text(path).splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise BadParameter(str(path), "-param_file", f"the file cannot be read ({error})") from error
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.lstrip().startswith("#"):
                self.load_one(line, f"{path}:{number}")

    def load_one(self, given: str, where: str) -> None:
        """`name=value`; the value may be in quotes of either kind, or a command in backticks."""
        found = re.fullmatch(rf"\s*({NAME})\s*=\s*(.*?)\s*", given, re.DOTALL)
        if found is None:
            raise BadParameter(given, where, "this is not name=value")
        name, value = found.groups()
        try:
            if value[:1] == "`":
                if len(value) < 2 or value[-1] != "`":
                    raise BadParameter(given, where, "the command is not closed with a backtick")
                self.set_by_command(name, value[1:-1])
            else:
                self.set(name, unquoted(value))
        except (UnknownParameter, ValueCommandFailed, ValueTooLong) as error:
            raise BadParameter(given, where, str(error)) from error

    def set(self, name: str, value: str, *, keep: bool = False) -> None:
        replaced = self.replaced(value, name)
        if not (keep and name in self.values):
            self.values[name] = replaced

    def set_by_command(self, name: str, command: str, *, keep: bool = False) -> None:
        if not (keep and name in self.values):
            self.values[name] = self.run_command(self.replaced(command, name)).strip()
            if len(self.values[name]) > LONGEST_VALUE:
                raise ValueTooLong(name)

    def replaced(self, text: str, name: str) -> str:
        """The value of a parameter, with those of others in their places."""
        parts, length = [], 0
        for part, _, _ in self.parts(text):
            parts.append(part)
            length += len(part)
            if length > LONGEST_VALUE:
                raise ValueTooLong(name)
        return "".join(parts)

    def parts(self, text: str) -> Iterable[tuple[str, int, str | None]]:
        """A text cut at its parameters: what stands there now, where it stood, and of which parameter it came."""
        at = 0
        for use in _USE.finditer(text):
            if use.start() > at:
                yield text[at : use.start()], at, None
            name = use[1] or use[2]
            if name is None:
                yield "$", use.start() + 1, None
            elif name in self.values:
                yield self.values[name], use.start(), name
            else:
                nearest = difflib.get_close_matches(name, self.values, n=1)
                raise UnknownParameter(name, use.start(), nearest[0] if nearest else None)
            at = use.end()
        if at < len(text):
            yield text[at:], at, None


def unquoted(value: str) -> str:
    """A value without the quotes around it; a quote inside them has a backslash."""
    for quote in "'\"":
        if len(value) >= 2 and value[0] == value[-1] == quote:
            return value[1:-1].replace(f"\\{quote}", quote)
    return value
