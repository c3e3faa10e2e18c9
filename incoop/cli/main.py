"""The `incoop` command: a table of subcommands, loaded only when called.

Contract: exit code 0, 1 for a failed job, 2 for a wrong call; results on standard output, everything else on
standard error. Loading `incoop --help` imports neither Spark nor Redis.
"""

from __future__ import annotations

import importlib
import io
import logging
import os
import signal
import sys

import click

from incoop import __version__
from incoop.base.errors import BadCall, IncoopError
from incoop.base.garbage import collect_seldom
from incoop.base.shown import escaped, shortened, without_passwords
from incoop.cli.say import EscapingFormatter, say

#: Subcommand -> (module:function, its line in `incoop --help`). The order is the order of the help text.
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("incoop.cli.run:run", "Run a Job defined in a file."),
    "watch": ("incoop.cli.watch:watch", "Run Jobs again whenever their input changed."),
    "submit": ("incoop.cli.submit:submit", "Run an unmodified PySpark RDD program, memoized."),
    "streaming": ("incoop.cli.streaming:streaming", "Run a Hadoop Streaming job, same options."),
    "mrjob": ("incoop.cli.mrjob:mrjob", "Run an unmodified mrjob job, memoized."),
    "pig": ("incoop.cli.pig:pig", "Run a Pig Latin script, each statement memoized."),
    "demo": ("incoop.cli.demo:demo", "Show the whole idea in one minute."),
    "doctor": ("incoop.cli.doctor:doctor", "Say what is missing on this machine, and how to get it."),
    "put": ("incoop.cli.put:put", "Store files as a new version of a dataset."),
    "ingest": ("incoop.cli.ingest:ingest", "Take logs that grow and rotate into a dataset, each line once."),
    "ls": ("incoop.cli.ls:ls", "List datasets, or the versions of one."),
    "stat": ("incoop.cli.stat:stat", "Chunks, sizes and shared bytes of a version."),
    "cat": ("incoop.cli.cat:cat", "Write a version's bytes to standard output."),
    "diff": ("incoop.cli.diff:diff", "Chunks and records that two versions do not share."),
    "rm": ("incoop.cli.rm:rm", "Remove a version, or a whole dataset."),
    "chunks": ("incoop.cli.chunks:chunks", "Print the chunks of a file: offset, length, id."),
    "gc": ("incoop.cli.gc:gc", "Remove what no kept generation or version needs."),
    "stats": ("incoop.cli.stats:stats", "Count what the store holds, by job."),
    "verify": ("incoop.cli.verify:verify", "Re-read everything; report and drop what is damaged."),
}


class LazyGroup(click.Group):
    """A group whose subcommands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, function = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), function)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="incoop")
@click.option("-v", "--verbose", count=True, help="Say more on standard error; twice for debugging.")
def cli(verbose: int) -> None:
    """Rerun MapReduce jobs on inputs that changed a little, and pay for the change.

    \b
    Examples:
      incoop demo
      incoop run wordcount.py corpus/
      incoop put access.log logs
      incoop ls logs
    """
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(EscapingFormatter("%(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])


def main() -> None:
    """Run the command line; turn incoop's errors into one sentence and an exit code."""
    collect_seldom()
    # Who asks a command to end, or closes its terminal, finds nothing of it left, as after Ctrl-C.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        # Out of standalone mode click gives an exit code back, where a command ended with one.
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code)
    except click.ClickException as wrong_call:
        told = io.StringIO()
        wrong_call.show(told)
        click.echo(escaped(shortened(without_passwords(told.getvalue()))), nl=False, err=True)
        sys.exit(wrong_call.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("incoop: interrupted; what was finished is kept", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader (`| head`) has left: stop quietly, and keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except IncoopError as error:
        say(f"incoop: {shortened(str(error))}", err=True)
        sys.exit(2 if isinstance(error, BadCall) else 1)
    except OSError as error:
        say(f"incoop: {shortened(_refused(error))}", err=True)
        _leave_output()
        sys.exit(1)
    except MemoryError:
        say(
            "incoop: there is not enough memory. Free some, or give smaller chunks (--average); nothing is lost.",
            err=True,
        )
        sys.exit(1)


def _refused(error: OSError) -> str:
    """What the system would not do, and what to do about it."""
    where = f" ({error.filename})" if error.filename else ""
    return (
        f"the system refused{where}: {error.strerror or error}. What was finished is kept; free some room, or mend the "
        "path or its permissions, and repeat."
    )


def _leave_output() -> None:
    """Keep Python from trying once more, at its end, to write what could not be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
