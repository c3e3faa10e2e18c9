"""What installing incoop does to the environment that it is installed in: one name, and nothing when Python starts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: What pip builds from. In a copy: a build leaves files beside what it reads.
SOURCES = ("src", "incoop", "inchdfs", "contraction", "scheduler", "pyproject.toml", "README.md", "LICENSE")

#: Top-level folders of ours, and names that a user's modules may have as well.
ROOMS = ("inchdfs", "contraction", "scheduler")


def _ours(modules: str) -> list[str]:
    return [name for name in modules.split() if "incoop" in name or name in ROOMS]


def _python(python: Path | str, code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of Python in a folder, whose modules it can import."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | environment
    return subprocess.run([str(python), "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=False)


def _pip(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)
    if done.returncode and "setuptools" in done.stderr and "No matching distribution" in done.stderr:
        pytest.skip("pip finds no setuptools to build with: there is no network")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that an installed wheel is."""
    built, installed = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("installed")
    _pip("wheel", "--quiet", "--no-deps", "--wheel-dir", str(built), str(sources))
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        archive.extractall(installed)
    return installed


@pytest.fixture(scope="module")
def editable(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment of its own with an editable installation, and the packages of this one."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    _pip("--python", str(python), "install", "--quiet", "--no-deps", "--editable", str(sources))
    # Only now: pip would take the incoop of this environment for one to be replaced.
    site = next((folder / "lib").glob("python*/site-packages"))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return python


def test_python_imports_nothing_of_ours_when_it_starts(tmp_path: Path) -> None:
    """Streaming starts the user's Python for every chunk: what an installation adds to that is paid as often."""
    command = [sys.executable, "-c", "import sys; print(*sys.modules)"]
    started = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not _ours(started.stdout)


def test_a_python_with_an_editable_installation_loads_no_finder_when_it_starts(editable: Path, tmp_path: Path) -> None:
    started = _python(editable, "import sys; print(*sys.modules, *sys.meta_path)", tmp_path)
    assert started.returncode == 0, started.stderr
    assert not _ours(started.stdout) and "editable" not in started.stdout.lower()


def test_a_wheel_installs_one_name_with_all_rooms_below_it(wheel: Path) -> None:
    assert [path.name for path in wheel.iterdir() if not path.name.endswith(".dist-info")] == ["incoop"]
    for room in ROOMS:
        wanted = {path.relative_to(ROOT / room) for path in (ROOT / room).rglob("*.py")}
        assert {path.relative_to(wheel / "incoop" / room) for path in (wheel / "incoop" / room).rglob("*.py")} == wanted
    assert (wheel / "incoop" / "py.typed").exists()


@pytest.mark.parametrize("room", ROOMS)
def test_a_users_program_does_not_get_a_room_of_ours_by_its_bare_name(
    editable: Path, tmp_path: Path, room: str
) -> None:
    done = _python(editable, f"import incoop; import {room}", tmp_path)
    assert f"No module named '{room}'" in done.stderr


USE = """
import incoop, scheduler, contraction, inchdfs
import incoop.session, incoop.contraction.tree.node, incoop.scheduler.placement
from pathlib import Path
from incoop.inchdfs import ChunkSettings, Lines, chunk_file
from incoop.inchdfs.files.sources import InputFile
Path("input.txt").write_text("oak\\n" * 10_000)
chunks = list(chunk_file(InputFile(Path("input.txt"), "input.txt"), ChunkSettings(), Lines()))
print(sum(chunk.length for chunk in chunks), scheduler.MINE, contraction.MINE, inchdfs.MINE)
"""


@pytest.mark.parametrize("installed", ["wheel", "editable"])
def test_a_users_modules_of_the_same_names_stay_the_users(
    installed: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    for room in ROOMS:
        (tmp_path / f"{room}.py").write_text("MINE = True\n")
    if installed == "editable":
        done = _python(request.getfixturevalue("editable"), USE, tmp_path)
    else:
        paths = os.pathsep.join([str(request.getfixturevalue("wheel")), sysconfig.get_path("purelib")])
        done = _python(sys.executable, USE, tmp_path, PYTHONPATH=paths)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["40000", "True", "True", "True"]
