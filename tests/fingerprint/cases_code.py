"""Pairs of sources whose `f` does, or does not, have the same fingerprint: code and layout.

`# file: NAME` starts another file of the case; what comes before is `job.py`.
"""

# ruff: noqa: E501 -- two sources below each other show their difference
from __future__ import annotations

BASE = """
def helper(x):
    return x + 1

def f(x):
    y = helper(x)
    return y * 2
"""

SAME: dict[str, tuple[str, str]] = {
    "nothing changed": (BASE, BASE),
    "a comment": (BASE, BASE.replace("return y * 2", "return y * 2  # twice")),
    "a docstring": (BASE, BASE.replace("    y = helper", '    "Twice one more."\n    y = helper')),
    "a docstring of a helper": (BASE, BASE.replace("    return x + 1", '    "One more."\n    return x + 1')),
    "blank lines above": (BASE, "\n\n\n# header\n\n" + BASE),
    "a reformat": (BASE, BASE.replace("return y * 2", "return (\n        y\n        * 2\n    )")),
    "a statement split over lines in a branch": (
        "def f(x):\n    if x: pass\n    while x and x > 3: x -= 1\n    return [a for a in range(x) if a]",
        "def f(x):\n    if x:\n        pass\n    while (x\n            and x > 3):\n        x -= 1\n    return [\n"
        "        a\n        for a in range(x)\n        if a\n    ]",
    ),
    "a try block on other lines": (
        "def f(x):\n    try: return int(x)\n    except ValueError: return 0\n    finally: x = None",
        "def f(x):\n    try:\n        return int(x)\n\n    except ValueError:\n\n        return 0\n    finally:\n        x = None",
    ),
    "another quote style": ("def f(x):\n    return x + 'a'", 'def f(x):\n    return x + "a"'),
    "parentheses": ("def f(x):\n    return x + 1 * 2", "def f(x):\n    return (x + (1 * 2))"),
    "an unrelated function above": (BASE, "def other(a): return a\n" + BASE),
    "an unrelated function changed": ("def g(a): return a\n" + BASE, "def g(a): return a + 1\n" + BASE),
    "an unrelated global changed": ("SEED = 1\n" + BASE, "SEED = 2\n" + BASE),
    "a local renamed in another function": (
        "def g(a):\n    b = a\n    return b\n" + BASE,
        "def g(a):\n    c = a\n    return c\n" + BASE,
    ),
    "a local renamed": (BASE, BASE.replace("y", "z")),
    "functions in another order": (
        "def a(x): return x\ndef b(x): return a(x)\ndef f(x): return b(x)",
        "def f(x): return b(x)\ndef b(x): return a(x)\ndef a(x): return x",
    ),
    "an annotation": ("def f(x): return x", "def f(x: int) -> int: return x"),
    "an annotation of a local": ("def f(x):\n    y = x\n    return y", "def f(x):\n    y: int = x\n    return y"),
    "a future import": ("def f(x): return x", "from __future__ import annotations\ndef f(x): return x"),
    "an unused import": ("def f(x): return x", "import json\ndef f(x): return x"),
    "a docstring of a method": (
        "class A:\n    def go(self, x): return x\ndef f(x): return A().go(x)",
        'class A:\n    "Doc."\n    def go(self, x):\n        "Doc."\n        return x\ndef f(x): return A().go(x)',
    ),
    "a docstring of a class inside a function": (
        "def f(x):\n    class A:\n        def go(self): return x\n    return A().go()",
        'def f(x):\n    class A:\n        "Doc."\n        def go(self):\n            "Doc."\n            return x\n'
        "    return A().go()",
    ),
    "a docstring of a nested function": (
        "def f(x):\n    def g(y): return y\n    return g(x)",
        'def f(x):\n    def g(y):\n        "Doc."\n        return y\n    return g(x)',
    ),
    "a comment in an imported helper": (
        "import text\ndef f(x): return text.clean(x)\n# file: text.py\ndef clean(x): return x.strip()",
        "import text\ndef f(x): return text.clean(x)\n# file: text.py\n# Clean.\ndef clean(x): return x.strip()",
    ),
    "another function of an imported helper module": (
        "import text\ndef f(x): return text.clean(x)\n# file: text.py\nN = 1\ndef clean(x): return x\ndef g(x): return x",
        "import text\ndef f(x): return text.clean(x)\n# file: text.py\nN = 2\ndef clean(x): return x\ndef g(x): return 1",
    ),
    "a body import of one name, another name changed": (
        "def f(x):\n    from text import clean\n    return clean(x)\n# file: text.py\ndef clean(x): return x\nN = 1",
        "def f(x):\n    from text import clean\n    return clean(x)\n# file: text.py\ndef clean(x): return x\nN = 2",
    ),
    "a body import of a module, another name changed": (
        "def f(x):\n    import text as t\n    return t.clean(x)\n# file: text.py\ndef clean(x): return x\nN = 1",
        "def f(x):\n    import text as t\n    return t.clean(x)\n# file: text.py\ndef clean(x): return x\nN = 2",
    ),
    "a helper moved to another module": (
        "from one import clean\ndef f(x): return clean(x)\n# file: one.py\ndef clean(x): return x.strip()",
        "from two import clean\ndef f(x): return clean(x)\n# file: two.py\n\n\ndef clean(x): return x.strip()",
    ),
    "mutual recursion, other functions first": (
        "FIRST = ()\ndef f(n): return n == 0 or g(n - 1)\ndef g(n): return n != 0 and f(n - 1)",
        "FIRST = ('g', 'f')\ndef g(n): return n != 0 and f(n - 1)\ndef f(n): return n == 0 or g(n - 1)",
    ),
    "a renamed local in a comprehension": (
        "def f(xs): return [x + 1 for x in xs]",
        "def f(xs): return [item + 1 for item in xs]",
    ),
    "an assert that was a comment": ("def f(x):\n    # assert x\n    return x", "def f(x):\n    return x"),
}

DIFFERENT: dict[str, tuple[str, str]] = {
    "a constant": (BASE, BASE.replace("* 2", "* 3")),
    "a constant of a helper": (BASE, BASE.replace("+ 1", "+ 2")),
    "an operator": (BASE, BASE.replace("y * 2", "y + 2")),
    "a helper two calls away": (
        "def a(x): return x + 1\ndef b(x): return a(x)\ndef f(x): return b(x)",
        "def a(x): return x + 2\ndef b(x): return a(x)\ndef f(x): return b(x)",
    ),
    "1 and True": ("def f(x): return x, 1", "def f(x): return x, True"),
    "1 and 1.0": ("def f(x): return x, 1", "def f(x): return x, 1.0"),
    "0.0 and -0.0": ("def f(x): return x, 0.0", "def f(x): return x, -0.0"),
    "text and bytes": ("def f(x): return 'a'", "def f(x): return b'a'"),
    "a constant in a set": ("def f(x): return x in {1, 2, 3}", "def f(x): return x in {1, 2, 4}"),
    "the order of a tuple": ("def f(x): return (1, 2)", "def f(x): return (2, 1)"),
    "a default": ("def f(x, n=1): return x + n", "def f(x, n=2): return x + n"),
    "a keyword default": ("def f(x, *, n=1): return x + n", "def f(x, *, n=2): return x + n"),
    "a mutable default": ("def f(x, seen=[]): return seen", "def f(x, seen=[1]): return seen"),
    "a parameter renamed": ("def f(x, n=1): return x + n", "def f(x, m=1): return x + m"),
    "positional only": ("def f(x, n): return x", "def f(x, n, /): return x"),
    "an attribute name": ("def f(x): return x.upper()", "def f(x): return x.lower()"),
    "a builtin": ("def f(x): return min(x)", "def f(x): return max(x)"),
    "a builtin shadowed": ("def f(x): return len(x)", "def len(x): return 3\ndef f(x): return len(x)"),
    "a generator": ("def f(x): return x", "def f(x): yield x"),
    "an async function": ("def f(x): return x", "async def f(x): return x"),
    "an exception type": (
        "def f(x):\n    try: return int(x)\n    except ValueError: return 0",
        "def f(x):\n    try: return int(x)\n    except TypeError: return 0",
    ),
    "what a try block covers": (
        "def f(x):\n    y = int(x)\n    try: z = 1 / y\n    except Exception: z = 0\n    return z",
        "def f(x):\n    try:\n        y = int(x)\n        z = 1 / y\n    except Exception: z = 0\n    return z",
    ),
    "an inner function": (
        "def f(x):\n    def g(y): return y\n    return g(x)",
        "def f(x):\n    def g(y): return y + 1\n    return g(x)",
    ),
    "a lambda in a global": ("G = lambda x: x\ndef f(x): return G(x)", "G = lambda x: x + 1\ndef f(x): return G(x)"),
    "a lambda itself": ("f = lambda x: x", "f = lambda x: x + 1"),
    "an imported helper": (
        "import text\ndef f(x): return text.clean(x)\n# file: text.py\ndef clean(x): return x.strip()",
        "import text\ndef f(x): return text.clean(x)\n# file: text.py\ndef clean(x): return x.lower()",
    ),
    "a helper's helper in another module": (
        "import a\ndef f(x): return a.go(x)\n# file: a.py\nfrom b import go2\ndef go(x): return go2(x)\n"
        "# file: b.py\ndef go2(x): return x",
        "import a\ndef f(x): return a.go(x)\n# file: a.py\nfrom b import go2\ndef go(x): return go2(x)\n"
        "# file: b.py\ndef go2(x): return x + 1",
    ),
    "a submodule of a package": (
        "import pkg.sub\ndef f(x): return pkg.sub.go(x)\n# file: pkg/__init__.py\n# file: pkg/sub.py\ndef go(x): return x",
        "import pkg.sub\ndef f(x): return pkg.sub.go(x)\n# file: pkg/__init__.py\n# file: pkg/sub.py\ndef go(x): return 1",
    ),
    "a relative import inside a function": (
        "from pkg.sub import go as f\n# file: pkg/__init__.py\n# file: pkg/sub.py\ndef go(x):\n    from .low import do\n"
        "    return do(x)\n# file: pkg/low.py\ndef do(x): return x",
        "from pkg.sub import go as f\n# file: pkg/__init__.py\n# file: pkg/sub.py\ndef go(x):\n    from .low import do\n"
        "    return do(x)\n# file: pkg/low.py\ndef do(x): return x + 1",
    ),
    "a constant of an imported module": (
        "import conf\ndef f(x): return x + conf.N\n# file: conf.py\nN = 1",
        "import conf\ndef f(x): return x + conf.N\n# file: conf.py\nN = 2",
    ),
    "getattr on a module": (
        "import text\ndef f(x): return getattr(text, x)(x)\n# file: text.py\ndef clean(x): return x",
        "import text\ndef f(x): return getattr(text, x)(x)\n# file: text.py\ndef clean(x): return x + 1",
    ),
    "a module passed on": (
        "import text\ndef g(m): return m.clean\ndef f(x): return g(text)(x)\n# file: text.py\ndef clean(x): return x",
        "import text\ndef g(m): return m.clean\ndef f(x): return g(text)(x)\n# file: text.py\ndef clean(x): return 2",
    ),
    "an import inside the function": (
        "def f(x):\n    import text\n    return text.clean(x)\n# file: text.py\ndef clean(x): return x",
        "def f(x):\n    import text\n    return text.clean(x)\n# file: text.py\ndef clean(x): return x + 1",
    ),
    "importlib by name": (
        "import importlib\ndef f(x): return importlib.import_module('text').clean(x)\n# file: text.py\n"
        "def clean(x): return x",
        "import importlib\ndef f(x): return importlib.import_module('text').clean(x)\n# file: text.py\n"
        "def clean(x): return x + 1",
    ),
    "importlib by a name put together": (
        "import importlib\ndef f(x): return importlib.import_module(f'pkg.{x}').go\n# file: pkg/__init__.py\n# file: pkg/a.py\ngo = 1",
        "import importlib\ndef f(x): return importlib.import_module(f'pkg.{x}').go\n# file: pkg/__init__.py\n# file: pkg/a.py\ngo = 2",
    ),
    "the own module by its name": (
        "import sys\ndef go(x): return 1\ndef f(x): return getattr(sys.modules[__name__], x)(x)",
        "import sys\ndef go(x): return 2\ndef f(x): return getattr(sys.modules[__name__], x)(x)",
    ),
    "an exception table alone": (
        "def f(x):\n    try:\n        x.a()\n        x.b()\n    except E: x.c()",
        "def f(x):\n    x.a()\n    try:\n        x.b()\n    except E: x.c()",
    ),
    "eval of a global": ("N = 1\ndef f(x): return eval('N')", "N = 2\ndef f(x): return eval('N')"),
    "globals() of a global": ("N = 1\ndef f(x): return globals()[x]", "N = 2\ndef f(x): return globals()[x]"),
    "a name that becomes defined": ("def f(x): return x or N", "N = 1\ndef f(x): return x or N"),
    "a docstring that is read": (
        'def f(x):\n    "One."\n    return f.__doc__',
        'def f(x):\n    "Two."\n    return f.__doc__',
    ),
    "a docstring that a helper reads": (
        'def g(h): return h.__doc__\ndef f(x):\n    "One."\n    return g(f)',
        'def g(h): return h.__doc__\ndef f(x):\n    "Two."\n    return g(f)',
    ),
    "an annotation that is read": (
        "def g(x: int): return x\ndef f(x): return g.__annotations__",
        "def g(x: str): return x\ndef f(x): return g.__annotations__",
    ),
    "a local name that is read": (
        "def f(x):\n    a = x\n    return locals()",
        "def f(x):\n    b = x\n    return locals()",
    ),
    "mutual recursion, the partner changed": (
        "def f(n): return n == 0 or g(n - 1)\ndef g(n): return n != 0 and f(n - 1)",
        "def f(n): return n == 0 or g(n - 1)\ndef g(n): return n != 1 and f(n - 1)",
    ),
    "two functions of a cycle swapped": (
        "def f(n): return g(n)\ndef g(n): return h(n) + 1\ndef h(n): return f(n) + 2",
        "def f(n): return g(n)\ndef g(n): return h(n) + 2\ndef h(n): return f(n) + 1",
    ),
    "a keyword of a call": ("def f(x): return sorted(x, key=len)", "def f(x): return sorted(x, reverse=len)"),
    "a jump's direction": (
        "def f(x):\n    while x:\n        if x.a: continue\n        x.go()",
        "def f(x):\n    while x:\n        if x.a: break\n        x.go()",
    ),
    "an assignment's order": (
        "def f(x):\n    a, b = x\n    return a - b",
        "def f(x):\n    b, a = x\n    return a - b",
    ),
    # A local that is stored twice may be either module where it is used.
    "a module in a local that is stored twice, the first": (
        "import one, two\ndef f(x):\n    m = one\n    if x: m = two\n    return m.go(x)\n"
        "# file: one.py\ndef go(x): return 1\n# file: two.py\ndef go(x): return 0",
        "import one, two\ndef f(x):\n    m = one\n    if x: m = two\n    return m.go(x)\n"
        "# file: one.py\ndef go(x): return 2\n# file: two.py\ndef go(x): return 0",
    ),
    "a module in a local that is stored twice, the second": (
        "import one, two\ndef f(x):\n    m = one\n    if x: m = two\n    return m.go(x)\n"
        "# file: one.py\ndef go(x): return 0\n# file: two.py\ndef go(x): return 1",
        "import one, two\ndef f(x):\n    m = one\n    if x: m = two\n    return m.go(x)\n"
        "# file: one.py\ndef go(x): return 0\n# file: two.py\ndef go(x): return 2",
    ),
}
