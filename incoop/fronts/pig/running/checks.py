"""What is looked at before the first batch: inputs that are missing, folders that are not ours to write into.

Contract: nothing is refused that a command of the shell, or a STORE, may bring or take away before it is needed. What
is not looked at here is looked at before its own batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from incoop.engine.save import demand_folder
from incoop.fronts.pig.errors import MissingInput, TextOf
from incoop.fronts.pig.running.batches import plan_of, scans_of, under
from incoop.fronts.pig.running.paths import inputs_of
from incoop.fronts.pig.running.steps import DumpStep, ScriptStep, ShellStep, StoreStep

#: Commands, also of `fs`, that bring no file, and those that take none away.
_BRING_NONE = ("cat", "ls", "lsr", "text", "pwd", "rm", "rmr", "rmf", "mkdir", "test", "chmod", "chown")
_TAKE_NONE = ("cat", "ls", "lsr", "text", "pwd", "mkdir", "test", "chmod", "chown", "cp", "put", "copyFromLocal")


def check_inputs(steps: Sequence[ScriptStep], text_of: TextOf) -> None:
    """Refuse a script whose inputs are missing."""
    folders = [step.folder for step in steps if isinstance(step, StoreStep)]
    for step in _until_a_command(steps, _BRING_NONE):
        if isinstance(step, StoreStep | DumpStep):
            for name in scans_of(plan_of(step)):
                if not any(under(step.loads, name, folder) for folder in folders):
                    inputs_of(step.loads[name], text_of)


def check_outputs(steps: Sequence[ScriptStep]) -> None:
    """Refuse a script that stores into a folder with files of somebody else."""
    for step in _until_a_command(steps, _TAKE_NONE):
        if isinstance(step, StoreStep):
            demand_folder(step.folder)


def _until_a_command(steps: Sequence[ScriptStep], but: Sequence[str]) -> Iterator[ScriptStep]:
    for step in steps:
        if isinstance(step, ShellStep):
            name = step.words[0].removeprefix("-") if step.command == "fs" else step.command
            if name not in but:
                return
        yield step


def input_paths(steps: Sequence[ScriptStep]) -> list[str]:
    """Paths that exist now of all that is loaded."""
    found: list[str] = []
    for step in steps:
        for loaded in step.loads.values() if isinstance(step, StoreStep | DumpStep) else ():
            with suppress(MissingInput):
                found += inputs_of(loaded, lambda _: None)
    return list(dict.fromkeys(found))
