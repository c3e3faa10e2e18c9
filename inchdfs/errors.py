"""What can go wrong between a user's files and stable chunks, each with a remedy."""

from __future__ import annotations

from incoop.base.errors import BadCall, IncoopError


class InputNotFound(IncoopError):
    """A path, glob or folder given as input holds no file."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(path, why)
        self.path, self.why = path, why

    def __str__(self) -> str:
        return f"{self.path}: {self.why}. Check the spelling and the working folder; `ls` shows what is there."


class InputUnreadable(IncoopError):
    """The operating system refused to read an input, or its content cannot be decompressed."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(path, why)
        self.path, self.why = path, why

    def __str__(self) -> str:
        return f"cannot read {self.path}: {self.why}. Nothing was stored; mend the file or its permissions and repeat."


class FileChangedWhileRead(IncoopError):
    """A file's size, time or content moved between the first and the last byte read."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return (
            f"{self.path} changed while it was read, so its chunks belong to no version of it. Nothing was stored; "
            "repeat when the writer is done, or work on a copy."
        )


class PartialRecord(IncoopError):
    """The input ends inside a fixed-length record."""

    def __init__(self, record_length: int, leftover: int) -> None:
        super().__init__(record_length, leftover)
        self.record_length, self.leftover = record_length, leftover

    def __str__(self) -> str:
        return (
            f"the input ends with {self.leftover} bytes that do not make a record of {self.record_length}. "
            "Check the record length, or whether the file was cut short."
        )


class SegmentProcessEnded(IncoopError):
    """A process that searched a part of a large file ended before it answered."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return (
            f"a process that searched a part of {self.path} for chunks ended before it was done. It was probably "
            "killed, or the machine is out of memory; nothing was stored, repeat when there is room."
        )


class RecordTooLong(IncoopError):
    """A record does not fit in one chunk, which is read and written in one piece."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return (
            f"a record is longer than {self.limit} bytes, the most that a chunk can hold (less in a tiny compressed "
            "file). Check the record format: a wrong delimiter or an open quote makes one record of everything."
        )


class BadDatasetName(BadCall):
    """A dataset name that cannot be a folder below the store."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return (
            f"{self.name!r} is not a dataset name. Use letters, digits, '.', '_', '-' and '/' between parts, "
            "no part being '.' or '..', ending in '.manifest' or longer than 200; a version follows after '@', "
            "as in logs@3."
        )


class DatasetNotFound(IncoopError):
    """No dataset, or no such version of it, in this store."""

    def __init__(self, name: str, store: str, known: str) -> None:
        super().__init__(name, store, known)
        self.name, self.store, self.known = name, store, known

    def __str__(self) -> str:
        return f"no dataset {self.name} in {self.store}; there is {self.known}. `incoop ls` lists what is stored."


class DatasetStoreTooNew(IncoopError):
    """The store was written by a later release whose format this one does not know."""

    def __init__(self, path: str, found: int, known: int) -> None:
        super().__init__(path, found, known)
        self.path, self.found, self.known = path, found, known

    def __str__(self) -> str:
        return (
            f"{self.path} has format {self.found}, this release reads up to {self.known}. "
            "Upgrade incoop (pip install --upgrade incoop), or choose another --store. If no later incoop was ever "
            "used here, the number is damaged: `incoop verify --repair` sets it right."
        )


class StoreDamaged(IncoopError):
    """A stored chunk or manifest is missing, cut short, or does not have the content its name promises."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(what, why)
        self.what, self.why = what, why

    def __str__(self) -> str:
        remedy = "`incoop verify --repair` lists and drops what is damaged; then put the source again."
        return f"{self.what}: {self.why}. {remedy}"


class StoreUnusable(IncoopError):
    """The operating system refused to read or write in the store."""

    def __init__(self, store: str, why: str) -> None:
        super().__init__(store, why)
        self.store, self.why = store, why

    def __str__(self) -> str:
        return (
            f"cannot use {self.store}: {self.why}. Check that it is a folder of yours with room to write, "
            "or choose another --store."
        )


class StoreBusy(IncoopError):
    """A collection cannot run while another process writes to the store."""

    def __init__(self, store: str) -> None:
        super().__init__(store)
        self.store = store

    def __str__(self) -> str:
        return f"another process is writing to {self.store}. Nothing was removed; repeat when it is done."


class StoreFull(IncoopError):
    """The file system of the store has no room left (or a quota is reached)."""

    def __init__(self, store: str, why: str) -> None:
        super().__init__(store, why)
        self.store, self.why = store, why

    def __str__(self) -> str:
        return (
            f"cannot write to {self.store}: {self.why}. The earlier versions are untouched and the unfinished one "
            "is removed; free some room (`incoop gc` may help) and repeat."
        )
