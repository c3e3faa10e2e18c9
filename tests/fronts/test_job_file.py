"""Job files that are loaded side by side, in one process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from incoop.fronts.common.job_file import load_job, window_of

JOB = """
import incoop

def seconds(line):
    return {number}

job = incoop.Job("job {number}", lambda _, line: [({number}, line)])
"""


def test_files_of_one_name_keep_their_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    paths = [tmp_path / str(number) / "same_name.py" for number in range(4)]
    for number, path in enumerate(paths):
        path.parent.mkdir()
        path.write_text(JOB.format(number=number))
    jobs = [load_job(str(path)) for path in paths]
    for number, job in enumerate(jobs):
        assert callable(job.mapper)
        module = sys.modules[job.mapper.__module__]
        assert vars(module)["job"] is job, "another file took its name: workers would get the other's source"
        window = window_of(str(paths[number]), "1h", "seconds")
        assert window is not None and window.of is vars(module)["seconds"]
    again = load_job(str(paths[2])).mapper
    assert callable(again) and callable(jobs[2].mapper)
    assert again.__module__ == jobs[2].mapper.__module__, "loaded again, under its name"
