"""What a Streaming command runs counts, however far from its words: changed means run again, unchanged means reuse.

Each member is a job of real commands. Its result is compared with that of the same commands in a plain pipe, before and
after a file that no option names is edited; a third run reuses everything, also after all files were touched.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from incoop.fronts.common.command_files import content_of
from incoop.fronts.streaming.seen_reads import WATCHING
from tests.fronts.streams import Streams, some_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """\
import sys
{imports}

for line in sys.stdin:
    print({call})
"""
ONE = "def change(line):\n    return line.strip().upper()\n"
TWO = "def change(line):\n    return line.strip()[::-1]\n"

CALLS_HELPER = SCRIPT.format(imports="from helper import change", call="change(line)")


class Case:
    """A folder with programs; made in it, a job's options, and the edit after which it must run again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: Given to the job with -cmdenv.
        self.environment: dict[str, str] = {}
        self.options: list[str] = []

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path


Made = tuple[str, Callable[[], object]]
CASES: dict[str, Callable[[Case], Made]] = {}


def case(build: Callable[[Case], Made]) -> Callable[[Case], Made]:
    CASES[build.__name__] = build
    return build


def edit(case: Case, name: str = "helper.py", one: str = ONE, two: str = TWO) -> Callable[[], object]:
    """Write the first version of a file; gives what writes the second."""
    case.write(name, one)
    return lambda: case.write(name, two)


@case
def a_neighbour_of_a_script(case: Case) -> Made:
    return f"python3 {case.write('map.py', CALLS_HELPER)}", edit(case)


@case
def a_neighbours_neighbour(case: Case) -> Made:
    case.write("middle.py", "from helper import *\n")
    script = case.write("map.py", SCRIPT.format(imports="import middle", call="middle.change(line)"))
    return f"python3 {script}", edit(case)


@case
def a_module_of_a_package_by_a_relative_import(case: Case) -> Made:
    case.write("kit/__init__.py", "from .api import change\n")
    case.write("kit/api.py", "from .deep.helper import change\n")
    case.write("kit/deep/__init__.py", "")
    script = case.write("map.py", SCRIPT.format(imports="import kit", call="kit.change(line)"))
    return f"python3 {script}", edit(case, "kit/deep/helper.py")


@case
def a_package_without_init(case: Case) -> Made:
    script = case.write("map.py", SCRIPT.format(imports="from space import helper", call="helper.change(line)"))
    return f"python3 {script}", edit(case, "space/helper.py")


@case
def a_module_imported_inside_a_function(case: Case) -> Made:
    imports = "def change(line):\n    import helper\n    return helper.change(line)"
    return f"python3 {case.write('map.py', SCRIPT.format(imports=imports, call='change(line)'))}", edit(case)


@case
def a_module_whose_name_is_computed(case: Case) -> Made:
    imports = "import importlib\nhelper = importlib.import_module('_'.join(['help', 'er']).replace('_', ''))"
    return f"python3 {case.write('map.py', SCRIPT.format(imports=imports, call='helper.change(line)'))}", edit(case)


@case
def a_module_named_in_a_text(case: Case) -> Made:
    imports = "import importlib\nhelper = importlib.import_module('helper')"
    return f"python3 {case.write('map.py', SCRIPT.format(imports=imports, call='helper.change(line)'))}", edit(case)


@case
def a_new_module_that_hides_another(case: Case) -> Made:
    imports = "from colorsys import *\nimport colorsys"
    script = case.write("map.py", SCRIPT.format(imports=imports, call="hasattr(colorsys, 'rgb_to_hsv'), line.strip()"))
    return f"python3 {script}", lambda: case.write("colorsys.py", "")


@case
def a_module_on_pythonpath(case: Case) -> Made:
    case.environment["PYTHONPATH"] = str(case.folder / "library")
    return f"python3 {case.write('map.py', CALLS_HELPER)}", edit(case, "library/helper.py")


@case
def a_module_in_a_zip_on_pythonpath(case: Case) -> Made:
    path = case.folder / "library.zip"

    def pack(text: str) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("helper.py", text)

    pack(ONE)
    case.environment["PYTHONPATH"] = str(path)
    return f"python3 {case.write('map.py', CALLS_HELPER)}", lambda: pack(TWO)


@case
def a_module_run_with_m(case: Case) -> Made:
    case.environment["PYTHONPATH"] = str(case.folder / "library")
    case.write("library/kit/__init__.py", "")
    case.write("library/kit/mod.py", CALLS_HELPER.replace("from helper", "from .helper"))
    return "python3 -m kit.mod", edit(case, "library/kit/helper.py")


@case
def a_package_run_with_m(case: Case) -> Made:
    case.environment["PYTHONPATH"] = str(case.folder / "library")
    case.write("library/kit/__main__.py", CALLS_HELPER.replace("from helper", "from .helper"))
    return "python3 -m kit", edit(case, "library/kit/helper.py")


@case
def a_module_imported_by_code_in_the_command(case: Case) -> Made:
    case.environment["PYTHONPATH"] = str(case.folder)
    return "python3 -c 'import sys, helper; [print(helper.change(line)) for line in sys.stdin]'", edit(case)


@case
def a_script_shipped_whose_module_is_on_pythonpath(case: Case) -> Made:
    case.environment["PYTHONPATH"] = str(case.folder / "library")
    case.options += ["-files", str(case.write("map.py", CALLS_HELPER))]
    return "python3 map.py", edit(case, "library/helper.py")


@case
def a_sitecustomize_on_pythonpath(case: Case) -> Made:
    case.environment["PYTHONPATH"] = str(case.folder / "library")
    script = case.write("map.py", SCRIPT.format(imports="import builtins", call="builtins.change(line)"))
    builtin = "\nimport builtins\nbuiltins.change = change\n"
    return f"python3 {script}", edit(case, "library/sitecustomize.py", ONE + builtin, TWO + builtin)


@case
def an_editable_package_of_the_programs_own_python(case: Case) -> Made:
    """Its folder comes from a .pth file, which no variable names."""
    packages = case.folder / "venv/lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    (case.folder / "venv/bin").mkdir()
    (case.folder / "venv/bin/python3").symlink_to(Path(sys.executable).resolve())
    (case.folder / "venv/pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    (packages / "own.pth").write_text(f"{case.folder / 'source'}\n")
    script = case.write("scripts/map.py", CALLS_HELPER)
    return f"{case.folder}/venv/bin/python3 {script}", edit(case, "source/helper.py")


@case
def an_installed_package_of_the_programs_own_python(case: Case) -> Made:
    made = an_editable_package_of_the_programs_own_python(case)[0]
    packages = next((case.folder / "venv/lib").iterdir()) / "site-packages"
    (packages / "own.pth").unlink()
    name = f"{packages.relative_to(case.folder)}/helper/__init__.py"
    return made, edit(case, name, ONE, TWO + "# more\n")


@case
def a_script_in_a_shells_command_line(case: Case) -> Made:
    case.write("map.py", CALLS_HELPER)
    return f"sh -c 'python3 {case.folder}/map.py | cat'", edit(case)


@case
def a_script_itself_in_a_shells_command_line(case: Case) -> Made:
    change = edit(case, "map.sh", "tr a-z A-Z\n", "tr a-z b-za\n")
    return f"bash -c 'cat | sh {case.folder}/map.sh'", change


@case
def a_script_behind_env(case: Case) -> Made:
    return f"env X=1 python3 {case.write('map.py', CALLS_HELPER)}", edit(case)


@case
def a_script_that_a_script_calls(case: Case) -> Made:
    case.write("map.py", CALLS_HELPER)
    script = case.write("run.sh", f"# calls another\npython3 {case.folder}/map.py | cat\n")
    return f"bash {script}", edit(case)


@case
def a_script_beside_a_script(case: Case) -> Made:
    case.write("map.py", CALLS_HELPER)
    script = case.write("run.sh", '#!/bin/sh\nexec python3 "$(dirname "$0")/map.py"\n')
    return str(script), edit(case)


@case
def a_file_that_a_shell_sources(case: Case) -> Made:
    script = case.write("run.sh", f'. {case.folder}/settings.sh\ntr "$FROM" "$TO"\n')
    return f"sh {script}", edit(case, "settings.sh", "FROM=a-z TO=A-Z\n", "FROM=a-z TO=b-za\n")


@case
def a_program_on_path(case: Case) -> Made:
    case.environment["PATH"] = f"{case.folder}/bin:{os.environ['PATH']}"
    return "sh -c 'cat | shout'", edit(case, "bin/shout", "#!/bin/sh\ntr a-z A-Z\n", "#!/bin/sh\ntr a-z b-za\n")


@case
def a_neighbour_of_a_program_on_path(case: Case) -> Made:
    case.environment["PATH"] = f"{case.folder}/bin:{os.environ['PATH']}"
    case.write("bin/shout", "#!/usr/bin/env python3\n" + CALLS_HELPER)
    return "shout", edit(case, "bin/helper.py")


@case
def an_awk_program_and_what_it_reads(case: Case) -> Made:
    program = f'BEGIN {{ while ((getline word < "{case.folder}/words") > 0) with = word }} {{ print $1, with }}\n'
    return f"awk -f {case.write('map.awk', program)}", edit(case, "words", "one\n", "two\n")


@case
def a_perl_module_beside_the_script(case: Case) -> Made:
    script = case.write("map.pl", "use Kit::Helper;\nwhile (<>) { print Kit::Helper::change($_); }\n")
    one = "package Kit::Helper;\nsub change { return uc $_[0]; }\n1;\n"
    return f"perl -I{case.folder} {script}", edit(case, "Kit/Helper.pm", one, one.replace("uc ", "ucfirst lc "))


@case
def a_sed_script_behind_an_option(case: Case) -> Made:
    return f"sed --file={case.folder}/map.sed", edit(case, "map.sed", "s/word/w/\n", "s/word/v/\n")


@case
def a_file_that_a_python_script_names(case: Case) -> Made:
    imports = "import os\nhere = os.path.dirname(os.path.abspath(__file__))\n"
    imports += "sign = open(os.path.join(here, 'sign.txt')).read().strip()"
    script = case.write("map.py", SCRIPT.format(imports=imports, call="line.strip() + sign"))
    return f"python3 {script}", edit(case, "sign.txt", "!\n", "?\n")


@case
def a_program_that_a_python_script_starts(case: Case) -> Made:
    text = f"import subprocess\nsubprocess.run(['sh', '{case.folder}/run.sh'], check=True)\n"
    return f"python3 {case.write('map.py', text)}", edit(case, "run.sh", "tr a-z A-Z\n", "tr a-z b-za\n")


@pytest.fixture
def streams(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[Streams]:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    made = Streams(tmp_path, spark)
    yield made
    made.session.close()


@pytest.mark.parametrize("name", CASES)
def test_changed_runs_again_and_unchanged_is_reused(streams: Streams, name: str) -> None:
    case = Case(streams.folder / "programs")
    case.folder.mkdir()
    command, change = CASES[name](case)
    streams.write(some_lines(60))
    words = [*case.options, "-mapper", command]
    for variable, value in case.environment.items():
        words += ["-cmdenv", f"{variable}={value}"]
    given = " ".join(f"{variable}='{value}'" for variable, value in case.environment.items())
    pipe = f"cd programs && {given} {command} | sort"

    def outcome() -> bytes:
        """What the job gives and a plain pipe gives; nothing is run a second time."""
        output, _ = streams.run(*words)
        assert sorted(output.splitlines()) == sorted(streams.shell(pipe).splitlines())
        for path in case.folder.rglob("*"):
            if "site-packages" not in path.parts:  # which count by their times
                path.touch()
        again, report = streams.run(*words)
        assert (again, report.map.executed) == (output, 0)
        return output

    before = outcome()
    change()
    assert outcome() != before


def test_a_program_that_moves_with_what_it_reads_is_the_same(streams: Streams) -> None:
    streams.write(some_lines(60))
    case = Case(streams.folder / "here")
    case.write("map.py", CALLS_HELPER)
    case.write("helper.py", ONE)
    first = content_of(["python3", str(case.folder / "map.py")], streams.folder / "run", dict(os.environ))
    case.folder.rename(streams.folder / "there")
    moved = content_of(["python3", str(streams.folder / "there/map.py")], streams.folder / "run", dict(os.environ))
    assert moved == first and ("helper.py" in dict(moved))


def test_what_a_program_writes_does_not_count(streams: Streams) -> None:
    """A log that it appends to would make it run again for ever."""
    streams.write(some_lines(60))
    log = streams.folder / "log"
    log.write_text("old\n")
    for command in (f"awk '{{ print; print NR >> \"{log}\" }}'", f"sh -c 'tee /dev/null 2>{log}; date >> {log}'"):
        streams.run("-mapper", command)
        log.write_text(log.read_text() + "more\n")
        assert streams.run("-mapper", command)[1].map.executed == 0


def test_large_data_that_is_named_is_not_searched(tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_text("".join(f"/proc/{number} " for number in range(100_000)))
    (found,) = [name for name, _ in content_of(["join", "-", str(data)], tmp_path / "run", {}) if name == "data.txt"]
    assert found


# -- what is seen while it runs -----------------------------------------------

SEEN: dict[str, Callable[[Case], Made]] = {}


def seen(build: Callable[[Case], Made]) -> Callable[[Case], Made]:
    SEEN[build.__name__] = build
    return build


@seen
def a_file_whose_name_is_put_together(case: Case) -> Made:
    imports = f"sign = open('/'.join(['{case.folder}', 'si' + 'gn.txt'])).read().strip()"
    script = case.write("map.py", SCRIPT.format(imports=imports, call="line.strip() + sign"))
    return f"python3 {script}", edit(case, "sign.txt", "!\n", "?\n")


@seen
def a_file_that_was_not_there(case: Case) -> Made:
    imports = f"import os\nname = os.sep.join(['{case.folder}', 'si' + 'gn.txt'])\n"
    imports += "try:\n    sign = open(name).read()\nexcept OSError:\n    sign = 'none'"
    script = case.write("map.py", SCRIPT.format(imports=imports, call="line.strip() + sign"))
    return f"python3 {script}", lambda: case.write("sign.txt", "some")


@seen
def the_list_of_a_folder(case: Case) -> Made:
    case.write("data/one", "")
    imports = f"import os\nnames = sorted(os.listdir('{case.folder}' + '/data'))"
    script = case.write("map.py", SCRIPT.format(imports=imports, call="line.strip(), names"))
    return f"python3 {script}", lambda: case.write("data/two", "")


@seen
def a_module_on_a_path_that_the_script_extends(case: Case) -> Made:
    imports = f"sys.path.append('{case.folder}' + '/far')\nfrom helper import change"
    return f"python3 {case.write('map.py', SCRIPT.format(imports=imports, call='change(line)'))}", edit(
        case, "far/helper.py"
    )


@seen
def a_file_read_by_a_library(case: Case) -> Made:
    imports = f"import configparser\nparser = configparser.ConfigParser()\nparser.read('{case.folder}' + '/a.ini')"
    script = case.write("map.py", SCRIPT.format(imports=imports, call="line.strip(), parser['x']['sign']"))
    return f"sh -c 'cat | python3 {script}'", edit(case, "a.ini", "[x]\nsign=!\n", "[x]\nsign=?\n")


@seen
def a_data_base(case: Case) -> Made:
    """Nothing of it is named in a text; sqlite3 tells of what it opens."""
    import sqlite3

    def put(sign: str) -> None:
        (case.folder / "signs.db").unlink(missing_ok=True)
        with sqlite3.connect(case.folder / "signs.db") as data:
            data.execute("CREATE TABLE signs (sign)")
            data.execute("INSERT INTO signs VALUES (?)", [sign])
        data.close()

    put("!")
    imports = f"import sqlite3\ndata = sqlite3.connect('{case.folder}' + '/signs' + '.db')\n"
    imports += "sign = data.execute('SELECT sign FROM signs').fetchone()[0]"
    script = case.write("map.py", SCRIPT.format(imports=imports, call="line.strip() + sign"))
    return f"python3 {script}", lambda: put("?")


@seen
def a_file_in_memory(case: Case) -> Made:
    """Though its folder stands among devices."""
    path = Path("/dev/shm") / f"incoop-test-{os.getpid()}"
    path.write_text("!")
    atexit.register(path.unlink, missing_ok=True)
    imports = f"sign = open('/dev/' + 'shm/{path.name}').read()"
    script = case.write("map.py", SCRIPT.format(imports=imports, call="line.strip() + sign"))

    def change() -> None:
        path.write_text("?")

    return f"python3 {script}", change


@pytest.mark.parametrize("name", SEEN)
def test_what_a_program_was_seen_to_read_counts(streams: Streams, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CASES, name, SEEN[name])
    test_changed_runs_again_and_unchanged_is_reused(streams, name)


def test_a_state_that_comes_back_is_reused(streams: Streams) -> None:
    streams.write(some_lines(60))
    case = Case(streams.folder / "programs")
    command, change = a_file_whose_name_is_put_together(case)
    first, _ = streams.run("-mapper", command)
    change()
    assert streams.run("-mapper", command)[0] != first
    case.write("sign.txt", "!\n")
    again, report = streams.run("-mapper", command)
    assert (again, report.map.executed) == (first, 0)


def test_the_program_does_not_notice_that_it_is_watched(streams: Streams) -> None:
    """Variables, sys.path, loaded modules and a sitecustomize of the user's own are as without incoop."""
    streams.write(["one line"])
    case = Case(streams.folder / "programs")
    case.write("library/sitecustomize.py", "import builtins\nbuiltins.mine = 1\n")
    shown = "print(sorted(sys.modules), sys.path[1:], os.environ.get('PYTHONPATH'), builtins.mine, sys.stdin.read()); "
    shown += "print([name for name in os.environ if name.startswith('INCOOP_')])"
    script = case.write("map.py", f"import sys, os, builtins\n{shown}\n")
    library = str(case.folder / "library")
    output, _ = streams.run(
        *["-cmdenv", f"PYTHONPATH={library}", "-cmdenv", "LC_ALL=C", "-mapper", f"python3 {script}"]
    )
    alone = streams.shell(f"HOME='{os.environ['HOME']}' PYTHONPATH={library} python3 {script}")
    assert output.split() == alone.split()


def test_programs_that_cannot_be_watched_run_all_the_same(streams: Streams) -> None:
    streams.write(some_lines(20))
    case = Case(streams.folder / "programs")
    script = case.write("map.py", SCRIPT.format(imports="", call="line.strip().upper()"))
    for flags in ("-I", "-S", "-E", "-IS"):
        output, _ = streams.run("-mapper", f"python3 {flags} {script}")
        assert sorted(output.split()) == sorted(streams.shell(f"python3 {flags} {script}").split())


def test_watching_says_nothing_on_standard_error(tmp_path: Path) -> None:
    """With no sitecustomize of the user's, with one that fails, and where notes cannot be written."""
    failing = tmp_path / "failing"
    failing.mkdir()
    (failing / "sitecustomize.py").write_text("raise ValueError('mine')\n")
    for own, reads in (("", tmp_path / "a.reads"), ("", "/nowhere/a.reads"), (str(failing), tmp_path / "b.reads")):
        path = os.pathsep.join(filter(None, [str(WATCHING), own]))
        variables = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "INCOOP_READS": str(reads)}
        if own:
            variables["INCOOP_PYTHONPATH"] = own
        code = "import os; open('/etc/hostname').close(); print(os.environ.get('PYTHONPATH'), sorted(os.environ))"
        watched = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, check=True)
        plain = {name: value for name, value in variables.items() if name == "PATH"}
        plain |= {"PYTHONPATH": own} if own else {}
        alone = subprocess.run([sys.executable, "-c", code], env=plain, capture_output=True, check=True)
        assert (watched.stdout, watched.stderr) == (alone.stdout, alone.stderr)
    assert "/etc/hostname" in (tmp_path / "a.reads").read_text()
