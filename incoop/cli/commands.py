"""The table of subcommands, each loaded only when called.

Contract: loading `incoop --help` imports neither Spark nor Redis.
"""

from __future__ import annotations

import importlib
import logging
import sys

import click

from incoop import __version__
from incoop.cli.say import EscapingFormatter

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
