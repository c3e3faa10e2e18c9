"""What the user's modules do at their top level, and what was put in the place of foreign functions, is in the id.

Each pair of sources is fingerprinted in fresh interpreters. `# file: NAME` starts another file of the case; what comes
before is `job.py`, whose `f` is fingerprinted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from incoop.fingerprint import fingerprint, modules_needed, parts
from tests.quick import some_turn_takes_less

ROOT = Path(__file__).resolve().parents[2]
F = "def f(x): return x\n"

#: Two sources whose functions differ by what a top level does.
DIFFERENT: dict[str, tuple[str, str]] = {
    "nothing, and a codec": (F, "import codecs\ndef find(name): return None\ncodecs.register(find)\n" + F),
    "the codec's search function": (
        "import codecs\ndef find(name): return None\ncodecs.register(find)\n" + F,
        "import codecs\ndef find(name): return name and None\ncodecs.register(find)\n" + F,
    ),
    "a setting": (
        "import decimal\ndecimal.getcontext().prec = 50\n" + F,
        "import decimal\ndecimal.getcontext().prec = 51\n" + F,
    ),
    "a setting taken from a constant": (
        "import decimal\nPRECISION = 50\ndecimal.getcontext().prec = PRECISION\n" + F,
        "import decimal\nPRECISION = 51\ndecimal.getcontext().prec = PRECISION\n" + F,
    ),
    "a setting under another name": (
        "import decimal\ncontext = decimal.getcontext()\ncontext.prec = 50\n" + F,
        "import decimal\ncontext = decimal.getcontext()\ncontext.prec = 51\n" + F,
    ),
    "a dialect": (
        "import csv\ncsv.register_dialect('ours', delimiter=';')\n" + F,
        "import csv\ncsv.register_dialect('ours', delimiter='|')\n" + F,
    ),
    "a call of one's own": ("def setup(): return 1\nsetup()\n" + F, "def setup(): return 2\nsetup()\n" + F),
    "in a branch": ("import job2\nif True:\n    job2.go(1)\n" + F, "import job2\nif True:\n    job2.go(2)\n" + F),
    "in a loop": (
        "import job2\nfor name in ('a', 'b'):\n    job2.go(name)\n" + F,
        "import job2\nfor name in ('a', 'c'):\n    job2.go(name)\n" + F,
    ),
    "in a loop over a list": (
        "import job2\nNAMES = ['a', 'b']\nfor name in NAMES:\n    job2.go(name)\n" + F,
        "import job2\nNAMES = ['c', 'b']\nfor name in NAMES:\n    job2.go(name)\n" + F,
    ),
    "in a try block": (
        "import job2\ntry:\n    job2.go(1)\nexcept ValueError:\n    X = 1\n" + F,
        "import job2\ntry:\n    job2.go(2)\nexcept ValueError:\n    X = 1\n" + F,
    ),
    "in a handler": (
        "import job2\ntry:\n    X = 1\nexcept ValueError:\n    job2.go(1)\n" + F,
        "import job2\ntry:\n    X = 1\nexcept ValueError:\n    job2.go(2)\n" + F,
    ),
    "in a with block": (
        "import contextlib, job2\nwith contextlib.suppress(ValueError):\n    job2.go(1)\n" + F,
        "import contextlib, job2\nwith contextlib.suppress(ValueError):\n    job2.go(2)\n" + F,
    ),
    "in a match": (
        "import job2\nmatch 1:\n    case 1: job2.go(1)\n    case _: X = 1\n" + F,
        "import job2\nmatch 1:\n    case 1: job2.go(2)\n    case _: X = 1\n" + F,
    ),
    "in the module that is not the script": (
        "import job2\nif __name__ == '__main__':\n    job2.go(1)\nelse:\n    job2.go(2)\n" + F,
        "import job2\nif __name__ == '__main__':\n    job2.go(1)\nelse:\n    job2.go(3)\n" + F,
    ),
    "in an imported module": (
        "import rules\ndef f(x): return rules.go(x)\n# file: rules.py\nimport csv\ncsv.field_size_limit(100)\n"
        "def go(x): return x",
        "import rules\ndef f(x): return rules.go(x)\n# file: rules.py\nimport csv\ncsv.field_size_limit(200)\n"
        "def go(x): return x",
    ),
    "in a module that is only imported": (
        "import plugins\ndef f(x): return x\n# file: plugins.py\nimport atexit\natexit.register(id, 1)",
        "import plugins\ndef f(x): return x\n# file: plugins.py\nimport atexit\natexit.register(id, 2)",
    ),
    "in a module that is imported by one that is imported": (
        "import a\ndef f(x): return x\n# file: a.py\ntry:\n    from b import N\nexcept ImportError:\n    N = 0\n"
        "# file: b.py\nN = 1\nimport atexit\natexit.register(id, 1)",
        "import a\ndef f(x): return x\n# file: a.py\ntry:\n    from b import N\nexcept ImportError:\n    N = 0\n"
        "# file: b.py\nN = 1\nimport atexit\natexit.register(id, 2)",
    ),
    "in a package": (
        "from pkg.sub import f\n# file: pkg/__init__.py\nimport atexit\natexit.register(id, 1)\n"
        "# file: pkg/sub.py\ndef f(x): return x",
        "from pkg.sub import f\n# file: pkg/__init__.py\nimport atexit\natexit.register(id, 2)\n"
        "# file: pkg/sub.py\ndef f(x): return x",
    ),
    "in a neighbour that a package imports": (
        "from pkg.sub import f\n# file: pkg/__init__.py\nfrom . import setup\n# file: pkg/setup.py\nimport atexit\n"
        "atexit.register(id, 1)\n# file: pkg/sub.py\ndef f(x): return x",
        "from pkg.sub import f\n# file: pkg/__init__.py\nfrom . import setup\n# file: pkg/setup.py\nimport atexit\n"
        "atexit.register(id, 2)\n# file: pkg/sub.py\ndef f(x): return x",
    ),
    "in a module that a function imports": (
        "def f(x):\n    import late\n    return x\n# file: late.py\nimport atexit\natexit.register(id, 1)",
        "def f(x):\n    import late\n    return x\n# file: late.py\nimport atexit\natexit.register(id, 2)",
    ),
    "in the module of a class": (
        "from shapes import Box\ndef f(x): return Box()\n# file: shapes.py\nclass Box: pass\nimport atexit\n"
        "atexit.register(id, 1)",
        "from shapes import Box\ndef f(x): return Box()\n# file: shapes.py\nclass Box: pass\nimport atexit\n"
        "atexit.register(id, 2)",
    ),
    "in the module of a constant": (
        "import conf\ndef f(x): return conf.N\n# file: conf.py\nN = 1\nimport atexit\natexit.register(id, 1)",
        "import conf\ndef f(x): return conf.N\n# file: conf.py\nN = 1\nimport atexit\natexit.register(id, 2)",
    ),
    "an entry of a registry elsewhere": (
        "import rules\nrules.RULES.append(1)\ndef f(x): return rules.RULES\n# file: rules.py\nRULES = []",
        "import rules\nrules.RULES.append(2)\ndef f(x): return rules.RULES\n# file: rules.py\nRULES = []",
    ),
    "a function of Python's that was replaced": (
        "import json\njson.dumps = lambda x: 'a'\ndef f(x): return json.dumps(x)",
        "import json\njson.dumps = lambda x: 'b'\ndef f(x): return json.dumps(x)",
    ),
    "one replaced elsewhere": (
        "import json, patch\ndef f(x): return json.dumps(x)\n# file: patch.py\nimport json\ndef mine(x): return 'a'\n"
        "setattr(json, 'dumps', mine)",
        "import json, patch\ndef f(x): return json.dumps(x)\n# file: patch.py\nimport json\ndef mine(x): return 'b'\n"
        "setattr(json, 'dumps', mine)",
    ),
}

#: Two sources whose functions are the same: layout, and what can be seen in names by who reads them.
SAME: dict[str, tuple[str, str]] = {
    "nothing": (F, '"Doc."\n\n# comment\n' + F),
    "layout and comments of an effect": (
        "import csv\ncsv.field_size_limit(100)\n" + F,
        '"Doc."\nimport csv\n\n\n# why\ncsv.field_size_limit(\n    100  # enough\n)\n' + F,
    ),
    "a docstring in an effect's function": (
        "def setup(): return 1\nsetup()\n" + F,
        'def setup():\n    "Doc."\n    return 1\nsetup()\n' + F,
    ),
    "the place of a file": (
        "import sys\nsys.path.insert(0, __file__ + 'a')\nimport atexit\natexit.register(id, __file__, __name__)\n" + F,
        "import sys\nsys.path.insert(0, __file__ + 'b')\nimport atexit\natexit.register(id, __file__, __name__)\n" + F,
    ),
    "an unrelated assignment": ("X = 1\n" + F, "X = len('abc')\nY: int = 2\nX += 3\n" + F),
    "an unrelated table": (
        "T = {}\nfor n in range(3): T[n] = n\nL = []\nL.append(1)\n" + F,
        "T = {}\nfor n in range(4): T[n] = n\nif T:\n    T['a'] = {}\n    T['a']['b'] = 1\nL = []\nL.extend([1, 2])\n"
        + F,
    ),
    "an unrelated attribute": (
        "class C: pass\nc = C()\nc.x = 1\nC.y = 1\ndef g(): pass\ng.n = 1\n" + F,
        "class C: pass\nc = C()\nc.x = 2\nC.y = 2\ndef g(): pass\ng.n = 2\n" + F,
    ),
    "an unrelated name by branch": (
        "try:\n    import nowhere\nexcept ImportError:\n    nowhere = None\n" + F,
        "try:\n    import nowhere\nexcept ImportError:\n    nowhere = 3\nfinally:\n    Z = 1\n" + F,
    ),
    "the script's own part": (F, F + "if __name__ == '__main__':\n    import sys\n    sys.exit(f(1))\n"),
    "names for type checkers": (F, "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import nowhere\n" + F),
    "prints and logs": (
        F,
        "import logging\nlog = logging.getLogger(__name__)\nlogging.basicConfig()\nlog.setLevel(10)\nprint()\n" + F,
    ),
    "an assertion": (F, "import sys\nassert sys.version_info\n" + F),
    "an effect of a module that nobody imports": (
        F + "# file: other.py\nimport csv\ncsv.field_size_limit(1)",
        F + "# file: other.py\nimport csv\ncsv.field_size_limit(2)",
    ),
    "an unrelated function of a module with an effect": (
        "import atexit\natexit.register(id)\ndef g(): return 1\n" + F,
        "import atexit\natexit.register(id)\ndef g(): return 2\n" + F,
    ),
    "how often it ran": (
        "CALLS = []\ndef setup(): return len\nsetup()\n" + F,
        "CALLS = []\ndef setup(): return len\nsetup()\ndef warm(): f(1), setup(), CALLS.append(1)\n" + F,
    ),
    "an effect that holds what cannot be hashed": (
        "import threading\nLOCK = threading.Lock()\ndef guard(x): return LOCK\nguard(LOCK)\nLOCK.acquire()\n" + F,
        "import threading\nLOCK = threading.Lock()\ndef guard(x): return LOCK\nguard(LOCK)\nLOCK.acquire()\n" + F,
    ),
    "modules that import each other": (
        "import a\ndef f(x): return a.go(x)\n# file: a.py\nimport b\ndef go(x): return b.N\n# file: b.py\nimport a\n"
        "N = 1\nimport atexit\natexit.register(id)",
        "import a\ndef f(x): return a.go(x)\n# file: a.py\nimport b\n\ndef go(x): return b.N\n# file: b.py\nimport a\n"
        "N = 1\nimport atexit\natexit.register(id)",
    ),
}

SHOW = """
from json import dumps
import job
from incoop.fingerprint import fingerprint, parts
getattr(job, "warm", lambda: None)()
print(dumps([fingerprint(job.f).hex(), {name: value.hex() for name, value in parts(job.f).items()}]))
"""


def _write(folder: Path, source: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "job2.py").write_text("def go(x): return None\n")
    name, texts = "job.py", {"job.py": ""}
    for line in source.splitlines():
        if line.startswith("# file: "):
            name = line.removeprefix("# file: ")
            texts[name] = ""
        else:
            texts[name] += line + "\n"
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def _run(folder: Path, script: str = SHOW, *options: str) -> Any:
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *options, "-c", script]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


FORKS = """
import json, os, sys
import incoop.fingerprint
folders, script = json.load(sys.stdin)
results = []
for folder in folders:
    reader, writer = os.pipe()
    if not os.fork():
        os.dup2(writer, 1)
        sys.path.insert(0, folder)
        exec(script, {"__name__": "show"})
        sys.stdout.flush()
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        results.append(pipe.read())
    os.wait()
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Any]:
    """What each source gives in a process of its own: all come from one that has imported incoop and nothing else."""
    root = tmp_path_factory.mktemp("effects")
    cases: dict[tuple[str, str], Path] = {}
    for number, (name, (old, new)) in enumerate((DIFFERENT | SAME).items()):
        for place, source in (("a", old), ("b", new), ("c/elsewhere", old)):
            cases[name, place] = _write(root / str(number) / place, source)
    told = json.dumps([[str(folder) for folder in cases.values()], SHOW])
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", FORKS]
    done = subprocess.run(command, input=told, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    texts = json.loads(done.stdout)
    assert all(texts), done.stderr
    return {case: json.loads(text.strip().splitlines()[-1]) for case, text in zip(cases, texts, strict=True)}


@pytest.mark.parametrize("name", DIFFERENT)
def test_another_effect_is_another_id(results: dict[tuple[str, str], Any], name: str) -> None:
    old, new = results[name, "a"], results[name, "b"]
    assert old[0] != new[0]
    changed = {part.partition(" ")[0] for part in old[1].keys() | new[1].keys() if old[1].get(part) != new[1].get(part)}
    assert changed & {"effects", "patched", "ambient", "global"}
    assert results[name, "c/elsewhere"] == old, "in another place it is the same"


@pytest.mark.parametrize("name", SAME)
def test_what_is_no_effect_does_not_count(results: dict[tuple[str, str], Any], name: str) -> None:
    assert results[name, "a"][0] == results[name, "b"][0] == results[name, "c/elsewhere"][0]


def test_the_top_level_of_a_script_does_not_count(tmp_path: Path) -> None:
    prints = []
    for number in (1, 2):
        show = "from incoop.fingerprint import fingerprint\nprint(fingerprint(f).hex())\n"
        script = _write(tmp_path, f"import atexit\natexit.register(id, {number})\n{F}{show}") / "job.py"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
        prints.append(done.stdout)
    assert prints[0] == prints[1] != ""


def test_a_module_without_its_source_counts_by_its_code(tmp_path: Path) -> None:
    results = []
    for number in (1, 2, 1):
        folder = _write(tmp_path / f"{len(results)}", f"import atexit\natexit.register(id, {number})\n{F}")
        compiling = f"import py_compile; py_compile.compile({str(folder / 'job.py')!r}, {str(folder / 'job.pyc')!r})"
        subprocess.run([sys.executable, "-c", compiling], check=True)
        (folder / "job.py").unlink()
        results.append(_run(folder)[0])
    assert results[0] == results[2] != results[1]


def test_a_module_from_a_loader_of_ones_own_counts_as_from_its_file(tmp_path: Path) -> None:
    """As a worker imports a module that was sent to it: from a text, with the name of the file that it came from."""
    folder = _write(tmp_path, f"import atexit\natexit.register(id, 1)\n{F}")
    sent = f"""
import importlib.abc, importlib.util, sys
TEXT, FILE = {(folder / "job.py").read_text()!r}, {str(folder / "job.py")!r}
class Sent(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_file_location(name, FILE, loader=self) if name == "job" else None
    def get_source(self, name): return TEXT
sys.meta_path.insert(0, Sent())
"""
    here = _run(folder)
    (folder / "job.py").unlink()
    assert _run(folder, sent + SHOW) == here


def test_a_module_that_is_being_imported_can_be_fingerprinted(tmp_path: Path) -> None:
    source = (
        "from incoop.fingerprint import fingerprint\n"
        + F
        + "EARLY = fingerprint(f)\nimport atexit\natexit.register(id)"
    )
    assert _run(_write(tmp_path, source))[0]


def test_an_effect_that_was_edited_counts_when_it_is_loaded_again(tmp_path: Path) -> None:
    script = """
import importlib, json, os, pathlib, job
from incoop.fingerprint import fingerprint
before = fingerprint(job.f).hex()
path = pathlib.Path(job.__file__)
path.write_text(path.read_text().replace("100", "2000"))
importlib.reload(job)
print(json.dumps([before, fingerprint(job.f).hex()]))
"""
    before, after = _run(_write(tmp_path, "import csv\ncsv.field_size_limit(100)\n" + F), script)
    assert before != after


PATCHES = {
    "a function": ("json.dumps = mine", "json.dumps(x)", "json.dumps"),
    "a function that the code does not name": ("json.loads = mine", "json.dumps(x)", "json.loads"),
    "a class": ("json.JSONEncoder = Mine", "json.dumps(x)", "json.JSONEncoder"),
    "a method": ("json.JSONEncoder.default = mine", "json.dumps(x)", "json.encoder.JSONEncoder.default"),
    "a static method": (
        "textwrap.TextWrapper.wrap = staticmethod(mine)",
        "textwrap.wrap(x)",
        "textwrap.TextWrapper.wrap",
    ),
    "a method of a package's class": (
        "pd.Timestamp.ours = mine",
        "pd.Timestamp(x).ours()",
        "pandas._libs.tslibs.timestamps.Timestamp.ours",
    ),
    "a function of a package": ("np.mean = mine", "np.sum(x)", "numpy.mean"),
    "a function of a module below": ("os.path.join = mine", "os.path.join(x)", "posixpath.join"),
}


@pytest.mark.parametrize("what", PATCHES)
def test_what_was_replaced_counts_where_it_can_be_reached(what: str) -> None:
    patch, use, named = PATCHES[what]
    script = f"""
import json, textwrap, os
import numpy as np, pandas as pd
from incoop.fingerprint import fingerprint, parts
def f(x): return {use}
def g(x): return x.split()
before = fingerprint(f).hex(), fingerprint(g).hex(), sorted(parts(f))
def mine(*args): return 1
class Mine: pass
dumps = json.dumps
{patch}
first = fingerprint(f).hex()
after = fingerprint(f).hex(), fingerprint(g).hex(), sorted(parts(f))
def mine(*args): return 2
class Mine:
    n = 1
{patch}
print(dumps([before, after, fingerprint(f).hex()]))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before, after, last = json.loads(done.stdout)
    assert len({before[0], after[0], last}) == 3
    assert before[1] == after[1], "other code stays"
    assert f"patched {named}" in set(after[2]) - set(before[2])


def test_modules_that_a_worker_must_import_are_named(tmp_path: Path) -> None:
    script = "import json, job; from incoop.fingerprint import modules_needed; print(json.dumps(modules_needed(job.f)))"
    source = F + "import a\n# file: a.py\nfrom pkg import b\n# file: pkg/__init__.py\n# file: pkg/b.py\nN = 1"
    assert _run(_write(tmp_path, source), script) == ["a", "job", "pkg", "pkg.b"]
    assert modules_needed(len) == []


def test_looking_at_top_levels_again_costs_next_to_nothing() -> None:
    parts(_write)
    assert some_turn_takes_less(0.02, lambda: fingerprint(_write))
