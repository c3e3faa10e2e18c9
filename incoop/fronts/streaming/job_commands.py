"""What a job's options ask for: its commands as programs, their environment, the job's name.

Contract: everything is found, or refused, before anything runs.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import xxhash

from incoop.base.errors import BadCall
from incoop.fronts.streaming.options import Options
from incoop.fronts.streaming.program import Program
from incoop.fronts.streaming.program_builder import ProgramBuilder
from incoop.fronts.streaming.properties import is_placement, variable_of
from incoop.fronts.streaming.reduce import AGGREGATE
from incoop.fronts.streaming.settings import Settings, command_or_none
from incoop.fronts.streaming.shipped_files import ShippedFile, without_clashes

#: Variables of the caller that programs get too; they say where things are.
_PLACES = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LD_LIBRARY_PATH", "JAVA_HOME", "VIRTUAL_ENV")

#: Variables of the caller that can change what a program computes.
_MEANINGFUL = ("LANG", "LANGUAGE", "TZ", "PERL5LIB", "RUBYLIB", "R_LIBS", "GAWKLIBPATH", "AWKPATH", "POSIXLY_CORRECT")
_MEANINGFUL_PREFIXES = ("LC_", "PYTHON")

#: Changes nothing but the number of writes: a program that prints words would be waited for at every one of them.
_NOT_PASSED_ON = "PYTHONUNBUFFERED"

#: How a mapper's text shows that it wants to know its input file: both names of the variable end so.
_INPUT_FILE = b"map_input_file"

#: Programs larger than this are not searched for it: they are interpreters, not scripts.
_SEARCHED = 1 << 20


@dataclass(frozen=True, slots=True)
class JobCommands:
    """The commands of a job, their files in place."""

    #: None for the identity; `AGGREGATE` for Hadoop's aggregate package.
    mapper: Program | None
    combiner: Program | str | None
    reducer: Program | str | None
    #: Folders in which programs note what they read.
    states: frozenset[Path]
    #: The job's own, else one that the next run has, too.
    name: str
    #: Whether mappers are told the name of their input file.
    names_input: bool

    @classmethod
    def found(cls, options: Options, settings: Settings, inputs: list[str], staging: Path) -> JobCommands:
        """Find the programs that options name, and put what goes with them into a folder."""
        builder = _builder(options, settings, staging)
        wanted = _texts(options, settings)
        words = {
            role: builder.words(role, text) for role, text in wanted.items() if text is not None and text != AGGREGATE
        }
        builder.stage()
        programs = {role: builder.build(role, str(wanted[role]), words) for role in words}
        builder.make_executable(list(programs.values()))
        for note in builder.notes:
            options.note(note)
        mapper = programs.get("mapper")
        combiner, reducer = (
            programs.get(role, AGGREGATE if wanted[role] == AGGREGATE else None) for role in ("combiner", "reducer")
        )
        return cls(
            mapper,
            combiner,
            reducer,
            states=frozenset(Path(each.offered.notes) for each in programs.values() if each.offered.notes),
            name=options.properties.get("mapreduce.job.name") or _default_name(options, settings, *wanted.values()),
            names_input=_wants_input_file(settings, inputs, mapper, builder),
        )


def _texts(options: Options, settings: Settings) -> dict[str, str | None]:
    """The command of each role; None for the identity, and for none."""
    mapper = command_or_none("mapper", options.mapper)
    if not settings.reducers:
        if options.combiner is not None:
            options.note("-combiner has no effect without reducers.")
        return {"mapper": mapper, "combiner": None, "reducer": None}
    reducer = command_or_none("reducer", options.reducer)
    if reducer is not None and reducer.lower() == AGGREGATE:
        return {"mapper": mapper, "combiner": AGGREGATE, "reducer": AGGREGATE}
    return {"mapper": mapper, "combiner": command_or_none("combiner", options.combiner), "reducer": reducer}


def _default_name(options: Options, settings: Settings, *commands: str | None) -> str:
    """Found again by the next run: commands and inputs say which job it is, the output's name often has a date."""
    identity = repr((commands, options.inputs, settings.reducers))
    shown = " | ".join(command for command in commands if command)[:60]
    return f"streaming {shown or 'identity'} {xxhash.xxh3_64_hexdigest(identity.encode())[:8]}"


def _wants_input_file(settings: Settings, inputs: list[str], mapper: Program | None, builder: ProgramBuilder) -> bool:
    """Whether mappers are given their input file's name: as asked for, else when their text mentions it."""
    wanted = settings.input_file
    if wanted is None:
        wanted = mapper is not None and _mentions_input_file(mapper, builder)
    if wanted and any(path.startswith("inchdfs:") for path in inputs):
        raise BadCall(
            "the mapper asks for its input file's name, which a stored dataset does not give; name files, or say "
            "-D incoop.input.file.name=false."
        )
    return wanted


def _mentions_input_file(mapper: Program, builder: ProgramBuilder) -> bool:
    if _INPUT_FILE in mapper.text.encode():
        return True
    paths = [builder.staging / link for link in mapper.offered.links]
    paths += [Path(word) for word in mapper.offered.argv if Path(word).is_absolute()]
    files = (file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]))
    return any(
        file.is_file() and file.stat().st_size <= _SEARCHED and _INPUT_FILE in file.read_bytes() for file in files
    )


def caller_environment() -> tuple[dict[str, str], dict[str, str]]:
    """Variables of this process that a program gets: those that are offered, and those that count."""
    places = {name: os.environ[name] for name in _PLACES if name in os.environ}
    meaningful = {
        name: value
        for name, value in os.environ.items()
        if (name in _MEANINGFUL or name.startswith(_MEANINGFUL_PREFIXES)) and name != _NOT_PASSED_ON
    }
    # Without it a Python program that walks through a set prints another order every time.
    meaningful.setdefault("PYTHONHASHSEED", "0")
    return places, meaningful


def _builder(options: Options, settings: Settings, staging: Path) -> ProgramBuilder:
    places, meaningful = caller_environment()
    counted = {
        variable_of(name): value
        for properties in (options.given_properties, options.properties)
        for name, value in properties.items()
        if not is_placement(name)
    }
    run_id = f"{time.strftime('%Y%m%d%H%M%S')}_{os.getpid()}"
    offered = {
        **{variable_of(name): value for name, value in {**options.given_properties, **options.properties}.items()},
        "mapreduce_job_id": f"job_{run_id}",
        "mapred_job_id": f"job_{run_id}",
        "mapreduce_job_name": options.properties.get("mapreduce.job.name", "streamjob"),
        "mapreduce_job_user_name": places.get("USER", ""),
        "mapreduce_input_fileinputformat_inputdir": ",".join(options.inputs),
        "mapreduce_output_fileoutputformat_outputdir": options.output or "",
        **places,
    }
    shipments = [
        *(ShippedFile.parse(text) for text in options.files),
        *(ShippedFile.parse(text, archive=True) for text in options.archives),
    ]
    reducers = str(settings.reducers)
    return ProgramBuilder(
        without_clashes(shipments),
        staging,
        staging.parent / "streaming-reads",
        {
            **counted,
            "mapreduce_job_reduces": reducers,
            "mapred_reduce_tasks": reducers,
            **meaningful,
            **options.environment,
        },
        offered,
        settings.depends_on,
        settings.exit_code_counts,
        settings.timeout,
        options.verbose,
    )
