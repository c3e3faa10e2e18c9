"""Which files a command reads, as far as its words, those of its scripts, and their imports say.

Contract: a file that is named counts: scripts, what a shell script calls or sources, what a Python script imports from
its folder or PYTHONPATH, programs on PATH, all to any depth. Rather one too many than one too few. What a program reads
by a name that it computes is not found here.

Followed are:
(1) words of a command, and of a text that a shell is given (`sh -c "…"`): files, options that hold one, programs;
(2) scripts of shells: their words as in (1);
(3) Python: imports, and constants that name files; all modules beside it where a module's name is computed;
(4) other texts (awk, Perl, Ruby …): every word that is a file's name, or a module's in the folders of -I, PERL5LIB,
    RUBYLIB and AWKPATH.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from incoop.base.file_digests import FileDigests
from incoop.fronts.common.python_imports import Needs, module_files, needs_of
from incoop.fronts.common.python_installed import installed_modules

#: Larger files are data or binaries, not scripts that name others.
_SCRIPT_BYTES = 1 << 20

#: A named file that does not look like a script may be one (`awk -f prog`) or data; only a small one is followed.
_PERHAPS_SCRIPT_BYTES = 32 << 10

#: Endings of scripts whose words may be names of files.
_SCRIPTS = re.compile(r"\.(awk|gawk|sed|jq|pl|pm|rb|r|R|lua|js|mjs|php|tcl|bc|sql|mk)")

#: Where a module's name is computed, so many files beside the script count; more are no program's own modules.
_MOST_NEIGHBOURS = 2000

_PYTHON = re.compile(r"(python|pypy)[\d.]*")
_SHELL = re.compile(r"(ba|da|z|k|mk|a)?sh")
_WORDS = re.compile(r"(>\s*['\"]?)?[^\s'\"`(){}<>|&;,\[\]]+")
_PROGRAM = re.compile(r"[\w.+-]+")
_OPTION = re.compile(r"-{1,2}[A-Za-z][A-Za-z-]*=?|@|[A-Za-z_]\w*=")

#: Variables with folders in which interpreters other than Python find modules.
_LIBRARIES = ("PERL5LIB", "RUBYLIB", "AWKPATH", "R_LIBS", "LUA_PATH", "NODE_PATH")

_digests = FileDigests()


def digest_of(path: Path) -> bytes:
    """The digest of a file, read once while it does not change."""
    return _digests.of(path)


def content_of(words: Sequence[str], folder: Path, variables: Mapping[str, str]) -> list[tuple[str, bytes]]:
    """Names and digests of all files that a command's words lead to, outside of the folder that it runs in.

    Names are without folders: a script that moves together with what it reads stays the same.
    """
    found = CommandFiles(folder, variables)
    found.command(words)
    return found.content()


class CommandFiles:
    """The files of some commands that run in one folder with one environment."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self._folder, self._variables = folder.absolute(), variables
        #: In the order in which they were found.
        self._found: dict[Path, None] = {}
        self._installed: dict[str, bytes] = {}
        self._libraries = [path for name in _LIBRARIES for path in self._folders_in(name)]
        #: Modules that were not found so far, by the interpreter that would have to know them.
        self._unknown: dict[str, dict[str, None]] = {}
        #: Where a module whose name is computed may be.
        self._places_of_computed: list[Path] = []

    @property
    def computes_names(self) -> bool:
        """Whether a module's name is computed somewhere: any file beside the script may be meant."""
        return bool(self._places_of_computed)

    @property
    def starts_python(self) -> bool:
        """Whether a Python is among the programs."""
        return any(_PYTHON.fullmatch(path.name) for path in self._found)

    def files(self) -> list[Path]:
        """The files that were found outside of the working folder."""
        for place in dict.fromkeys(self._places_of_computed):
            self._neighbours(place)
        inside = self._folder.resolve()
        return [path for path in self._found if not path.is_relative_to(inside)]

    def content(self) -> list[tuple[str, bytes]]:
        """Names and digests of these files, and of the packages that are imported."""
        asked: set[str] = set()
        while self._unknown:  # what is found may import more
            interpreter, names = self._unknown.popitem()
            new = sorted(names.keys() - asked)
            own, installed = installed_modules(interpreter, new, self._folder, self._variables) if new else ([], {})
            asked |= names.keys()
            self._installed |= installed
            for path in own:
                self._add(path, "python", [path.parent.parent if path.stem == "__init__" else path.parent])
        return [(path.name, digest_of(path)) for path in self.files()] + sorted(self._installed.items())

    # step (1)
    def command(self, words: Sequence[str], base: Path | None = None) -> None:
        """Follow the words of a command line."""
        bases = [self._folder, *([base] if base else [])]
        interpreter = ""
        following = iter(words)
        for word in following:
            name = Path(word).name
            if _PYTHON.fullmatch(name) or _SHELL.fullmatch(name):
                interpreter = word
                self._program(word)
            elif interpreter and _PYTHON.fullmatch(Path(interpreter).name) and word in ("-c", "-m"):
                given = next(following, "")
                if word == "-c":
                    self._python(needs_of(given), [self._folder], interpreter, self._folder)
                else:
                    self._module(given, self._search(self._folder), interpreter)
                    self._module(f"{given}.__main__", self._search(self._folder), interpreter)
            elif len(word.split()) > 1:
                self._text(word, bases)
            elif not self._file(word, bases, interpreter):
                self._program(word)

    def _text(self, text: str, bases: Iterable[Path]) -> None:
        """A command line, or several, in one text."""
        try:
            lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
            lexer.whitespace_split = True
            words = list(lexer)
        except ValueError:
            words = []
        kept = [word for at, word in enumerate(words) if at == 0 or not words[at - 1].endswith(">")]
        for base in bases:
            # A word that is the text itself (an awk program in quotes) has nothing more to say.
            self.command([word for word in kept if word != text], base)
        self._mentions(text, bases)

    def _mentions(self, text: str, bases: Iterable[Path]) -> None:
        """Every word of a text that is a file's name; not what is written to."""
        for match in dict.fromkeys(found[0] for found in _WORDS.finditer(text) if not found[1]):
            self._file(match, bases, "")

    def _file(self, word: str, bases: Iterable[Path], interpreter: str) -> bool:
        """Follow a word that names a file, by itself, behind an option's letter, or in a list."""
        shorter = _OPTION.sub("", word, count=1)
        names = dict.fromkeys([word, shorter, *word.split(":"), *shorter.split(":"), word.lstrip("/")])
        modules = [f"{word.replace('::', '/')}{end}" for end in (".pm", ".rb")]
        known = False
        for name in filter(None, names):
            for base in bases:
                known |= self._try(base / name, interpreter)
            if name.startswith("/") and _is(Path(name).is_dir) and word.startswith("-I"):
                self._libraries.append(Path(name))
        for base in (*bases, *self._libraries):
            for name in (*modules, word):
                known |= self._try(base / name, "")
        return known

    def _try(self, path: Path, interpreter: str) -> bool:
        if not _is(path.is_file):
            return False
        hint = "python" if _PYTHON.fullmatch(Path(interpreter).name) else "shell" if interpreter else ""
        self._add(path, hint, None, interpreter)
        return True

    def _program(self, word: str) -> None:
        if "/" in word or _PROGRAM.fullmatch(word):
            found = shutil.which(word, path=self._variables.get("PATH", os.defpath))
            if found is not None:
                self._add(Path(found), "", None)

    def _add(self, path: Path, hint: str, search: list[Path] | None, interpreter: str = "") -> None:
        """Count a file, and follow what it says."""
        real = path.resolve()
        if real in self._found:
            return
        self._found[real] = None
        text = _script_text(real)
        if text is None:
            return
        shebang = text.partition(b"\n")[0].decode("utf-8", "replace")[2:].split() if text.startswith(b"#!") else []
        names = " ".join(Path(word).name for word in shebang)
        if real.suffix in (".py", ".pyw") or hint == "python" or _PYTHON.search(names):  # step (3)
            needs = needs_of(text)
            if needs is not None:
                runs = next((word for word in shebang if _PYTHON.fullmatch(Path(word).name)), "python3")
                self._python(needs, search or [real.parent], interpreter or runs, real.parent)
                self.command(shebang)
                return
        self.command(shebang)
        decoded = text.decode("utf-8", "replace")
        shell = real.suffix in (".sh", ".bash", ".ksh", ".zsh") or hint == "shell" or _SHELL.search(names)
        if shell:  # step (2)
            self._text(decoded, [self._folder, real.parent])
        elif shebang or _SCRIPTS.fullmatch(real.suffix) or len(text) <= _PERHAPS_SCRIPT_BYTES:  # step (4)
            self._mentions(decoded, [self._folder, real.parent, *self._libraries])

    # step (3)
    def _python(self, needs: Needs | None, search: list[Path], interpreter: str, here: Path) -> None:
        if needs is None:
            return
        places = [*search, *(place for place in self._search() if place not in search)]
        for level, name in [*needs.modules, (0, "sitecustomize"), (0, "usercustomize")]:
            if level:
                package = Path(here, *[".."] * (level - 1)).resolve()
                for path in module_files(name, [package]) if name else [package / "__init__.py"]:
                    self._follow(path, places, interpreter)
            else:
                self._module(name, places, interpreter)
        for text in needs.texts:
            if needs.starts_programs and len(text) < _SCRIPT_BYTES:
                self._text(text, [self._folder, here])
                self._program(text)
            else:
                self._file(text, [self._folder, here], "")
        if needs.computed:
            self._places_of_computed += places

    def _module(self, name: str, places: list[Path], interpreter: str) -> None:
        files = module_files(name, places)
        for path in files:
            self._follow(path, places, interpreter)
        top = name.partition(".")[0]
        if not files and top.isidentifier() and top not in sys.stdlib_module_names:
            self._unknown.setdefault(interpreter or "python3", {})[top] = None

    def _follow(self, path: Path, places: list[Path], interpreter: str) -> None:
        if _is(path.is_file):
            self._add(path, "python" if path.suffix == ".py" else "", places, interpreter)

    def _neighbours(self, place: Path) -> None:
        """Count all modules below a folder. What they need themselves is most likely beside them."""
        left = _MOST_NEIGHBOURS
        for folder, folders, files in os.walk(place):
            folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
            modules = [Path(folder, name).resolve() for name in sorted(files) if name.endswith(".py")]
            self._found |= dict.fromkeys(path for path in modules if _is(path.is_file))
            left -= len(modules)
            if left <= 0:
                return

    def _search(self, *first: Path) -> list[Path]:
        return [*first, *self._folders_in("PYTHONPATH")]

    def _folders_in(self, variable: str) -> list[Path]:
        names = self._variables.get(variable, "").split(os.pathsep)
        return [self._folder / name for name in names if name]


def _script_text(path: Path) -> bytes | None:
    """What a script says; None for binaries and data."""
    try:
        if path.stat().st_size > _SCRIPT_BYTES:
            return None
        text = path.read_bytes()
    except OSError:
        return None
    return None if b"\0" in text[:8192] else text


def _is(question: Callable[[], bool]) -> bool:
    """A question about a path; no, where the system does not take it for one (too long, forbidden)."""
    try:
        return question()
    except (OSError, ValueError):
        return False
