"""`incoop verify --rerun`: run a share of every known job again, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from incoop.engine.record import Origin, Record
from incoop.memo import MemoStore, stats

_CALL = "import sys; from incoop.cli.main import main; sys.argv[0] = 'incoop'; main()"


def rerun_jobs(store: Path, memo: str | None, share: float) -> list[dict[str, Any]]:
    """Say of every job what came out; one whose last run was not `incoop run` can only be verified by its program."""
    origins = _origins(store, memo)
    found = []
    for job, origin in origins.items():
        if origin is None:
            said, wrong, checked = "was not run by `incoop run`; use verify= in its program", False, False
        else:
            said, code = _rerun(origin, store.absolute(), memo, share)
            # Only this error says that a result is wrong; another is that nothing could be computed.
            wrong, checked = code != 0 and "gave two results" in said, code == 0
        click.echo(f"{job}: {said}")
        found.append({"job": job, "checked": checked, "wrong": wrong, "said": said})
    return found


def _origins(store: Path, memo: str | None) -> dict[str, Origin | None]:
    with MemoStore.open(store, memo, create=False, maintenance=True) as opened:
        found: dict[str, Origin | None] = {}
        for job in stats(opened).jobs:
            generation = opened.last_generation(job.job)
            record = Record.from_bytes(generation.record) if generation is not None else None
            if record is not None:
                found[job.job] = record.origin
        return found


def _rerun(origin: Origin, store: Path, memo: str | None, share: float) -> tuple[str, int]:
    words = ["run", origin.job, *origin.inputs, "--only-verify", str(share), "--store", str(store)]
    words += ["--memo", memo] if memo is not None else []
    folder = Path(origin.folder)
    if not folder.is_dir():
        return f"the folder {folder}, where it was run, is gone", 1
    done = subprocess.run(
        [sys.executable, "-c", _CALL, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    said = done.stdout if done.returncode == 0 else done.stderr
    return said.strip() or "nothing was said", done.returncode
