"""In a worker: note what the user's code reads, by whatever means, while it runs.

Contract: between `begin` and `end` every file that Python opens for reading, every folder it lists and every
environment variable it looks up is noted, whoever does it: the user's function, a library it calls, C code of the
standard library. Not noted: what the engine reads itself (`unwatched`), code of installed packages (which counts by
package), what the tasks wrote themselves, and files that are gone again when they end. What cannot be followed (a
connection, a program that is started) is told with the line of code. Foreign C code that opens files without Python is
not seen.

Python tells of such events by audit hooks, which cannot be taken away again: this one does nothing unless asked to.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

from incoop.code.reads import FILE, FOLDER, UNKNOWN, VARIABLE, Observed, Read, digest_of, stamp_of
from incoop.code.whose import asked_by_python, at_work, is_importing, is_installed, is_ours, line_of_user

#: Their content is not that of a file; but for a folder in memory that programs keep files in.
_NOT_FILES = re.compile(r"/(dev/(?!shm/)|proc/|sys/)")

#: Code, which counts as a package or by its module.
_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".pth")

#: Spark's own folders: broadcast values, and files that were added to all workers, both of which count by content.
_SPARKS = re.compile(r"/(spark|blockmgr)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{9,27}/")

#: Variables that Spark and incoop set for the workers themselves, and the size of the terminal.
_OURS = ("COLUMNS", "LINES", "SPARK_", "PYSPARK_", "PYTHON_", "PYTHONHASHSEED", "INCOOP_", "JAVA_")

Stamp = tuple[int, ...]


class _Notes:
    """What was noted since the last `begin`."""

    def __init__(self, importing: bool = False) -> None:
        #: Whether modules are imported, so that it counts which of them read.
        self.importing = importing
        #: The modules whose code was at work at each read, while modules are imported.
        self.readers: defaultdict[Read, set[str]] = defaultdict(set)
        #: What told of writes when a file was opened first; None where it was not there.
        self.reads: dict[Read, Stamp | None] = {}
        self.untracked: set[str] = set()
        #: Files that were written; what is read of them after that, the tasks know themselves.
        self.written: set[str] = set()
        #: Files whose content the task's input names.
        self.named: set[str] = set()
        #: The working folder at the beginning.
        self.folder = _here()

    def wants(self, read: Read) -> bool:
        """Whether there is something to note: the same again is, of another module."""
        return self.importing or read not in self.reads

    def add(self, read: Read, stamp: Stamp | None) -> None:
        self.reads.setdefault(read, stamp)
        if self.importing:
            self.readers[read] |= at_work()


#: What is noted now; None while nothing is.
_notes: _Notes | None = None

#: What each module read while modules were imported, once for all tasks of this process.
_of_imports: defaultdict[str, dict[Read, Stamp | None]] = defaultdict(dict)

#: What functions of each module read: a cache there may keep it for the functions of another job.
_of_modules: defaultdict[str, dict[Read, Stamp | None]] = defaultdict(dict)

#: Variables that tasks of this process set.
_set: set[str] = set()

_engine = threading.local()
_installed = False


def begin(importing: bool = False) -> None:
    """Note from now on; with `importing` until `imported`."""
    global _notes
    _install()
    _notes = _Notes(importing)


def imported(modules: Iterable[str]) -> None:
    """Stop; what was noted was read while these modules were imported.

    It counts for the modules that were at work then, not for a package that they happen to be in, nor for a module that
    was there before. What one of them read may be in a cache of another, which counts for functions that reach caches.
    """
    global _notes
    notes, _notes = _notes, None
    if notes is None or not notes.reads:
        return
    modules = set(modules)
    for read, stamp in notes.reads.items():
        readers = notes.readers[read]
        for module in readers if readers & modules else readers | modules:  # whose it was is not known: of all
            _of_imports[module][read] = stamp
    for module in modules:
        _of_modules[module].update(notes.reads)


def reads_of_imports() -> bool:
    """Whether any module read something when this process imported it."""
    return bool(_of_imports)


def end(modules: Iterable[str] = (), caching: Iterable[str] = ()) -> Observed:
    """Stop, and say what was noted of functions of these modules, of which `caching` may keep what they read."""
    global _notes
    notes, _notes = _notes, None
    if notes is None:
        return Observed()
    earlier = {read: stamp for module in modules for read, stamp in _of_imports.get(module, {}).items()}
    earlier |= {read: stamp for module in caching for read, stamp in _of_modules[module].items()}
    for module in caching:
        _of_modules[module].update(notes.reads)
    reads = {read: digest for read in earlier | notes.reads if (digest := _digest(read, earlier, notes)) is not None}
    return Observed(reads, frozenset(notes.untracked))


def _digest(read: Read, earlier: Mapping[Read, Stamp | None], notes: _Notes) -> bytes | None:
    """The digest of what was read; UNKNOWN if it was written since; None for what came and went with the task."""
    digest = digest_of(read)
    if read.kind != FILE:
        return digest
    stamp, now = earlier[read] if read in earlier else notes.reads[read], _stamp(read)
    if stamp == now and read.name not in notes.written:
        return digest
    came_or_went = read not in earlier and (stamp is None or now is None)
    return None if came_or_went else UNKNOWN


def known_by_content(paths: Iterable[str]) -> None:
    """What tasks read of these files from now on is in their ids already."""
    if _notes is not None:
        _notes.named.update(os.path.normpath(path) for path in paths)


@contextmanager
def unwatched() -> Iterator[None]:
    """What the engine does inside is not the user's doing."""
    before, _engine.works = getattr(_engine, "works", False), True
    try:
        yield
    finally:
        _engine.works = before


def _install() -> None:
    global _installed
    if not _installed:
        _installed = True
        sys.addaudithook(_hear)
        _listen_to_variables()


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if _notes is None:
        return
    note = _EVENTS.get(event)
    if note is not None and not getattr(_engine, "works", False) and not is_ours(sys._getframe(1)):
        _engine.works = True
        try:
            note(_notes, *arguments)
        except Exception:
            pass
        finally:
            _engine.works = False


def _opened(notes: _Notes, path: Any, mode: Any, flags: Any) -> None:
    if isinstance(path, int):
        return
    name = _named(notes, path)
    flags = flags if isinstance(flags, int) else 0
    begins = bool(flags & (os.O_TRUNC | os.O_EXCL)) or (isinstance(mode, str) and any(each in mode for each in "wx"))
    begins = begins or bool(flags & os.O_CREAT and not os.path.exists(name))
    if begins or (flags & os.O_ACCMODE == os.O_WRONLY and mode is None) or mode in ("a", "ab", "at"):
        notes.written.add(name)
    else:
        _note_file(notes, name)


def _named(notes: _Notes, path: Any) -> str:
    """A relative path stays one: it leads elsewhere from another folder. Unless the task itself went elsewhere."""
    name = os.path.normpath(os.fsdecode(path))
    return name if os.path.isabs(name) or _here() == notes.folder else os.path.abspath(name)


def _here() -> str:
    """The working folder; empty when somebody removed it, and nothing can be read there."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _stamp(read: Read) -> Stamp | None:
    try:
        return stamp_of(os.stat(read.name))
    except OSError:
        return None


def _note_file(notes: _Notes, name: str) -> None:
    if name in notes.written or name in notes.named or _NOT_FILES.match(name) or _SPARKS.search(name):
        return
    if _NOTES_OF_INSTALLERS.search(name):
        return
    if name.endswith(_CODE):
        source = _source(name)
        if source is None or is_installed(source):
            return
        name = source
    read = Read(FILE, name)
    if notes.wants(read):
        notes.add(read, _stamp(read))


def _source(name: str) -> str | None:
    """The file behind compiled code; None where it cannot be told."""
    if not name.endswith(".pyc"):
        return name
    try:
        return importlib.util.source_from_cache(name)
    except ValueError:
        return None


#: Packages count by what these hold.
_NOTES_OF_INSTALLERS = re.compile(r"\.(dist|egg)-info/")


def _listed(notes: _Notes, path: Any = None, *_: Any) -> None:
    if isinstance(path, int):
        return
    name = _named(notes, path if path is not None else ".")
    ours = _NOT_FILES.match(f"{name}/") or is_installed(name) or _SPARKS.search(f"{name}/")
    if not ours and not is_importing():
        notes.add(Read(FOLDER, name), (0,) if os.path.isdir(name) else None)


def _connected(notes: _Notes, _: Any, address: Any) -> None:
    to = _shown(address)
    notes.untracked.add(f"{line_of_user()} connects to {to}, whose answers are not known to be the same again")


def _started(notes: _Notes, program: Any, arguments: Any = (), *_: Any) -> None:
    words = [program, *([arguments] if isinstance(arguments, str | bytes) else arguments or ())]
    for word in words:
        text = os.fsdecode(word) if isinstance(word, str | bytes | os.PathLike) else ""
        if os.path.isfile(text):
            _note_file(notes, _named(notes, text))
    shown = " ".join(map(_shown, words[1:] or words))[:80]
    notes.untracked.add(f"{line_of_user()} starts a program ({shown}), and what that reads is not known")


def _opened_database(notes: _Notes, database: Any) -> None:
    if isinstance(database, str | bytes | os.PathLike) and os.fsdecode(database) != ":memory:":
        name = os.fsdecode(database)
        _note_file(notes, unquote(urlsplit(name).path) if name.startswith("file:") else _named(notes, name))


_EVENTS: dict[str, Callable[..., None]] = {
    "open": _opened,
    "os.listdir": _listed,
    "os.scandir": _listed,
    "socket.connect": _connected,
    "subprocess.Popen": _started,
    "os.system": _started,
    "os.posix_spawn": _started,
    "os.exec": _started,
    "sqlite3.connect": _opened_database,
}


def _shown(value: Any) -> str:
    return os.fsdecode(value) if isinstance(value, str | bytes | os.PathLike) else repr(value)


class _Same:
    """Some objects, by identity: looking one up must not ask it for its content."""

    def __init__(self, *objects: Any) -> None:
        self._objects = objects

    def __contains__(self, other: object) -> bool:
        return any(each is other for each in self._objects)


def _listen_to_variables() -> None:
    """Let `os.environ` tell what is asked of it: Python has no event for that."""
    kind: Any = type(os.environ)
    watched = _Same(os.environ, getattr(os, "environb", None))
    get, put, each = kind.__getitem__, kind.__setitem__, kind.__iter__

    def get_and_tell(self: Any, name: Any) -> Any:
        notes = _notes
        if notes is not None and self in watched and isinstance(name, str | bytes):
            read = Read(VARIABLE, os.fsdecode(name))
            ours = read.name in _set or read.name.startswith(_OURS) or getattr(_engine, "works", False)
            if notes.wants(read) and not ours and not asked_by_python(sys._getframe(1), read.name):
                notes.add(read, None)
        return get(self, name)

    def put_and_tell(self: Any, name: Any, value: Any) -> None:
        if _notes is not None and self in watched:
            _set.add(os.fsdecode(name))
        put(self, name, value)

    def each_and_tell(self: Any) -> Any:
        heard = _notes is not None and self in watched and not getattr(_engine, "works", False)
        if heard and _notes is not None and not is_ours(sys._getframe(1)):
            _notes.untracked.add(f"{line_of_user()} reads all environment variables")
        return each(self)

    kind.__getitem__, kind.__setitem__, kind.__iter__ = get_and_tell, put_and_tell, each_and_tell
