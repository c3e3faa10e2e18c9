"""Loaded by every Python that a Streaming program starts: notes which files it reads.

Contract: the program does not notice. The variables are as they were, `sys.path` too, a `sitecustomize` of the user's
own is loaded, nothing but built-in modules is, and nothing here raises. Runs in any Python; those before 3.8 are not
watched. A note is one line: the name, a tab, then size, times, inode and device at the moment of opening, or nothing.
"""

# No annotations, for any Python's sake; no pathlib and contextlib, which the program may not have loaded.
# mypy: ignore-errors


def _watch():
    import os
    import sys

    reads = os.environ.pop("INCOOP_READS", None)
    staging = os.environ.pop("INCOOP_STAGING", "")
    before = os.environ.pop("INCOOP_PYTHONPATH", None)
    if before is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = before
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != here or place == ""]
    if reads and hasattr(sys, "addaudithook"):
        _add_hook(reads, staging)


def _add_hook(reads, staging):
    import os
    import sys
    import time

    began = time.time() - 0.02  # files get the time of the clock's last tick
    temporary = os.path.realpath(os.environ.get("TMPDIR") or "/tmp") + os.sep

    library = os.path.dirname(os.__file__) + os.sep
    own = [os.path.realpath(place) + os.sep for place in (os.getcwd(), staging, os.path.dirname(reads)) if place]
    skipped = ("/proc/", "/sys/", library) + tuple(own)

    def is_skipped(name):
        # Of devices only; but /dev/shm is a folder in memory that programs keep files in.
        return name.startswith(skipped) or (name.startswith("/dev/") and not name.startswith("/dev/shm/"))

    noted = set()
    handle = []
    inside = []

    def note(name, stamp):
        if not handle:
            handle.append(os.open(reads, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        line = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t") + "\t" + stamp + "\n"
        os.write(handle[0], os.fsencode(line))

    def look(event, path, mode, flags):
        if isinstance(path, int) or path is None:
            return
        text = os.path.abspath(os.fsdecode(path))
        if isinstance(mode, str) and any(sign in mode for sign in "wax+"):
            noted.add(text)  # what it writes is its own
            return
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            noted.add(text)
            return
        folder, name = os.path.split(text)
        if os.path.basename(folder) == "__pycache__":  # a module is read from here when its source did not change
            text = os.path.join(os.path.dirname(folder), name.split(".")[0] + ".py")
        real = os.path.realpath(text)
        if text in noted or is_skipped(text) or is_skipped(real):
            return
        noted.add(text)
        if event != "open":
            text = "dir:" + text
        try:
            found = os.stat(path if event != "open" else text)
            # Perhaps made by the program itself: then it is gone when the notes are read.
            young = " young" if real.startswith(temporary) and found.st_ctime >= began else ""
            stamp = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)
            note(text, " ".join(str(each) for each in stamp) + young)
        except OSError:
            note(text, "")

    def hook(event, arguments):
        if inside or event not in ("open", "os.listdir", "os.scandir", "sqlite3.connect"):
            return
        inside.append(True)
        try:
            if event == "open":
                look(event, arguments[0], arguments[1], arguments[2])
            elif event == "sqlite3.connect":
                look("open", arguments[0], None, None)
            elif not sys._getframe(1).f_code.co_filename.startswith("<frozen importlib"):
                look(event, arguments[0] or ".", None, None)
        except Exception:
            pass
        finally:
            inside.pop()

    sys.addaudithook(hook)


def _load_the_users_own():
    """The sitecustomize that would have been loaded without this one."""
    import sys

    this = sys.modules.pop("sitecustomize")
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = this  # there is none; whoever imports this one looks for it


try:
    _watch()
except Exception:
    pass
_load_the_users_own()
