"""`incoop pig`: a Pig Latin script."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from incoop.base.errors import BadCall
from incoop.cli.options import (
    LocalPath,
    chunk_size_options,
    memo_option,
    report_option,
    settings_from,
    show_report,
    store_option,
)
from incoop.cli.say import for_output, say

if TYPE_CHECKING:
    from incoop.fronts.pig.syntax.statements import PigScript


@click.command()
@click.argument("script", metavar="SCRIPT.PIG", required=False)
@click.option("-param", "-p", "--param", "given", metavar="NAME=VALUE", multiple=True, help="What $NAME stands for.")
@click.option(
    "-param_file", "-m", "--param-file", "files", metavar="FILE", multiple=True, help="Lines of name=value; # comments."
)
@click.option("-e", "-execute", "--execute", "text", metavar="TEXT", help="Statements in place of a script's file.")
@click.option("-dryrun", "-r", "--dryrun", is_flag=True, help="Print the script without parameters and macros.")
@click.option("-check", "-c", "--check", is_flag=True, help="Check syntax, names and types; run nothing.")
@click.option("-explain", "--explain", is_flag=True, help="Print plans, and what would be reused; run nothing.")
@click.option("-x", "-exectype", "--exectype", metavar="TYPE", hidden=True, help="Taken, and not looked at.")
@click.option("-f", "-file", "--file", "file", metavar="FILE", hidden=True, help="The script, as Pig takes it, too.")
@click.option("--master", metavar="URL", help="Spark master; else Spark (local[*]) is started for much work only.")
@chunk_size_options
@store_option
@memo_option
@report_option
def pig(
    script: str | None,
    given: tuple[str, ...],
    files: tuple[str, ...],
    text: str | None,
    dryrun: bool,
    check: bool,
    explain: bool,
    exectype: str | None,
    file: str | None,
    master: str | None,
    store: Path,
    memo: str | None,
    report: str,
    **options: object,
) -> None:
    """Run a Pig Latin script; what did not change since an earlier run is reused.

    DUMP, DESCRIBE and the like print to standard output. What a STORE writes is brought up to date in its folder: only
    part files that changed are written.

    \b
    Examples:
      incoop pig wordcount.pig
      incoop pig visits.pig -param in=logs/2024 -param out=visits -param_file common.params
      incoop pig visits.pig -param in=logs -param out=x -check
    """
    if sum(each is not None for each in (script, text, file)) != 1:
        raise BadCall("incoop pig takes one script: its file, or statements with -e. incoop pig --help has examples.")
    from incoop.fronts.pig.errors import texts
    from incoop.fronts.pig.running.prepare import Preparation
    from incoop.fronts.pig.syntax.parameters import Parameters, run_in_bash
    from incoop.fronts.pig.syntax.print_script import print_script

    path = script if script is not None else file
    parsed, name, known = _read(path, text, Parameters.load(given, files, run_in_bash))
    if dryrun:
        click.echo(for_output(print_script(parsed)), nl=False)
        return
    text_of = texts(known)
    prepared = Preparation(text_of)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        steps = prepared.script(parsed)
    for note in (*prepared.notes, *dict.fromkeys(str(each.message) for each in warned)):
        say(f"note: {note}", err=True)
    if check:
        say(f"{name}: {len(parsed.statements)} statements, nothing wrong found", err=True)
        return
    from incoop.fronts.common.early import prepare_processes
    from incoop.fronts.pig.running.checks import check_inputs, check_outputs, input_paths
    from incoop.fronts.pig.running.run import ScriptRun

    if not explain:
        check_inputs(steps, text_of)
        check_outputs(steps)
        prepare_processes(store, input_paths(steps), master)
    from incoop.session import connect

    with connect(store, memo=memo, master=master, chunks=settings_from(options)) as session:
        run = ScriptRun(session, name, _print, lambda told: say(told, err=True), text_of)
        if explain:
            run.explain(steps)
            return
        try:
            run.run(steps)
        finally:
            sys.stdout.flush()
        show_report(report, run.report.as_dict(), str(run.report))


def _read(path: str | None, text: str | None, parameters: object) -> tuple[PigScript, str, dict[str, str]]:
    """The script, what it is called, and texts that are in no file."""
    from incoop.fronts.pig.syntax.parameters import Parameters
    from incoop.fronts.pig.syntax.script import parse_script, read_script

    assert isinstance(parameters, Parameters)
    if text is not None:
        return parse_script(text, parameters, file="-e"), "-e", {"-e": text}
    found = LocalPath().convert(path, None, None)
    return read_script(found, parameters), found.name, {}


def _print(line: str) -> None:
    line = for_output(line) + "\n"
    try:
        sys.stdout.write(line)
    except UnicodeEncodeError:  # text that no encoding has is printed as part files have it
        sys.stdout.flush()
        sys.stdout.buffer.write(line.encode("utf-8", "surrogatepass"))
