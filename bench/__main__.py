"""`python -m bench`: the evaluation. The single benchmarks are modules of their own, `python -m bench.bench_engine`."""

from __future__ import annotations

import importlib.util
import logging
import signal
import sys
from pathlib import Path

import click

from bench.apps import APPS
from bench.paper.experiments import EXPERIMENTS
from bench.paper.laboratory import TooLittleText, WrongAnswer
from bench.paper.results import BadResults, Results, load
from bench.paper.sizes import SIZES

DEFAULT_OUTPUT = Path("docs/evaluation")

_OUTPUT = click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT_OUTPUT,
    show_default=True,
    help="Folder for results and plots; the page is written beside it, with .md behind the name.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """The evaluation of the Incoop paper on this code, side by side with plain PySpark and other tools."""


def _names(_: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Names separated by commas, each a known one."""
    known = EXPERIMENTS if parameter.name == "experiments" else [*APPS, "files"]
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    for name in names:
        if name not in known:
            raise click.BadParameter(f"{name!r} is unknown; choose among {', '.join(known)}.")
    return names


@main.command(
    epilog="""\b
Examples:
  python -m bench paper --size small --output /tmp/evaluation
  python -m bench paper --size large
  python -m bench paper --size large --experiments speedup --apps words,knn
  python -m bench paper --size large --resume
"""
)
@click.option("--size", type=click.Choice(list(SIZES)), required=True, help="How much data: small is a smoke test.")
@click.option("--experiments", callback=_names, help=f"Some of {', '.join(EXPERIMENTS)}, separated by commas.")
@click.option("--apps", callback=_names, help=f"Some of {', '.join(APPS)}, separated by commas.")
@click.option("--rounds", type=click.IntRange(1), help="Rounds of each experiment, in place of the size's own.")
@click.option("--resume", is_flag=True, help="Leave out what the results hold already.")
@click.option("--replace", is_flag=True, help="Start the results anew where they are of another size.")
@click.option(
    "--work", type=click.Path(path_type=Path, file_okay=False, exists=True), help="Where to work; /tmp or so."
)
@click.option(
    "--text",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A text of your own for the text applications, in place of a generated one.",
)
@_OUTPUT
def paper(
    size: str,
    experiments: tuple[str, ...],
    apps: tuple[str, ...],
    rounds: int | None,
    resume: bool,
    replace: bool,
    work: Path | None,
    text: Path | None,
    output: Path,
) -> None:
    """Run the paper's experiments; write results.json, results.csv, plots and the page.

    Results are kept experiment by experiment and application by application: they can be measured one at a time, and
    a run that is stopped loses only what it was measuring.
    """
    from bench.paper.run import planned, run

    results = _prepared(output, size, replace)
    plan = planned(experiments, apps)
    if resume:
        plan = [(experiment, app) for experiment, app in plan if f"{experiment.name}/{app}" not in results.entries]
    if not plan:
        click.echo("nothing is left to measure.", err=True)
    stopped = False
    # What `timeout` and a service manager send must not leave Spark and temporary files behind, either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    logging.getLogger().addFilter(lambda record: "KeyboardInterrupt" not in record.getMessage())  # py4j's traceback
    try:
        if plan:
            run(plan, SIZES[size], rounds or SIZES[size].rounds, output, results, _say, work, text)
    except TooLittleText as too_little:
        raise click.UsageError(str(too_little)) from too_little
    except WrongAnswer as wrong:
        raise click.ClickException(f"{wrong} What was measured before is kept in {output}.") from wrong
    except BaseException as error:
        # Spark, interrupted in the middle of an answer, may raise something else on the way out.
        if not _interrupted(error):
            raise
        stopped = True
        click.echo(f"stopped; {output} holds {len(results.entries)} entries. --resume measures the rest.", err=True)
    if results.entries:
        _write(results, output)
    if stopped:
        sys.exit(130)


@main.command()
@_OUTPUT
def page(output: Path) -> None:
    """Write the plots and the page again from results.json."""
    try:
        results = load(output)
    except BadResults as bad:
        raise click.ClickException(str(bad)) from bad
    if results is None:
        raise click.UsageError(f"{output} holds no results.json; run python -m bench paper first.")
    _write(results, output)


def _interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _prepared(output: Path, size: str, replace: bool) -> Results:
    """The results to add to; makes sure that they can be written before hours are spent on them."""
    try:
        results = load(output)
    except BadResults as bad:
        if not replace:
            raise click.UsageError(str(bad)) from bad
        results = None
    if results is not None and results.size != size:
        if not replace:
            raise click.UsageError(
                f"{output} holds results of size {results.size}; give another --output, or --replace to start it anew."
            )
        results = None
    try:
        output.mkdir(parents=True, exist_ok=True)
        probe = output / ".probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise click.UsageError(f"{output} cannot be written ({error.strerror}); give another --output.") from error
    return results or Results(size)


def _write(results: Results, output: Path) -> None:
    from bench.paper.page import write_page

    plots: list[Path] = []
    if importlib.util.find_spec("matplotlib") is not None:
        from bench.paper.plots import draw_all

        plots = draw_all(results, output)
    else:
        click.echo("no plots: matplotlib is not installed (pip install 'incoop[bench]').", err=True)
    click.echo(f"wrote {write_page(results, output, plots)}", err=True)


def _say(text: str) -> None:
    click.echo(text, err=True)


if __name__ == "__main__":
    main(prog_name="python -m bench")
