"""`incoop submit`: run an unmodified PySpark program, memoized."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from incoop import __version__
from incoop.base.errors import BadCall
from incoop.base.paths import local_path
from incoop.cli.options import Command, memo_option, report_option, show_report, store_option

if TYPE_CHECKING:
    from incoop.fronts.rdd.submit import Programs

#: Options of spark-submit that take a value, and are handed to Spark as they are.
_SPARK_OPTIONS = [
    f"--{name}"
    for line in (
        "master deploy-mode name jars packages exclude-packages repositories py-files files archives properties-file",
        "driver-memory driver-java-options driver-library-path driver-class-path driver-cores executor-memory class",
        "executor-cores total-executor-cores num-executors queue principal keytab proxy-user",
    )
    for name in line.split()
]


def spark_options(command: Command) -> Command:
    """The options of spark-submit."""
    decorators: list[Callable[[Command], Command]] = [
        click.option(name, metavar="VALUE", help=_HELP.get(name, "As in spark-submit."), hidden=name not in _HELP)
        for name in reversed(_SPARK_OPTIONS)
    ]
    decorators.append(click.option("--supervise", is_flag=True, hidden=True))
    decorators.append(click.option("-v", "--verbose", is_flag=True, hidden=True))
    decorators.append(
        click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Versions.")
    )
    decorators.append(click.option("-c", "--conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark."))
    for decorate in decorators:
        command = decorate(command)
    return command


def _version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib import metadata  # takes longer than all else that is done here

        click.echo(f"incoop {__version__} on Spark {metadata.version('pyspark')}")
        context.exit()


_HELP = {
    "--master": "Spark master, as in spark-submit; local[*] unless given here or by the program.",
    "--name": "Name of the application; earlier runs are found by it, else by the script's name.",
    "--py-files": ".py, .zip or .egg files to import from, separated by commas.",
    "--files": "Files for every worker, separated by commas.",
    "--driver-memory": "Memory of the driver, as in 2g.",
    "--packages": "Maven coordinates; this and every other option of spark-submit goes to Spark.",
}


@click.command(context_settings={"allow_interspersed_args": False})
@spark_options
@store_option
@memo_option
@report_option
@click.argument("script", metavar="SCRIPT.PY")
@click.argument("arguments", metavar="[ARGS]…", nargs=-1, type=click.UNPROCESSED)
def submit(
    script: str,
    arguments: tuple[str, ...],
    store: Path,
    memo: str | None,
    report: str,
    conf: tuple[str, ...],
    **options: Any,
) -> None:
    """Run an unmodified PySpark RDD program; what did not change since its last run is not computed again.

    Options stand before the script, and are those of spark-submit; what follows the script is its own. Its exit code
    is the command's.

    \b
    Examples:
      incoop submit pagerank.py links.txt 10
      incoop submit --master 'local[4]' --conf spark.driver.memory=2g wordcount.py corpus/
      incoop submit --store /data/store --report json --py-files helpers.zip etl.py
    """
    script = local_path(script)
    if not Path(script).is_file():
        raise BadCall(f"there is no program {script}; give the path of a Python file.")
    if options.get("deploy_mode") not in (None, "client"):
        raise BadCall("--deploy-mode is client here: the program runs in this process.")
    _with_hash_seed()
    settings, named = _settings(conf), options["name"]
    if not options["name"] and "spark.app.name" not in settings and not options["properties_file"]:
        options["name"] = Path(script).name  # as spark-submit
    os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join([*_spark_arguments(options, settings), "pyspark-shell"])
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for file in reversed((options.get("py_files") or "").split(",")):
        if file:
            sys.path.insert(1, str(Path(file).resolve() if not file.endswith(".py") else Path(file).resolve().parent))

    from incoop.fronts.rdd.entry_points import patched
    from incoop.fronts.rdd.submit import Programs, run_script, stop_spark
    from incoop.fronts.rdd.unstarted.settings import Command as SparkCommand

    command = SparkCommand.of(options, settings, script)
    programs = Programs(named or Path(script).name, command, store=store, memo=memo)
    try:
        with patched(programs):
            code = run_script(script, arguments)
            programs.close_all()
        stop_spark()
    finally:
        programs.close_all()
        sys.stdout.flush()
    show_report(report, _facts(programs), _text(programs))
    sys.exit(code)


def _with_hash_seed() -> None:
    """Start again with the hash seed that spark-submit sets: keys hash alike on the driver and in workers."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _settings(conf: tuple[str, ...]) -> dict[str, str]:
    """What `--conf KEY=VALUE` says."""
    for setting in conf:
        if "=" not in setting:
            raise BadCall(f"--conf takes KEY=VALUE, not {setting!r}.")
    return dict(setting.split("=", 1) for setting in conf)


def _spark_arguments(options: dict[str, Any], settings: dict[str, str]) -> list[str]:
    # A progress line of Spark's would mix with the program's own output.
    words = ["--conf", "spark.ui.showConsoleProgress=false"]
    for name in _SPARK_OPTIONS:
        value = options[name.removeprefix("--").replace("-", "_")]
        if value is not None:
            words += [name, value]
    for key, value in settings.items():
        words += ["--conf", f"{key}={value}"]
    return words


def _facts(programs: Programs) -> dict[str, Any]:
    from incoop.fronts.common.reports import added_up

    reports = [report for program in programs.all for report in program.reports]
    whole = added_up(programs.name, reports).as_dict()
    return {
        "stages": [report.as_dict() for report in reports],
        "notes": [note for program in programs.all for note in program.notes],
        **{name: whole[name] for name in ("job", "map", "keys", "warnings")},
    }


def _text(programs: Programs) -> str:
    facts = _facts(programs)
    if not facts["stages"]:
        return f"{programs.name}: no memoized stage ran"
    lines = [f"{'map chunks':>17}{'reduced keys':>21}{'seconds':>9}  stage"]
    for stage in facts["stages"]:
        chunks = f"{stage['map']['executed']:,} of {stage['map']['tasks']:,}"
        keys = f"{stage['keys']['reduced']:,} of {stage['keys']['total']:,}"
        lines.append(f"{chunks:>17}{keys:>21}{stage['seconds']['total']:>9.2f}  {stage['job']}")
    return "\n".join([*lines, *(f"warning: {warning}" for warning in facts["warnings"])])
