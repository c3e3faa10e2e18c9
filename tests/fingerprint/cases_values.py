"""Pairs of sources whose `f` does, or does not, have the same fingerprint: values, classes, wrappers.

A function `warm` is called first: what the program did before it fingerprinted `f`.
"""

# ruff: noqa: E501 -- two sources below each other show their difference
from __future__ import annotations

SAME: dict[str, tuple[str, str]] = {
    "a dict in the same order": (
        "D = {'a': 1, 'b': [2]}\ndef f(x): return D[x]",
        "D = {'a': 1}\nD['b'] = [2]\ndef f(x): return D[x]",
    ),
    "a counter": (
        "from collections import Counter\nC = Counter('abca')\ndef f(x): return C",
        "from collections import Counter\nC = Counter({'a': 2, 'b': 1, 'c': 1})\ndef f(x): return C",
    ),
    "a set in another order": (
        "S = {'a', 'b', 'c', 'd'}\ndef f(x): return x in S",
        "S = set(['d', 'c', 'b', 'a'])\ndef f(x): return x in S",
    ),
    "a set constant": ("def f(x): return x in {'a', 'b', 'c'}", "def f(x): return x in {'a', 'b', 'c'}"),
    "a set of tuples and frozensets": (
        "S = {('a', frozenset('xyz')), ('b', frozenset('pq'))}\ndef f(x): return x in S",
        "S = {('b', frozenset('qp')), ('a', frozenset('zyx'))}\ndef f(x): return x in S",
    ),
    "shared and copied": (
        "A = [1, 2]\nD = {'a': A, 'b': A}\ndef f(x): return D",
        "D = {'a': [1, 2], 'b': [1, 2]}\ndef f(x): return D",
    ),
    "shared and copied objects": (
        "class P:\n    def __init__(s, n): s.n = n\nA = P(1)\nD = [A, A]\ndef f(x): return D",
        "class P:\n    def __init__(s, n): s.n = n\nD = [P(1), P(1)]\ndef f(x): return D",
    ),
    "a pattern": (
        "import re\nR = re.compile('a+', re.I)\ndef f(x): return R.match(x)",
        "import re\nR = re.compile('a+', re.IGNORECASE)\ndef f(x): return R.match(x)",
    ),
    "an array, other memory layout": (
        "import numpy as np\nA = np.arange(6).reshape(2, 3)\ndef f(x): return A[x]",
        "import numpy as np\nA = np.asfortranarray(np.arange(6).reshape(2, 3))\ndef f(x): return A[x]",
    ),
    "an object array": (
        "import numpy as np\nA = np.array(['a', None, {1: 2}], object)\ndef f(x): return A",
        "import numpy as np\nA = np.array(['a', None, {1: 2}], dtype=object)\ndef f(x): return A",
    ),
    "a self-containing list": ("L = [1]\nL.append(L)\ndef f(x): return L", "L = [1]\nL.append(L)\ndef f(x): return L"),
    "an object with a parent": (
        "class N: pass\nR = N(); C = N(); C.p = R; R.c = [C]; R.p = None\ndef f(x): return R",
        "class N: pass\nR = N(); C = N(); R.c = [C]; R.p = None; C.p = R\ndef f(x): return R",
    ),
    "lru_cache that was used": (
        "from functools import lru_cache\n@lru_cache\ndef g(x): return x\ndef f(x): return g(x)",
        "from functools import lru_cache\n@lru_cache\ndef g(x): return x\ndef f(x): return g(x)\ndef warm(): f(1); f(2)",
    ),
    "singledispatch that was used": (
        "from functools import singledispatch\n@singledispatch\ndef f(x): return 0\n@f.register\ndef _(x: int): return 1",
        "from functools import singledispatch\n@singledispatch\ndef f(x): return 0\n@f.register\ndef _(x: int): return 1\n"
        "def warm(): f(1); f('a')",
    ),
    "an instance pickled before": (
        "class C:\n    __slots__ = ('a',)\n    def __init__(s): s.a = 1\nc = C()\ndef f(x): return c.a",
        "import copy\nclass C:\n    __slots__ = ('a',)\n    def __init__(s): s.a = 1\nc = C()\ndef warm(): copy.copy(c)\n"
        "def f(x): return c.a",
    ),
    "methods in another order": (
        "class C:\n    def a(s): return 1\n    def b(s): return 2\ndef f(x): return C().a()",
        "class C:\n    def b(s): return 2\n    def a(s): return 1\ndef f(x): return C().a()",
    ),
    "an enum used before": (
        "import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\ndef f(x): return E.A",
        "import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\ndef warm(): E(1), E['B'], list(E)\ndef f(x): return E.A",
    ),
    "an abstract base class used before": (
        "import abc\nclass B(abc.ABC):\n    @abc.abstractmethod\n    def go(s): ...\nclass C(B):\n    def go(s): return 1\n"
        "def f(x): return C().go()",
        "import abc\nclass B(abc.ABC):\n    @abc.abstractmethod\n    def go(s): ...\nclass C(B):\n    def go(s): return 1\n"
        "def warm(): isinstance(3, B), isinstance(C(), B)\ndef f(x): return C().go()",
    ),
    "a dataclass used before": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int = 1\nP0 = P()\ndef f(x): return P(x), P0",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int = 1\nP0 = P()\ndef warm(): repr(P0), P0 == P()\n"
        "def f(x): return P(x), P0",
    ),
    "a named tuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'a b')\nV = P(1, 2)\ndef f(x): return V, P",
        "from collections import namedtuple\nP = namedtuple('P', ['a', 'b'])\nV = P(a=1, b=2)\ndef f(x): return V, P",
    ),
    "from random import choice": (
        "from random import choice\ndef f(x): return choice(x)",
        "from random import choice\ndef warm(): choice([1])\ndef f(x): return choice(x)",
    ),
    "from os import environ": (
        "from os import environ\ndef f(x): return environ[x]",
        "from os import environ\ndef f(x): return environ[x]",
    ),
    "dates, decimals, paths": (
        "import datetime as d, decimal, fractions, pathlib, uuid\nV = [d.date(2020, 1, 2), d.datetime(2020, 1, 2, tzinfo="
        "d.timezone.utc), decimal.Decimal('1.0'), fractions.Fraction(1, 3), pathlib.PurePosixPath('a/b'), uuid.UUID(int=3)]\n"
        "def f(x): return V",
        "import datetime as d, decimal, fractions, pathlib, uuid\nV = [d.date(2020, 1, 2), d.datetime(2020, 1, 2, tzinfo="
        "d.UTC), decimal.Decimal('1.0'), fractions.Fraction(2, 6), pathlib.PurePosixPath('a//b'), uuid.UUID(int=3)]\n"
        "def f(x): return V",
    ),
    "a set subclass": (
        "class S(set): pass\nV = S(['a', 'b', 'c'])\ndef f(x): return V",
        "class S(set): pass\nV = S(['c', 'b', 'a'])\ndef f(x): return V",
    ),
    "a logger": (
        "import logging\nlog = logging.getLogger('job')\ndef f(x): log.info(x); return x",
        "import logging\nlog = logging.getLogger('job')\nlog.setLevel(10)\ndef f(x): log.info(x); return x",
    ),
    "a global of the same name elsewhere": (
        "import other\nN = 1\ndef f(x): return N\n# file: other.py\nN = 1",
        "import other\nN = 1\ndef f(x): return N\n# file: other.py\nN = 2",
    ),
}

_CLASS = """
class Base:
    limit = 10
    def low(self, x): return x
class C(Base):
    @property
    def size(self): return 3
    @staticmethod
    def s(x): return x
    @classmethod
    def c(cls, x): return x
    def go(self, x): return self.low(x) + self.size
def f(x): return C().go(x)
"""

#: A captured dict with a function for keys that it does not hold.
_DEFAULTS = """
from collections import defaultdict
def default(): return 0
V = defaultdict(default)
V['a'] = 1
def f(x): return V[x], list(V)
"""

#: A property that is read, written and deleted.
_SETTER = """
class C:
    @property
    def a(s): return s._a
    @a.setter
    def a(s, v): s._a = v * 1
    @a.deleter
    def a(s): s._a = 10
def f(x):
    c = C()
    c.a = x
    return c.a
"""

DIFFERENT: dict[str, tuple[str, str]] = {
    "a captured dict": (
        "def make(d):\n    def f(x): return d[x]\n    return f\nf = make({'a': {'b': 1}})",
        "def make(d):\n    def f(x): return d[x]\n    return f\nf = make({'a': {'b': 2}})",
    ),
    "a captured function": (
        "def make(g):\n    return lambda x: g(x)\nf = make(lambda x: 1)",
        "def make(g):\n    return lambda x: g(x)\nf = make(lambda x: 2)",
    ),
    "an unset captured variable": (
        "def make():\n    def f(x): return y\n    if 0: y = 1\n    return f\nf = make()",
        "def make():\n    def f(x): return y\n    if 1: y = 1\n    return f\nf = make()",
    ),
    "a list and a tuple": ("V = [1, 2]\ndef f(x): return V", "V = (1, 2)\ndef f(x): return V"),
    "a set and a frozenset": ("V = {1, 2}\ndef f(x): return V", "V = frozenset({1, 2})\ndef f(x): return V"),
    "a dict in another order": (
        "D = {'a': 1, 'b': [2]}\ndef f(x): return D[x]",
        "D = {'b': [2], 'a': 1}\ndef f(x): return D[x]",
    ),
    "attributes set in another order": (
        "class C:\n    pass\nc = C(); c.a = 1; c.b = 2\ndef f(x): return c.a",
        "class C:\n    pass\nc = C(); c.b = 2; c.a = 1\ndef f(x): return c.a",
    ),
    "a counter filled in another order": (
        "from collections import Counter\nC = Counter('abca')\ndef f(x): return C",
        "from collections import Counter\nC = Counter('caab')\ndef f(x): return C",
    ),
    "nesting of lists": ("V = [[1], 2]\ndef f(x): return V", "V = [[1, 2]]\ndef f(x): return V"),
    "keys and values swapped": ("V = {'a': 'b'}\ndef f(x): return V", "V = {'b': 'a'}\ndef f(x): return V"),
    "an OrderedDict's order": (
        "from collections import OrderedDict as O\nV = O([(1, 2), (3, 4)])\ndef f(x): return V",
        "from collections import OrderedDict as O\nV = O([(3, 4), (1, 2)])\ndef f(x): return V",
    ),
    "a pattern's flags": (
        "import re\nR = re.compile('a')\ndef f(x): return R",
        "import re\nR = re.compile('a', re.M)\ndef f(x): return R",
    ),
    "an array's element": (
        "import numpy as np\nA = np.zeros(100_000)\ndef f(x): return A",
        "import numpy as np\nA = np.zeros(100_000)\nA[77_777] = 1e-300\ndef f(x): return A",
    ),
    "an array's type": (
        "import numpy as np\nA = np.zeros(3, 'i8')\ndef f(x): return A",
        "import numpy as np\nA = np.zeros(3, 'f8')\ndef f(x): return A",
    ),
    "an array's shape": (
        "import numpy as np\nA = np.zeros((2, 3))\ndef f(x): return A",
        "import numpy as np\nA = np.zeros((3, 2))\ndef f(x): return A",
    ),
    "a numpy number and a float": (
        "import numpy as np\nA = np.float64(1)\ndef f(x): return A",
        "A = 1.0\ndef f(x): return A",
    ),
    "an attribute of an instance": (
        "class C:\n    pass\nc = C(); c.a = [1]\ndef f(x): return c.a",
        "class C:\n    pass\nc = C(); c.a = [2]\ndef f(x): return c.a",
    ),
    "a method of an instance's class": (
        "class C:\n    def go(s, x): return x\nc = C()\ndef f(x): return c.go(x)",
        "class C:\n    def go(s, x): return x + 1\nc = C()\ndef f(x): return c.go(x)",
    ),
    "an inherited method": (_CLASS, _CLASS.replace("def low(self, x): return x", "def low(self, x): return -x")),
    "a property": (_CLASS, _CLASS.replace("return 3", "return 4")),
    "a static method": (_CLASS, _CLASS.replace("def s(x): return x", "def s(x): return -x")),
    "a class method": (_CLASS, _CLASS.replace("def c(cls, x): return x", "def c(cls, x): return -x")),
    "a class attribute": (_CLASS, _CLASS.replace("limit = 10", "limit = 11")),
    "a base class": (_CLASS, _CLASS.replace("class C(Base)", "class D(Base): pass\nclass C(D)")),
    "a metaclass": (
        _CLASS,
        _CLASS.replace(
            "class Base:",
            "class M(type):\n    def __call__(c, *a): return type.__call__(c, *a)\nclass Base(metaclass=M):",
        ),
    ),
    "slots": (
        "class C:\n    __slots__ = ('a',)\ndef f(x): return C",
        "class C:\n    __slots__ = ('b',)\ndef f(x): return C",
    ),
    "a dataclass default": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int = 1\ndef f(x): return P()",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int = 2\ndef f(x): return P()",
    ),
    "a dataclass field's order": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\n    b: int\ndef f(x): return P(1, 2)",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    b: int\n    a: int\ndef f(x): return P(1, 2)",
    ),
    "a dataclass option": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\ndef f(x): return P(1)",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    a: int\ndef f(x): return P(1)",
    ),
    "an enum value": (
        "import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\nV = E.A\ndef f(x): return V",
        "import enum\nclass E(enum.Enum):\n    A = 1\n    B = 3\nV = E.A\ndef f(x): return V",
    ),
    "an enum member": (
        "import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\nV = E.A\ndef f(x): return V",
        "import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\nV = E.B\ndef f(x): return V",
    ),
    "a partial's argument": (
        "from functools import partial\ndef g(n, x): return n + x\nf = partial(g, 1)",
        "from functools import partial\ndef g(n, x): return n + x\nf = partial(g, 2)",
    ),
    "a partial's function": (
        "from functools import partial\ndef g(n, x): return n + x\nf = partial(g, n=1)",
        "from functools import partial\ndef g(n, x): return n - x\nf = partial(g, n=1)",
    ),
    "a bound method's object": (
        "class C:\n    def __init__(s, n): s.n = n\n    def go(s, x): return x + s.n\nf = C(1).go",
        "class C:\n    def __init__(s, n): s.n = n\n    def go(s, x): return x + s.n\nf = C(2).go",
    ),
    "a callable object": (
        "class C:\n    def __call__(s, x): return x\nf = C()",
        "class C:\n    def __call__(s, x): return x + 1\nf = C()",
    ),
    "a bound builtin method": ("f = ','.join", "f = ';'.join"),
    "a decorator": (
        "import functools\ndef deco(g):\n    @functools.wraps(g)\n    def w(x): return g(x)\n    return w\n@deco\n"
        "def f(x): return x",
        "import functools\ndef deco(g):\n    @functools.wraps(g)\n    def w(x): return g(x) + 1\n    return w\n@deco\n"
        "def f(x): return x",
    ),
    "a decorated function": (
        "import functools\ndef deco(g):\n    @functools.wraps(g)\n    def w(x): return g(x)\n    return w\n@deco\n"
        "def f(x): return x",
        "import functools\ndef deco(g):\n    @functools.wraps(g)\n    def w(x): return g(x)\n    return w\n@deco\n"
        "def f(x): return x + 1",
    ),
    "a function under lru_cache": (
        "from functools import lru_cache\n@lru_cache\ndef g(x): return x\ndef f(x): return g(x)",
        "from functools import lru_cache\n@lru_cache\ndef g(x): return x + 1\ndef f(x): return g(x)",
    ),
    "a function under contextmanager": (
        "from contextlib import contextmanager\n@contextmanager\ndef g(): yield 1\ndef f(x):\n    with g() as y: return y",
        "from contextlib import contextmanager\n@contextmanager\ndef g(): yield 2\ndef f(x):\n    with g() as y: return y",
    ),
    "a singledispatch implementation": (
        "from functools import singledispatch\n@singledispatch\ndef f(x): return 0\n@f.register\ndef _(x: int): return 1",
        "from functools import singledispatch\n@singledispatch\ndef f(x): return 0\n@f.register\ndef _(x: int): return 2",
    ),
    "a singledispatch type": (
        "from functools import singledispatch\n@singledispatch\ndef f(x): return 0\n@f.register\ndef _(x: int): return 1",
        "from functools import singledispatch\n@singledispatch\ndef f(x): return 0\n@f.register\ndef _(x: str): return 1",
    ),
    "a cached property": (
        "from functools import cached_property\nclass C:\n    @cached_property\n    def a(s): return 1\ndef f(x): return C().a",
        "from functools import cached_property\nclass C:\n    @cached_property\n    def a(s): return 2\ndef f(x): return C().a",
    ),
    "a function attribute": ("def f(x): return f.n\nf.n = 1", "def f(x): return f.n\nf.n = 2"),
    "a function patched into a module": (
        "import text\ndef f(x): return text.clean(x)\n# file: text.py\ndef clean(x): return x",
        "import text\ntext.clean = lambda x: x + 1\ndef f(x): return text.clean(x)\n# file: text.py\ndef clean(x): return x",
    ),
    "a file beside the standard library's name": (
        "import statistics\ndef f(x): return statistics.mean(x)\n# file: statistics.py\ndef mean(x): return 1",
        "import statistics\ndef f(x): return statistics.mean(x)\n# file: statistics.py\ndef mean(x): return 2",
    ),
    "a cycle's element": ("L = [1]\nL.append(L)\ndef f(x): return L", "L = [2]\nL.append(L)\ndef f(x): return L"),
    "a registry filled by a decorator": (
        "R = {}\ndef reg(g): R[g.__name__] = g; return g\n@reg\ndef a(x): return 1\ndef f(x): return R[x](x)",
        "R = {}\ndef reg(g): R[g.__name__] = g; return g\n@reg\ndef a(x): return 2\ndef f(x): return R[x](x)",
    ),
    "a class made inside a function": (
        "def f(x):\n    class A:\n        n = 1\n    return A.n",
        "def f(x):\n    class A:\n        n = 2\n    return A.n",
    ),
    "super() of a changed base": (
        "class B:\n    def go(s, x): return x\nclass C(B):\n    def go(s, x): return super().go(x)\nf = C().go",
        "class B:\n    def go(s, x): return -x\nclass C(B):\n    def go(s, x): return super().go(x)\nf = C().go",
    ),
    "a named tuple's default": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    a: int = 1\ndef f(x): return P()",
        "from typing import NamedTuple\nclass P(NamedTuple):\n    a: int = 2\ndef f(x): return P()",
    ),
    "an int subclass": (
        "class I(int): pass\nV = I(1)\ndef f(x): return V",
        "class I(int): pass\nV = I(2)\ndef f(x): return V",
    ),
    "a custom reduction": (
        "class C:\n    def __init__(s, n): s.n = n\n    def __reduce__(s): return C, (s.n,)\nV = C(1)\ndef f(x): return V",
        "class C:\n    def __init__(s, n): s.n = n\n    def __reduce__(s): return C, (s.n,)\nV = C(2)\ndef f(x): return V",
    ),
    "a subclass found through its base": (
        "class B: pass\nclass C(B):\n    n = 1\ndef f(x): return B.__subclasses__()[0].n",
        "class B: pass\nclass C(B):\n    n = 2\ndef f(x): return B.__subclasses__()[0].n",
    ),
    "a captured defaultdict's value": (_DEFAULTS, _DEFAULTS.replace("V['a'] = 1", "V['a'] = 2")),
    "a captured defaultdict's key": (_DEFAULTS, _DEFAULTS.replace("V['a'] = 1", "V['b'] = 1")),
    "the order of a captured defaultdict": (
        _DEFAULTS.replace("V['a'] = 1", "V['a'] = 1\nV['b'] = 1"),
        _DEFAULTS.replace("V['a'] = 1", "V['b'] = 1\nV['a'] = 1"),
    ),
    "what a captured defaultdict gives for other keys": (_DEFAULTS, _DEFAULTS.replace("return 0", "return 5")),
    "the type that a captured defaultdict gives": (
        "from collections import defaultdict\nV = defaultdict(int)\ndef f(x): return V[x]",
        "from collections import defaultdict\nV = defaultdict(list)\ndef f(x): return V[x]",
    ),
    "a property's setter": (_SETTER, _SETTER.replace("s._a = v * 1", "s._a = v * 2")),
    "a property's deleter": (_SETTER, _SETTER.replace("s._a = 10", "s._a = 20")),
    "a property without its setter": (
        _SETTER,
        _SETTER.replace("@a.setter", "@staticmethod").replace("def a(s, v)", "def b(s, v)"),
    ),
    "a slice": ("V = slice(1, 2)\ndef f(x): return x[V]", "V = slice(1, 3)\ndef f(x): return x[V]"),
    "a range": ("V = range(3)\ndef f(x): return V", "V = range(4)\ndef f(x): return V"),
    "a type held as a value": ("T = int\ndef f(x): return T(x)", "T = float\ndef f(x): return T(x)"),
}

SAME["a dataclass moved to another module"] = (
    "from one import P\ndef f(x): return P(x)\n# file: one.py\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    a: int",
    "from two import P\ndef f(x): return P(x)\n# file: two.py\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    a: int",
)
DIFFERENT["a module's name that is read"] = (
    "from one import P\ndef f(x): return P.__module__\n# file: one.py\nclass P: pass",
    "from two import P\ndef f(x): return P.__module__\n# file: two.py\nclass P: pass",
)
