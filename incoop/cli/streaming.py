"""`incoop streaming`: a Hadoop Streaming job with the options of hadoop-streaming."""

from __future__ import annotations

import os
from typing import Any

import click

from incoop.base.errors import BadCall
from incoop.cli.options import DEFAULT_STORE, Size, memo_address, show_report
from incoop.cli.say import say
from incoop.fronts.streaming.options import HELP, Options, parse_options

_REPORTS = ("text", "json", "none")


class HadoopCommand(click.Command):
    """A command whose options have one dash, as Hadoop's do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params["arguments"] = list(args)
        return []

    def get_help(self, ctx: click.Context) -> str:
        formatter = ctx.make_formatter()
        formatter.write_usage("incoop streaming", "-input PATH -output FOLDER [-mapper COMMAND] [-reducer COMMAND] ...")
        self.format_help_text(ctx, formatter)
        with formatter.section("Options of hadoop-streaming"):
            formatter.write_dl([(f"{name} {value}".strip(), text) for name, value, text in HELP])
        with formatter.section("Properties of incoop's own"):
            formatter.write_dl(
                [
                    ("-D incoop.input.file.name=auto|true|false", _INPUT_FILE),
                    ("-D incoop.depends.on=PATH,...", "Files that the programs read without being given them."),
                    ("-D incoop.trailing.separator=true", "A tab behind keys without a value, as in Hadoop's output."),
                    ("-D incoop.combiner.trial=false", "Do not try the combiner on a sample before its first run."),
                    ("-D incoop.chunk.average=SIZE", "Average bytes that a mapper process reads; 1280K unless given."),
                ]
            )
        with formatter.section("Options of incoop"):
            formatter.write_dl(
                [
                    ("--store DIR", f"Folder that holds datasets, memo and packs; {DEFAULT_STORE} unless given."),
                    ("--memo URL", "redis://, rediss:// or unix:// address; else a private server in the store."),
                    ("--memo-file FILE", "File that holds the address, with a password that nobody else sees."),
                    ("--master URL", "Spark master; else Spark (local[*]) is started for much work only."),
                    ("--report text|json|none", "What to say on standard error when done."),
                ]
            )
        return formatter.getvalue()


_INPUT_FILE = (
    "Whether mappers get mapreduce_map_input_file, which makes the name part of what is reused; auto: when their text "
    "mentions it."
)


@click.command(cls=HadoopCommand)
@click.pass_context
def streaming(ctx: click.Context, /, **params: Any) -> None:
    """Run a Hadoop Streaming job; what did not change since an earlier run is reused.

    \b
    Examples:
      incoop streaming -input logs -output out -mapper "cut -f1" -reducer "uniq -c"
      incoop streaming -files map.py,sum.py -input corpus -output out \\
          -mapper "python3 map.py" -combiner "python3 sum.py" -reducer "python3 sum.py"
    """
    options = parse_options(params["arguments"])
    if options.help or not params["arguments"]:
        click.echo(ctx.get_help())
        return
    report = options.own.get("report", "text")
    if report not in _REPORTS:
        raise BadCall(f"--report is one of {', '.join(_REPORTS)}, not {report!r}.")
    from incoop.fronts.streaming.run import run_streaming
    from incoop.session import connect

    store = options.own.get("store") or os.environ.get("INCOOP_STORE") or DEFAULT_STORE
    memo = memo_address(options.own.get("memo"), options.own.get("memo-file"))
    with connect(store, memo=memo, master=options.own.get("master"), chunks=_chunks(options)) as session:
        try:
            done = run_streaming(session, options)
        finally:
            for note in options.notes:
                say(f"note: {note}", err=True)
        show_report(report, done.as_dict(), str(done))


def _chunks(options: Options) -> Any:
    from incoop import inchdfs
    from incoop.fronts.streaming.run import CHUNKS

    if (size := options.properties.get("incoop.chunk.average")) is None:
        return CHUNKS
    return inchdfs.ChunkSettings(average=Size().convert(size, None, None))
