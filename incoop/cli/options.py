"""Options that several subcommands share, declared once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from incoop.base.durations import seconds_of
from incoop.base.errors import BadCall
from incoop.base.own_files import read_own
from incoop.base.paths import local_path
from incoop.cli.say import say

if TYPE_CHECKING:
    from incoop import inchdfs

Command = TypeVar("Command", bound=Callable[..., Any])

#: Where datasets, packs and the private Redis live unless told otherwise.
DEFAULT_STORE = "incoop-store"

_SIZE_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class Size(click.ParamType[int]):
    """A number of bytes, with K, M or G for powers of 1024."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        text = str(value).strip().lower().removesuffix("ib").removesuffix("b")
        number, unit = (text[:-1], text[-1]) if text[-1:] in ("k", "m", "g") else (text, "")
        try:
            return int(float(number) * _SIZE_UNITS[unit])
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a size; write 65536, 64K or 1.5M", param, ctx)


_TIME_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class Age(click.ParamType[float]):
    """A length of time, as in 90s, 30m, 12h, 7d or 4w."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        text = str(value).strip().lower()
        try:
            return float(text[:-1]) * _TIME_UNITS[text[-1:]]
        except (ValueError, KeyError):
            self.fail(f"{value!r} is not an age; write 90s, 30m, 12h, 7d or 4w", param, ctx)


class BatchLimits(click.ParamType[tuple[int, float]]):
    """A number of bytes, a length of time, or both: whichever comes first. A trailing m means megabytes."""

    name = "batch"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, float]:
        if isinstance(value, tuple):
            return value
        size, seconds = 64 << 20, 10.0
        for part in str(value).split("|"):
            text = part.strip().lower()
            try:
                if text[-1:] in ("s", "h", "d", "w"):
                    seconds = seconds_of(text)
                else:
                    size = Size().convert(text, param, ctx)
            except (click.BadParameter, BadCall):
                size = 0
        if not (0 < size < 1 << 62 and 0 < seconds < 1e9):
            self.fail(f"{value!r} is no batch; write a size (64M), a time (10s), or both: '64M|10s'", param, ctx)
        return size, seconds


class Share(click.ParamType[float]):
    """A share of something, as in 5% or 0.05."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            self.fail(f"{value!r} is not a share; write 5% or 0.05", param, ctx)
        return share


class Duration(click.ParamType[float]):
    """Seconds, as in 30s, 500ms, 2m or 1h."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        try:
            return seconds_of(str(value))
        except BadCall as wrong:
            self.fail(str(wrong), param, ctx)


class LocalPath(click.ParamType[Path]):
    """A path of this machine; a scheme that is not served is refused before anything runs."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        return Path(local_path(value))


def store_option(command: Command) -> Command:
    """`--store DIR`, also read from INCOOP_STORE."""
    return click.option(
        "--store",
        type=LocalPath(),
        default=DEFAULT_STORE,
        envvar="INCOOP_STORE",
        show_default=True,
        show_envvar=True,
        help="Folder that holds datasets, memo and packs.",
    )(command)


def memo_option(command: Command) -> Command:
    """`--memo URL`, also read from INCOOP_MEMO or from a file that `--memo-file` names."""
    for decorate in (
        click.option(
            "--memo-file",
            type=LocalPath(),
            expose_value=False,
            is_eager=True,
            callback=_memo_of_file,
            help="File that holds the address, with a password that nobody else sees.",
        ),
        click.option(
            "--memo",
            metavar="URL",
            default=None,
            envvar="INCOOP_MEMO",
            show_envvar=True,
            callback=_memo,
            help="redis://, rediss:// or unix:// address; by default a private server inside the store.",
        ),
    ):
        command = decorate(command)
    return command


#: Where the address of `--memo-file` waits for `--memo`, which the command sees.
_FROM_FILE = "incoop memo file"

_TWICE = "--memo and --memo-file say the same; give one of them."


def _memo_of_file(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    if path is not None:
        context.meta[_FROM_FILE] = _address_in(path)


def _address_in(path: Path) -> str:
    """Read the address: the file must be ours, since it says whom to believe."""
    try:
        content = read_own(path).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadCall(f"--memo-file {path} cannot be read: {getattr(error, 'strerror', None) or 'no text'}.") from None
    if not content or "\n" in content:
        raise BadCall(f"--memo-file {path} must hold one line, a redis://, rediss:// or unix:// address.")
    return content


def memo_address(given: str | None, file: str | None) -> str | None:
    """The same for a command that has a command line of its own: `--memo`, `--memo-file`, or INCOOP_MEMO."""
    if file is not None:
        if given is not None:
            raise BadCall(_TWICE)
        return _address_in(Path(local_path(file)))
    if given is not None:
        _warn_of_password(given)
    return given or os.environ.get("INCOOP_MEMO")


def _memo(context: click.Context, option: click.Parameter, url: str | None) -> str | None:
    on_command_line = context.get_parameter_source(str(option.name)) is click.core.ParameterSource.COMMANDLINE
    if _FROM_FILE in context.meta:
        if on_command_line:
            raise BadCall(_TWICE)
        return str(context.meta[_FROM_FILE])
    if url and on_command_line:
        _warn_of_password(url)
    return url


def _warn_of_password(url: str) -> None:
    if "@" in url:
        warning = (
            "the password in --memo can be seen by every user of this machine (ps); use INCOOP_MEMO or --memo-file"
        )
        say(f"incoop: {warning}", err=True)


def report_option(command: Command) -> Command:
    """`--report text|json|none`."""
    return click.option(
        "--report",
        type=click.Choice(["text", "json", "none"]),
        default="text",
        show_default=True,
        help="What to say on standard error when done; json is one object on the last line.",
    )(command)


def show_report(report: str, facts: Mapping[str, Any], text: str) -> None:
    """Print a report as `--report` asks."""
    if report == "text":
        say(text, err=True)
    elif report == "json":
        click.echo(json.dumps(facts), err=True)


def chunk_size_options(command: Command) -> Command:
    """`--average`, `--minimum`, `--maximum`, `--chunker`."""
    for decorate in (
        click.option("--chunker", type=click.Choice(["rabin", "fastcdc"]), help="Marker finder; rabin unless given."),
        click.option("--maximum", type=Size(), help="Largest chunk; 4 times the average unless given."),
        click.option("--minimum", type=Size(), help="Smallest chunk; a quarter of the average unless given."),
        click.option("--average", type=Size(), help="Average chunk, as in 64K or 1M; by input size unless given."),
    ):
        command = decorate(command)
    return command


def settings_from(options: Mapping[str, Any]) -> inchdfs.ChunkSettings | None:
    """The chunk settings that were asked for; None when none was."""
    from incoop import inchdfs

    given = {key: options[key] for key in ("average", "minimum", "maximum", "chunker") if options.get(key) is not None}
    return inchdfs.ChunkSettings(**given) if given else None


def record_options(command: Command) -> Command:
    """`--records` and what its kinds need."""
    for decorate in (
        click.option("--delimiter", help="For --records delimited; escapes such as \\n and \\x00 are understood."),
        click.option("--record-length", type=Size(), help="For --records fixed: bytes per record."),
        click.option(
            "--records",
            type=click.Choice(["lines", "csv", "fixed", "delimited", "whole"]),
            help="Where records end, so that no chunk splits one; lines unless given.",
        ),
    ):
        command = decorate(command)
    return command


def record_format(options: Mapping[str, Any]) -> inchdfs.RecordFormat | None:
    """The record format that was asked for; None when none was."""
    from incoop import inchdfs

    kind, length, delimiter = options.get("records"), options.get("record_length"), options.get("delimiter")
    if (kind == "fixed") != (length is not None):
        raise BadCall("--records fixed and --record-length N go together.")
    if (kind == "delimited") != (delimiter is not None):
        raise BadCall("--records delimited and --delimiter TEXT go together.")
    if kind == "fixed":
        return inchdfs.FixedLength(int(length or 0))
    if kind == "delimited":
        return inchdfs.Delimited(_unescaped(str(delimiter)))
    return {None: None, "lines": inchdfs.Lines(), "csv": inchdfs.Csv(), "whole": inchdfs.WholeFile()}[kind]


def _unescaped(text: str) -> bytes:
    r"""The bytes that a delimiter stands for, as in '\n', '\x00' or '--'."""
    try:
        return text.encode().decode("unicode_escape").encode("latin-1")
    except UnicodeError as error:
        raise BadCall(
            f"--delimiter {text!r} is not understood ({error}); escapes are as in Python, \\n or \\x00."
        ) from None


def window_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The newest part of an input in place of all of it."""
    for option in (
        click.option(
            "--time-of",
            default="",
            metavar="NAME",
            help="For a window of time: a function of the job's file that gives a record's time, or the form of the "
            "time in names of files (%Y-%m-%d).",
        ),
        click.option(
            "--window",
            default="",
            metavar="SIZE",
            help="Only the newest part: '10 files', '1G', '7 days', '1h every 1m'.",
        ),
    ):
        command = option(command)
    return command
