"""State of the process that changes a result is in the id of the code that can reach it, and of no other code.

Each member is a function, a change of state, and a check that plain Python gives another result after the change.
"""

from __future__ import annotations

import calendar
import codecs
import copyreg
import csv
import decimal
import json
import locale
import mimetypes
import os
import pickle
import sqlite3
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from incoop.fingerprint import ambient, ambient_reached, changed_parts, classes_digest, fingerprint, parts
from tests.quick import some_turn_takes_less

ROOT = Path(__file__).resolve().parents[2]

# What the members warn of is what they are about.
pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.filterwarnings("ignore::RuntimeWarning")]


def _job(source: str) -> Any:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(textwrap.dedent(source), "<cell>", "exec"), namespace)
    return namespace["f"]


def _set_zone(name: str) -> None:
    os.environ["TZ"] = name
    time.tzset()


def _set_decimal(**settings: Any) -> None:
    for name, value in settings.items():
        setattr(decimal.getcontext(), name, value)


def _trap(signal: Any) -> None:
    decimal.getcontext().traps[signal] = True


def _as_text(value: Any) -> str:
    return f"<{value}>"


#: The line of the table, a function that reaches it, and what changes its result.
MEMBERS: dict[str, tuple[str, str, Callable[[], Any]]] = {
    "local time of a moment": (
        "time zone",
        "import time\ndef f(x=0): return time.strftime('%H:%M', time.localtime(x))",
        lambda: _set_zone("Asia/Kolkata"),
    ),
    "a moment of local time": (
        "time zone",
        "from datetime import datetime\ndef f(x=2000): return datetime(x, 7, 1).timestamp()",
        lambda: _set_zone("America/New_York"),
    ),
    "local time through a captured date": (
        "time zone",
        "import datetime\nD = datetime.datetime(2000, 1, 1)\ndef f(x=0): return D.astimezone().isoformat()",
        lambda: _set_zone("Europe/Berlin"),
    ),
    "a zone with the same names and other rules in the past": (
        "time zone",
        "import time\ndef f(x=-1_483_228_800): return time.localtime(x)[:5]",
        lambda: _set_zone("Europe/Paris"),
    ),
    "numbers in the local way": (
        "locale",
        "def f(x=1234.5): return f'{x:n}'",
        lambda: locale.setlocale(locale.LC_NUMERIC, _other_locale()),
    ),
    "names of days": (
        "locale",
        "import time\ndef f(x=0): return time.strftime('%A %x', time.gmtime(x))",
        lambda: locale.setlocale(locale.LC_TIME, _other_locale()),
    ),
    "precision": (
        "decimal",
        "from decimal import Decimal\ndef f(x=3): return Decimal(1) / x",
        lambda: _set_decimal(prec=50),
    ),
    "rounding": (
        "decimal",
        "import decimal\ndef f(x='2.5'): return round(decimal.Decimal(x) * 1, 0), decimal.Decimal(x).to_integral()",
        lambda: _set_decimal(rounding=decimal.ROUND_UP),
    ),
    "precision of a captured number": (
        "decimal",
        "import decimal\nONE = decimal.Decimal(1)\ndef f(x=3): return ONE / x",
        lambda: _set_decimal(prec=5),
    ),
    "what is an error": (
        "decimal",
        "import decimal\ndef f(x=3):\n    try: return decimal.Decimal(1) / x\n    except decimal.Inexact: return 0",
        lambda: _trap(decimal.Inexact),
    ),
    "precision in statistics": (
        "decimal",
        "import statistics\nfrom decimal import Decimal as D\ndef f(x=2): return statistics.mean([D(1), D(1), D(x)])",
        lambda: _set_decimal(prec=4),
    ),
    "a dialect": (
        "csv",
        "import csv\ndef f(x='a;b'):\n    try: return list(csv.reader([x], 'ours'))\n    except csv.Error: return None",
        lambda: csv.register_dialect("ours", delimiter=";"),
    ),
    "a dialect of writers": (
        "csv",
        "import csv, io\ndef f(x='a'):\n    out = io.StringIO()\n    try: csv.writer(out, 'ours').writerow([x])\n"
        "    except csv.Error: return None\n    return out.getvalue()",
        lambda: csv.register_dialect("ours", quoting=csv.QUOTE_ALL),
    ),
    "long numbers": (
        "digits of int",
        "def f(x=700):\n    try: return int('9' * x) % 7\n    except ValueError: return -1",
        lambda: sys.set_int_max_str_digits(640),
    ),
    "the first day of the week": (
        "calendar",
        "import calendar\ndef f(x=2020): return calendar.monthcalendar(x, 1)",
        lambda: calendar.setfirstweekday(6),
    ),
    "types of files": (
        "mimetypes",
        "import mimetypes\ndef f(x='a.ours'): return mimetypes.guess_type(x)",
        lambda: mimetypes.add_type("text/x-ours", ".ours"),
    ),
    "prefixes of namespaces": (
        "xml namespaces",
        "from xml.etree import ElementTree as ET\ndef f(x='urn:ours'): return ET.tostring(ET.Element('{%s}a' % x))",
        lambda: ElementTree.register_namespace("ours", "urn:ours"),
    ),
    "an adapter": (
        "sqlite3",
        "import sqlite3\ndef f(x=1+2j):\n    connection = sqlite3.connect(':memory:')\n"
        "    try: return connection.execute('select ?', [x]).fetchall()\n    except sqlite3.Error: return None",
        lambda: sqlite3.register_adapter(complex, _as_text),
    ),
    "warnings that are errors": (
        "warnings",
        "import warnings\ndef f(x='old'):\n    try: warnings.warn(x)\n    except UserWarning: return 1\n    return 0",
        lambda: warnings.simplefilter("error", UserWarning),
    ),
    "division by zero": (
        "numpy",
        "import numpy as np\ndef f(x=1.0):\n    try: return np.array([x]) / 0\n    except FloatingPointError: return 0",
        lambda: np.seterr(divide="raise"),
    ),
    "printed numbers": (
        "numpy",
        "import numpy as np\ndef f(x=3): return str(np.array([1 / x]))",
        lambda: np.set_printoptions(precision=3),
    ),
    "printed numbers, by a function": (
        "numpy",
        "import numpy as np\ndef f(x=3): return str(np.array([1 / x]))",
        lambda: np.set_printoptions(formatter={"float": _as_text}),
    ),
    "printed tables": (
        "pandas",
        "import pandas as pd\ndef f(x=3): return str(pd.Series([1 / x]))",
        lambda: pd.set_option("display.precision", 2),
    ),
    "printed texts": (
        "pandas",
        "import pandas as pd\ndef f(x=40): return str(pd.DataFrame({'a': ['x' * x]}))",
        lambda: pd.set_option("display.max_colwidth", 10),
    ),
    "printed numbers of pandas, by a function": (
        "pandas",
        "import pandas as pd\ndef f(x=3): return str(pd.Series([1 / x]))",
        lambda: pd.set_option("display.float_format", _as_text),
    ),
}

UNRELATED = "def f(x='a b'): return x.split()"


def _other_locale() -> str:
    """A locale of this machine that is not C's: every system has one for UTF-8, most have others."""
    found = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    return next((name for name in found if name[:3] in ("de_", "fr_", "en_")), "C.UTF-8")


@pytest.fixture(autouse=True)
def start_state() -> Iterator[None]:
    """Begin where Python starts, in UTC, and put everything back."""
    zone = os.environ.get("TZ")
    with warnings.catch_warnings():
        # What pytest sets for itself.
        warnings.filters[:] = [entry for entry in warnings.filters if entry[0] != "error"]  # type: ignore[index]
        ambient.restore({})
        _set_zone("UTC")
        yield
        ambient.restore({})
    os.environ.pop("TZ", None)
    if zone is not None:
        os.environ["TZ"] = zone
    time.tzset()
    sqlite3.adapters.pop((complex, sqlite3.PrepareProtocol), None)  # type: ignore[attr-defined]
    mimetypes.init()


@pytest.mark.parametrize("member", MEMBERS)
def test_state_that_changes_a_result_changes_the_id(member: str) -> None:
    line, source, change = MEMBERS[member]
    fn = _job(source)
    if member == "a zone with the same names and other rules in the past":
        _set_zone("Europe/Berlin")
    before = fingerprint(fn), parts(fn), fn()
    assert repr(fn()) == repr(before[2]) and fingerprint(fn) == before[0], "using it changes nothing"
    change()
    after = fn()
    assert fingerprint(fn) != before[0]
    changed = {str(part).rpartition(" ")[0] for part in changed_parts(before[1], parts(fn))}
    assert changed - {"function `_as_text` in `tests.trust.test_ambient`"} == {f"ambient `{line}`"}
    if _other_locale() != "C.UTF-8" or line != "locale":  # some machines have no locale that differs
        assert repr(after) != repr(before[2])


@pytest.mark.parametrize("member", MEMBERS)
def test_state_that_code_cannot_reach_does_not_count(member: str) -> None:
    line, _, change = MEMBERS[member]
    fn = _job(UNRELATED)
    before = fingerprint(fn), classes_digest(fn)
    change()
    if line not in ("locale", "digits of int"):  # any code may format a number
        assert (fingerprint(fn), classes_digest(fn)) == before


@pytest.mark.parametrize("member", MEMBERS)
def test_a_worker_gets_the_state_and_its_successor_does_not(member: str) -> None:
    _, source, change = MEMBERS[member]
    fn = _job(source)
    change()
    values, wanted, result = ambient_reached(fn), fingerprint(fn), fn()
    values = pickle.loads(pickle.dumps(values))
    ambient.restore({})
    _set_zone("UTC")
    other = fingerprint(fn)
    if "adapter" not in member:  # Python has no way to take one back
        assert other != wanted
    ambient.restore(values)
    assert fingerprint(fn) == wanted
    assert repr(fn()) == repr(result)
    ambient.restore({})
    _set_zone("UTC")
    assert fingerprint(fn) == other


def test_a_later_stage_counts_the_state_that_an_earlier_one_reaches() -> None:
    mapper = _job("from decimal import Decimal\ndef f(x): return [(x, Decimal(1))]")
    reducer = _job("def f(key, values): yield key, sum(values) / 3")
    alone, together = fingerprint(reducer), classes_digest(mapper, reducer)
    _set_decimal(prec=50)
    assert fingerprint(reducer) == alone
    assert classes_digest(mapper, reducer) != together


def test_a_package_may_reach_any_state() -> None:
    fn = _job("import pandas\ndef f(x): return pandas.Series(x)")
    before = fingerprint(fn)
    _set_decimal(prec=50)
    assert fingerprint(fn) != before


def test_limits_that_only_avoid_errors_travel_without_counting() -> None:
    fn = _job("import csv\ndef f(x): return list(csv.reader(x))")
    before, limit = fingerprint(fn), sys.getrecursionlimit()
    old = csv.field_size_limit(1 << 20)
    try:
        sys.setrecursionlimit(limit + 777)
        values = ambient_reached(fn)
        assert fingerprint(fn) == before
        sys.setrecursionlimit(limit)
        csv.field_size_limit(131072)  # as Python starts; other tests may have left more
        ambient.restore(values)
        assert (sys.getrecursionlimit(), csv.field_size_limit()) == (limit + 777, 1 << 20)
    finally:
        sys.setrecursionlimit(limit)
        csv.field_size_limit(old)


SHOW = """
import json, sys, pickle, job
from incoop.fingerprint import ambient, ambient_reached, fingerprint, parts
if len(sys.argv) > 1:
    ambient.restore(pickle.loads(bytes.fromhex(sys.argv[1])))
state = pickle.dumps(ambient_reached(job.f)).hex()
print(json.dumps([fingerprint(job.f).hex(), state, [name for name in parts(job.f) if name.startswith("ambient")]]))
"""


def _process(folder: Path, job: str, *arguments: str, options: tuple[str, ...] = (), **environment: str) -> Any:
    (folder / "job.py").write_text(job)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "TZ", "PYTHON"))}
    env |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, *options, "-c", SHOW, *arguments]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


EVERYTHING = """
import calendar, csv, datetime, decimal, json, locale, sqlite3, statistics, time, warnings, xml.etree.ElementTree as xml
import pathlib
import numpy as np, pandas as pd
def f(x): return calendar, csv, datetime, decimal, locale, sqlite3, statistics, time, warnings, xml, np, pd, pathlib, x
"""


def test_a_process_that_left_everything_alone_has_no_ambient_state(tmp_path: Path) -> None:
    assert _process(tmp_path, EVERYTHING, TZ="UTC")[2] == []
    lazy = "def f(x):\n    import numpy, pandas, decimal\n    return numpy, pandas, decimal"
    assert _process(tmp_path, lazy, TZ="UTC")[2] == []


@pytest.mark.parametrize(
    ("job", "environment", "line"),
    [
        ("def f(x): return open(x).read()", {"LC_ALL": "C"}, "encodings"),
        ("import io\ndef f(x): return io.open(x)", {"LC_ALL": "C"}, "encodings"),
        ("import pathlib\ndef f(x): return pathlib.Path(x).read_text()", {"LC_ALL": "C"}, "encodings"),
        ("import os\ndef f(x): return os.fsdecode(x)", {"LC_ALL": "C"}, "encodings"),
        ("import time\ndef f(x): return time.localtime(x)", {"TZ": "Asia/Tokyo"}, "time zone"),
        ("from email import utils\ndef f(x): return utils.localtime(x)", {"TZ": "Asia/Tokyo"}, "time zone"),
        ("import pandas\ndef f(x): return pandas.Timestamp(x)", {"TZ": "Asia/Tokyo"}, "time zone"),
    ],
)
def test_the_environment_of_a_process_counts(tmp_path: Path, job: str, environment: dict[str, str], line: str) -> None:
    plain = _process(tmp_path, job, LC_ALL="C.UTF-8", TZ="UTC")
    settings = {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", **environment}
    other = _process(tmp_path, job, **settings)
    assert plain[0] != other[0]
    assert plain[2] == [] and other[2] == [f"ambient {line}"]
    unrelated = (_process(tmp_path, UNRELATED, **each)[0] for each in ({"TZ": "UTC"}, settings))
    assert len(set(unrelated)) == 1


def test_a_fresh_process_takes_the_state_over(tmp_path: Path) -> None:
    job = "import csv, decimal, numpy, time\ndef f(x): return csv, decimal.Decimal(x), numpy.sum(x), time.localtime(x)"
    top = "csv.register_dialect('ours', delimiter='|')\ndecimal.getcontext().prec = 9\nnumpy.seterr(divide='raise')\n"
    script = f"import csv, decimal, numpy\n{top}\n{SHOW}"
    (tmp_path / "job.py").write_text(job)
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}", "TZ": "Asia/Tokyo"}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    driver = json.loads(done.stdout)
    assert driver[2] == ["ambient csv", "ambient decimal", "ambient numpy", "ambient time zone"]
    assert _process(tmp_path, job, TZ="UTC")[0] != driver[0]
    assert _process(tmp_path, job, driver[1], TZ="UTC")[0] == driver[0]
    assert _process(tmp_path, job, driver[1])[0] == driver[0], "one zone, however it is named"


def _rot(number: int) -> Any:
    def encode(text: str, errors: str = "strict") -> tuple[bytes, int]:
        return bytes((ord(each) + number) % 128 for each in text), len(text)

    return codecs.CodecInfo(encode, lambda data, errors="strict": ("", len(data)), name="rotours")


def test_a_codec_counts_for_code_that_names_it() -> None:
    offset = [1]

    def search(name: str) -> Any:
        return _rot(offset[0]) if name.startswith("rotours") else None

    codecs.register(search)
    try:
        fn = _job("def f(x='a'): return x.encode('rotours')")
        before = fingerprint(fn), fn(), fingerprint(_job(UNRELATED))
        assert "ambient codec rotours" in parts(fn)
        codecs.unregister(search)
        assert fingerprint(fn) != before[0]
        offset[0] = 2
        codecs.register(search)
        assert fn() != before[1]
        assert fingerprint(fn) != before[0]
        assert fingerprint(_job(UNRELATED)) == before[2]
    finally:
        codecs.unregister(search)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x=b'\\xff'): return x.decode('ascii', 'ours')",
        "def f(x=b'\\xff'): return x.decode(errors='ours')",
        "import codecs\ndef f(x=b'\\xff'):\n    def g(): return codecs.decode(x, 'ascii', 'ours')\n    return g()",
    ],
)
def test_an_error_handler_counts_for_code_that_names_it(source: str) -> None:
    codecs.register_error("ours", lambda error: ("?", error.end))
    fn = _job(source)
    before = fingerprint(fn), fn()
    codecs.register_error("ours", lambda error: ("!", error.end))
    assert fn() != before[1]
    assert fingerprint(fn) != before[0]
    assert "ambient error handler ours" in parts(fn)


REGISTERED = {
    "one's own class": "import abc\nclass A(abc.ABC): pass\nclass B: pass\ndef f(x=None): return isinstance(B(), A)",
    "a builtin class": "import abc\nclass A(abc.ABC): pass\nB = int\ndef f(x=1): return isinstance(x, A)",
    "Python's class": "from collections.abc import Sized as A\nclass B: pass\ndef f(x=None): return isinstance(B(), A)",
    "numbers": "from numbers import Number as A\nclass B: pass\ndef f(x=None): return isinstance(B(), A)",
}


@pytest.mark.parametrize("what", REGISTERED)
def test_a_registered_subclass_counts(what: str) -> None:
    fn = _job(REGISTERED[what])
    before, result = fingerprint(fn), fn()
    fn.__globals__["A"].register(fn.__globals__["B"])
    assert fn() is not result
    assert fingerprint(fn) != before


def test_a_registered_reducer_counts() -> None:
    fn = _job("import copy\nclass B:\n    n = 1\ndef f(x=None): return copy.copy(B()).n")
    before = fingerprint(fn)
    kind = fn.__globals__["B"]
    try:
        copyreg.pickle(kind, lambda obj: (kind, ()))
        assert fingerprint(fn) != before
    finally:
        copyreg.dispatch_table.pop(kind)
    assert fingerprint(fn) == before


def test_the_table_has_no_name_twice_and_reads_quickly() -> None:
    names = [line.name for line in ambient.TABLE]
    assert len(set(names)) == len(names)
    fn = _job(EVERYTHING)
    fingerprint(fn)
    assert some_turn_takes_less(0.05, lambda: ambient_reached(fn))
