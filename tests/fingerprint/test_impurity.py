"""What is reported as impure, and what is not."""

from __future__ import annotations

import textwrap
import warnings
from typing import Any

import pytest

from incoop.fingerprint import ImpureCall, ImpurityWarning, ReportOnce, impurities


def _job(source: str) -> Any:
    """Run a source as a notebook cell would; nothing is on disk."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(textwrap.dedent(source), "<cell 1>", "exec"), namespace)
    return namespace["f"]


IMPURE = {
    "module attribute": ("import random\ndef f(x): return random.random()", "random.random"),
    "from import": ("from random import choice\ndef f(x): return choice(x)", "random.choice"),
    "from import with alias": ("from random import choice as pick\ndef f(x): return pick(x)", "random.choice"),
    "module alias": ("import random as r\ndef f(x): return r.randint(1, x)", "random.randint"),
    "import in the body": ("def f(x):\n    import random\n    return random.random()", "random.random"),
    "from import in the body": ("def f(x):\n    from time import time as t\n    return t()", "time.time"),
    "alias in the body": ("import random\ndef f(x):\n    r = random\n    return r.random()", "random.random"),
    "function alias in the body": ("import time\ndef f(x):\n    now = time.time\n    return now()", "time.time"),
    "captured module": (
        "def make():\n    import random\n    def f(x): return random.random()\n    return f\nf = make()",
        "random.random",
    ),
    "import used by an inner function": (
        "def f(x):\n    import random\n    def g(): return random.random()\n    return g()",
        "random.random",
    ),
    "in a comprehension": ("import random\ndef f(x): return [random.random() for _ in x]", "random.random"),
    "two helpers away": (
        "import time\ndef b(x): return time.time_ns()\ndef a(x): return b(x)\ndef f(x): return a(x)",
        "time.time_ns",
    ),
    "in a method": (
        "import time\nclass C:\n    def go(self): return time.monotonic()\ndef f(x): return C().go()",
        "time.monotonic",
    ),
    "datetime module": ("import datetime\ndef f(x): return datetime.datetime.now()", "datetime.datetime.now"),
    "datetime class": ("from datetime import datetime\ndef f(x): return datetime.now()", "datetime.datetime.now"),
    "datetime alias": ("import datetime as dt\ndef f(x): return dt.datetime.utcnow()", "datetime.datetime.utcnow"),
    "date today": ("from datetime import date\ndef f(x): return date.today()", "datetime.date.today"),
    "a bound now": (
        "from datetime import datetime\nnow = datetime.now\ndef f(x): return now()",
        "datetime.datetime.now",
    ),
    "clock without arguments": ("import time\ndef f(x): return time.localtime()", "time.localtime"),
    "strftime of now": ("import time\ndef f(x): return time.strftime('%Y')", "time.strftime"),
    "date of a mail": ("from email.utils import formatdate\ndef f(x): return formatdate()", "email.utils.formatdate"),
    "now of pandas": ("import pandas as pd\ndef f(x): return pd.Timestamp.now()", "pandas.Timestamp.now"),
    "now of pandas, imported": (
        "from pandas import Timestamp\ndef f(x): return Timestamp.now()",
        "pandas.Timestamp.now",
    ),
    "working folder": ("from pathlib import Path\ndef f(x): return Path.cwd()", "pathlib.Path.cwd"),
    "a folder that is there": ("from pathlib import Path\ndef f(x): return Path(x).is_dir()", "pathlib.Path.is_dir"),
    "cores": ("import os\ndef f(x): return os.cpu_count()", "os.cpu_count"),
    "free space": ("import shutil\ndef f(x): return shutil.disk_usage(x)", "shutil.disk_usage"),
    "uuid4": ("import uuid\ndef f(x): return uuid.uuid4()", "uuid.uuid4"),
    "environ item": ("import os\ndef f(x): return os.environ['HOME']", "os.environ"),
    "environ get": ("from os import environ\ndef f(x): return environ.get('HOME')", "os.environ"),
    "getenv": ("import os\ndef f(x): return os.getenv('HOME')", "os.getenv"),
    "open": ("def f(x):\n    with open(x) as file: return file.read()", "open"),
    "open of io": ("import io\ndef f(x): return io.open(x)", "open"),
    "a path read": ("from pathlib import Path\ndef f(x): return Path(x).read_text()", "pathlib.Path.read_text"),
    "a global path read": (
        "from pathlib import Path\nP = Path('a')\ndef f(x): return P.read_text()",
        "pathlib.Path.read_text",
    ),
    "file system": ("import os\ndef f(x): return os.path.exists(x)", "os.path.exists"),
    "input": ("def f(x): return input()", "input"),
    "standard input": ("import sys\ndef f(x): return sys.stdin.read()", "sys.stdin"),
    "socket": ("import socket\ndef f(x): return socket.create_connection((x, 80))", "socket.create_connection"),
    "socket class": ("from socket import socket\ndef f(x): return socket()", "socket.socket"),
    "urlopen": ("import urllib.request\ndef f(x): return urllib.request.urlopen(x)", "urllib.request.urlopen"),
    "unseeded generator": ("import random\ndef f(x): return random.Random().random()", "random.Random"),
    "a global generator": ("import random\nrng = random.Random(7)\ndef f(x): return rng.random()", "rng.random"),
    "numpy draws": ("import numpy as np\ndef f(x): return np.random.rand(3)", "numpy.random.rand"),
    "numpy unseeded": ("import numpy as np\ndef f(x): return np.random.default_rng()", "numpy.random.default_rng"),
    "getattr": ("import random\ndef f(x): return getattr(random, 'choice')(x)", "random"),
    "a default argument": ("import time\ndef f(x, clock=time.time): return clock()", "time.time"),
    "a partial": ("import functools, random\nf = functools.partial(random.choice, [1])", "random.choice"),
    "secrets": ("import secrets\ndef f(x): return secrets.token_hex()", "secrets.token_hex"),
    "subprocess": ("import subprocess\ndef f(x): return subprocess.run(x)", "subprocess.run"),
    "a mapper with a lock": (
        "import threading, time\nL = threading.Lock()\ndef f(x):\n    with L: return time.time()",
        "time.time",
    ),
}

PURE = {
    "own function named open": "def open(x): return x\ndef f(x): return open(x)",
    "own function named time": "def time(): return 0\ndef f(x): return time()",
    "own object named random": "class R:\n    def go(self): return 4\nrandom = R()\ndef f(x): return random.go()",
    "parameter named random": "def f(random): return random.random()",
    "inner parameter of an imported name": (
        "def f(x):\n    import random\n    def g(random): return random.random()\n    return g(x)"
    ),
    "local named time": "def f(x):\n    time = x\n    return time.time()",
    "attribute named now": "def f(x): return x.now()",
    "strptime of datetime": "from datetime import datetime\ndef f(x): return datetime.strptime(x, '%Y')",
    "fromisoformat": "import datetime\ndef f(x): return datetime.date.fromisoformat(x)",
    "strptime of time": "import time\ndef f(x): return time.strptime(x, '%Y')",
    "localtime of a value": "import time\ndef f(x): return time.localtime(x)",
    "strftime of a value": "import time\ndef f(x): return time.strftime('%Y', x)",
    "seeded generator": "import random\ndef f(x):\n    rng = random.Random(7)\n    return rng.random() + rng.choice(x)",
    "generator seeded by the record": "from random import Random\ndef f(x): return Random(x).random()",
    "seeded numpy generator": "import numpy as np\ndef f(x): return np.random.default_rng(7).random()",
    "uuid5": "import uuid\ndef f(x): return uuid.uuid5(uuid.NAMESPACE_DNS, x)",
    "join of paths": "import os\ndef f(x): return os.path.join(x, os.sep, os.path.basename(x))",
    "own read_text": "class C:\n    def read_text(self): return 1\ndef f(x): return C().read_text()",
    "sleep": "import time\ndef f(x): time.sleep(0); return x",
    "unreached helper": "import time\ndef g(): return time.time()\ndef f(x): return x",
    "import only": "import random, time, os\ndef f(x):\n    import socket\n    return x",
    "json and re": "import json, re\ndef f(x): return json.loads(re.sub('a', 'b', x))",
}


@pytest.mark.parametrize(("source", "call"), [pytest.param(*case, id=name) for name, case in IMPURE.items()])
def test_impure_code_is_reported_by_function_and_call(source: str, call: str) -> None:
    assert [found.call for found in impurities(_job(source))] == [call]


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in PURE.items()])
def test_pure_code_is_not_reported(source: str) -> None:
    assert impurities(_job(source)) == []


def test_a_report_names_the_function_that_calls_and_the_line() -> None:
    found = impurities(_job("import time\n\ndef b(x):\n    return time.time()\ndef f(x): return b(x)"))
    assert found == [ImpureCall("__main__.b", "time.time", "clock")]
    assert found[0].line == 4
    assert "memoize=False" in str(found[0])


def test_each_impure_call_is_reported_once() -> None:
    report = ReportOnce()
    found = impurities(_job("import time\ndef f(x): return time.time() - time.time()"))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert report(found) == found
        assert report(found) == []
    assert [warning.category for warning in seen] == [ImpurityWarning]
