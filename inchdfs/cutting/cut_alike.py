"""Whether chunks that were cut for one record format hold whole records of another."""

from __future__ import annotations

from typing import Any

from incoop.inchdfs.cutting.records import Csv, Lines, RecordFormat, WholeFile


def holds_whole_records(cut_for: RecordFormat, read_by: RecordFormat) -> bool:
    r"""Whether every end of a chunk is one of a record of `read_by`.

    A format that only reads what another one cuts says so by an attribute `cut_as`.

    Example:
        >>> holds_whole_records(Lines(), Lines("latin-1")), holds_whole_records(Csv(), Lines())
        (True, True)
        >>> holds_whole_records(Lines(), Csv())  # a quoted newline ends a line, and no row
        False
    """
    cut, read = _ends(cut_for), _ends(read_by)
    # Rows end where lines do; what ends a file ends whatever is in it.
    return cut == read or cut is WholeFile or (read is Lines and isinstance(cut, tuple))


def _ends(form: RecordFormat) -> Any:
    """What decides where records end: equal where they end alike."""
    form = getattr(form, "cut_as", form)
    match form:
        case Lines():
            return Lines
        case WholeFile():
            return WholeFile
        case Csv():
            return Csv, form.quote
    return form
