"""Another user, a place that both can reach, a small disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# Before a test here imports it: tests/memo does so, and is told when that comes too late.
pytest.register_assert_rewrite("tests.memo.places")

#: The number that systems give to nobody.
OTHER = 65534

#: Does something to a file system.
Deed = Callable[[], object]


def do_as(user: int, deed: Deed) -> None:
    """Do something as another user, in a child of this process."""
    child = os.fork()
    if not child:
        code = 1
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            deed()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the other user could not do it"


@pytest.fixture
def as_other() -> Callable[[Deed], None]:
    """Does something as another user; only root can become one."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    return lambda deed: do_as(OTHER, deed)


@pytest.fixture
def commons() -> Iterator[Path]:
    """A folder like /tmp, which every user may write to."""
    folder = Path(tempfile.mkdtemp(prefix="ih", dir="/tmp"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def small_disk(commons: Path) -> Iterator[Path]:
    """A file system of 4 MB of our own."""
    disk = commons / "disk"
    disk.mkdir()
    options = ["-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs"]
    if os.geteuid() != 0 or subprocess.run(["mount", *options, disk], capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here (it takes root, and CAP_SYS_ADMIN)")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


@pytest.fixture
def job_file(tmp_path: Path) -> Path:
    """A job that counts words, and an input for it."""
    (tmp_path / "words.txt").write_text("ash oak\noak larch\n" * 50)
    path = tmp_path / "count.py"
    path.write_text(
        "import incoop\n"
        "def words(_, line):\n    for word in line.split():\n        yield word, 1\n"
        "def total(word, counts):\n    yield word, sum(counts)\n"
        "job = incoop.Job('count', words, total, total)\n"
    )
    return path


#: What `incoop run` prints for it.
COUNTED = "ash\t50\nlarch\t50\noak\t100\n"


def children_of(pid: int) -> list[int]:
    """Processes that a process started, and those they did."""
    found = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True).stdout.split()
    return [int(each) for each in found] + [grand for each in found for grand in children_of(int(each))]


if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]
