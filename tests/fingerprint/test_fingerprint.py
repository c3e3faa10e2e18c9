"""Rules of the entry points: errors, versions, dependencies, parts, notebooks, and code that has run."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle

from incoop.fingerprint import (
    CannotFingerprint,
    DependencyUnreadable,
    changed_parts,
    classes_digest,
    fingerprint,
    parts,
)


def _cell(source: str, **names: Any) -> dict[str, Any]:
    """Run a source as a notebook or REPL does: in a dict called __main__, with no file behind it."""
    namespace: dict[str, Any] = {"__name__": "__main__", **names}
    exec(compile(source, "<ipython-input-1>", "exec"), namespace)
    return namespace


LOOP = """
LIMIT = 3
class Acc:
    def __init__(self): self.n = 0
    def add(self, x): self.n += x; return self
def helper(x): return x + LIMIT
def f(x):
    acc = Acc()
    for i in range(3):
        acc.add(helper(i) if i % 2 else x)
    return acc.n
"""


def test_running_a_function_ten_thousand_times_does_not_change_it() -> None:
    fn = _cell(LOOP)["f"]
    before = fingerprint(fn)
    for x in range(10_000):
        fn(x)
    assert fingerprint(fn) == before == fingerprint(_cell(LOOP)["f"])


def test_a_function_of_a_notebook_follows_a_redefined_cell() -> None:
    namespace = _cell("def g(x): return x\ndef f(x): return g(x)")
    before = fingerprint(namespace["f"])
    exec("def g(x):\n    return x", namespace)
    assert fingerprint(namespace["f"]) == before
    exec("def g(x): return x + 1", namespace)
    assert fingerprint(namespace["f"]) != before


def test_notebook_history_does_not_count_when_code_reads_all_globals() -> None:
    history = {"get_ipython": len, "In": ["a"], "_1": 3}
    one = _cell("N = 1\ndef f(x): return eval(x)", **history)
    other = _cell("N = 1\ndef f(x): return eval(x)", **(history | {"In": ["a", "b"], "_2": 4}))
    assert fingerprint(one["f"]) == fingerprint(other["f"])


def test_a_function_that_travelled_by_value_is_the_same() -> None:
    fn = _cell(LOOP)["f"]
    assert fingerprint(pickle.loads(cloudpickle.dumps(fn))) == fingerprint(fn)


def test_a_script_and_the_same_code_imported_are_the_same(tmp_path: Path) -> None:
    show = "\nif __name__ == '__main__':\n    from incoop.fingerprint import fingerprint; print(fingerprint(f).hex())\n"
    (tmp_path / "job.py").write_text(LOOP + show)
    command = [
        sys.executable,
        "-c",
        "import job; from incoop.fingerprint import fingerprint; print(fingerprint(job.f).hex())",
    ]
    imported = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    script = subprocess.run([sys.executable, "job.py"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    typed = subprocess.run(
        [sys.executable, "-"], input=LOOP + show, cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert imported == script == typed != ""


def test_the_order_of_fingerprinting_does_not_matter_in_a_cycle() -> None:
    source = "def f(n): return g(n)\ndef g(n): return h(n) + 1\ndef h(n): return f(n) + 2"
    forwards, backwards = _cell(source), _cell(source)
    one = {name: fingerprint(forwards[name]) for name in "fgh"}
    other = {name: fingerprint(backwards[name]) for name in "hgf"}
    assert one == other
    assert len(set(one.values())) == 3


def test_an_error_names_the_object_and_the_path_to_it() -> None:
    class Model:
        def __init__(self) -> None:
            self.lock = threading.Lock()

    fn = _cell("def helper(x): return model\ndef words(x): return helper(x)", model=Model())["words"]
    with pytest.raises(CannotFingerprint) as caught:
        fingerprint(fn, role="mapper")
    assert caught.value.what == "_thread.lock"
    assert caught.value.path == ("mapper `words`", "global `helper`", "global `model`", "attribute `lock`")
    assert 'version="..."' in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("def f(x, lock=L): return x", "default of `lock`"),
        ("def make(l):\n    return lambda x: l\nf = make(L)", "captured variable `l`"),
        ("D = {'a': [0, L]}\ndef f(x): return D", "item `a` -> item `1`"),
        ("class C:\n    lock = L\ndef f(x): return C()", "global `C` -> attribute `lock`"),
    ],
)
def test_the_path_of_an_error_names_every_kind_of_step(source: str, path: str) -> None:
    fn = _cell(source, L=threading.Lock())["f"]
    with pytest.raises(CannotFingerprint) as caught:
        fingerprint(fn)
    assert " -> ".join(caught.value.path).endswith(path)


def test_a_lock_among_globals_that_nobody_names_is_no_error() -> None:
    assert fingerprint(_cell("def f(x): return eval(x)", lock=threading.Lock())["f"])
    for both in (
        "def g(x): return eval(x)\ndef f(x): return g(x), lock",
        "def g(x): return lock\ndef f(x): return g(x), eval(x)",
    ):
        with pytest.raises(CannotFingerprint):
            fingerprint(_cell(both, lock=threading.Lock())["f"])


def test_a_version_replaces_the_code_and_what_it_captured() -> None:
    one = _cell("def f(x): return L, 1", L=threading.Lock())["f"]
    other = _cell("def f(x): return L, 2", L=threading.Lock())["f"]
    assert fingerprint(one, version="3") == fingerprint(other, version="3") != fingerprint(one, version="4")
    assert fingerprint(len, version="3") != fingerprint(one, version="3")


def test_files_count_by_content_and_not_by_place(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "x.txt").write_text("x")
        (tmp_path / name / "y.txt").write_text("y")
    (tmp_path / "b" / "__pycache__").mkdir()
    (tmp_path / "b" / "__pycache__" / "z.pyc").write_text("z")
    before = fingerprint(len, depends_on=[tmp_path / "a"])
    assert before == fingerprint(len, depends_on=[str(tmp_path / "b")]) == fingerprint(len, depends_on=tmp_path / "b")
    assert before != fingerprint(len)
    (tmp_path / "b" / "deep" / "x.txt").rename(tmp_path / "b" / "deep" / "w.txt")
    assert before != fingerprint(len, depends_on=[tmp_path / "b"])
    (tmp_path / "a" / "y.txt").write_text("changed")
    assert before != fingerprint(len, depends_on=[tmp_path / "a"])


def test_a_folder_that_links_to_itself_ends_and_a_linked_folder_counts(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "data" / "loop").symlink_to(tmp_path / "data")
    (tmp_path / "data" / "link").symlink_to(tmp_path / "other")
    before = fingerprint(len, depends_on=[tmp_path / "data"])
    (tmp_path / "other" / "new.txt").write_text("new")
    assert fingerprint(len, depends_on=[tmp_path / "data"]) != before


def test_a_missing_dependency_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(DependencyUnreadable, match=r"nowhere\.txt"):
        fingerprint(len, depends_on=[tmp_path / "nowhere.txt"])


def test_only_the_edited_part_is_reported_as_changed() -> None:
    source = "STOP = {'a'}\ndef clean(x): return x\ndef mid(x): return clean(x)\ndef f(x): return mid(x) in STOP"
    before = parts(_cell(source)["f"])
    assert set(before) == {
        "python", "function __main__:f", "function __main__:mid", "function __main__:clean", "global __main__:STOP",
    }  # fmt: skip
    edited = parts(_cell(source.replace("def clean(x): return x", "def clean(x): return x.lower()"))["f"])
    assert [str(change) for change in changed_parts(before, edited)] == ["function `clean` in `__main__` changed"]
    edited = parts(_cell(source.replace("{'a'}", "{'b'}"))["f"])
    assert [str(change) for change in changed_parts(before, edited)] == ["global `STOP` in `__main__` changed"]
    assert changed_parts(before, before) == []


def test_parts_name_methods_packages_captured_variables_versions_and_files(tmp_path: Path) -> None:
    (tmp_path / "stop.txt").write_text("the")
    source = """
import numpy as np
class C:
    def go(self, x): return np.sum(x)
def make(limit):
    def f(x): return C().go(x) > limit
    return f
f = make(3)
"""
    names = set(parts(_cell(source)["f"], depends_on=[tmp_path / "stop.txt"]))
    assert {"function __main__:C.go", "class __main__:C", "package numpy"} <= names
    assert {"captured __main__:make.<locals>.f.limit", f"file {tmp_path / 'stop.txt'}"} <= names
    assert set(parts(len, version="1")) == {"python", "version builtins:len"}


def test_parts_number_lambdas_of_the_same_name() -> None:
    names = parts(_cell("A = [lambda x: 1, lambda x: 2]\ndef f(x): return A")["f"])
    assert {"function __main__:<lambda>", "function __main__:<lambda>#2"} <= set(names)


def test_classes_that_a_mapper_makes_can_join_the_reducers_id() -> None:
    source = "class Acc:\n    def merge(self, o): return self\ndef mapper(k, v): return [(v, Acc())]"
    changed = source.replace("return self", "return o")
    assert classes_digest(_cell(source)["mapper"]) != classes_digest(_cell(changed)["mapper"])
    edited = source.replace("[(v, Acc())]", "[(k, Acc())]")
    assert classes_digest(_cell(source)["mapper"]) == classes_digest(_cell(edited)["mapper"])


def test_spark_handles_are_refused_by_name() -> None:
    from pyspark.core.rdd import RDD

    rdd = RDD.__new__(RDD)
    with pytest.raises(CannotFingerprint, match="handle on Spark"):
        fingerprint(_cell("def f(x): return rdd", rdd=rdd)["f"])
