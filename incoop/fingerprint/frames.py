"""Read tables: data frames, series and indexes of pandas, and arrays and tables of Arrow.

Contract: equal labels, types and values give equal nodes, however the columns lie in memory (pandas joins columns of
one type behind the scenes when it needs to) and into how many pieces Arrow cut them. Neither package is imported for
this.
"""

from __future__ import annotations

from typing import Any

from incoop.fingerprint.graph import Node
from incoop.fingerprint.owners import module_of
from incoop.fingerprint.tokens import str_token
from incoop.fingerprint.values import expand_object
from incoop.fingerprint.walk import Walk

#: Classes of Arrow that hold values.
ARROW_VALUES = frozenset({"Array", "ChunkedArray", "Table", "RecordBatch", "Scalar"})


def is_pandas(obj: Any, name: str) -> bool:
    """Say whether `obj` is an instance of pandas' class of that name, or of a subclass."""
    return _is_of("pandas", obj, frozenset({name}))


def is_arrow(obj: Any) -> bool:
    """Say whether `obj` holds values of Arrow."""
    return _is_of("pyarrow", obj, ARROW_VALUES)


def _is_of(package: str, obj: Any, names: frozenset[str]) -> bool:
    return any(
        base.__name__ in names and module_of(base).partition(".")[0] == package for base in type(obj).__mro__[:-1]
    )


def expand_frame(walk: Walk, node: Node, obj: Any) -> None:
    """Read a data frame: its labels and its columns, one by one."""
    columns = [_values(obj.iloc[:, position]) for position in range(obj.shape[1])]
    _fill(walk, node, obj, [obj.index, obj.columns], columns)


def expand_series(walk: Walk, node: Node, obj: Any) -> None:
    """Read a series: its labels, its name and its values."""
    _fill(walk, node, obj, [obj.index, obj.name], [_values(obj)])


def _values(series: Any) -> Any:
    """Return a column as numpy has it, or as the array of pandas' own that it is (dates with zones, categories)."""
    import numpy as np

    return series.to_numpy() if isinstance(series.dtype, np.dtype) else series.array


def _fill(walk: Walk, node: Node, obj: Any, labels: list[Any], columns: list[Any]) -> None:
    # What a subclass keeps besides, and what pandas lets a user attach.
    more = [{name: getattr(obj, name, None) for name in obj._metadata if name != "_name"}, dict(obj.attrs)]
    content = [*labels, columns, *more, obj.flags.allows_duplicate_labels]
    walk.keep(content)
    node.tag = b"table"
    node.tokens = [walk.token(type(obj), node, ("class", type(obj).__qualname__))]
    node.tokens += [walk.token(part, node, ("content", None)) for part in content]


def expand_index(walk: Walk, node: Node, obj: Any) -> None:
    """Read an index: a range by its bounds, several levels level by level, any other as pandas reduces it."""
    node.tag = b"index"
    if is_pandas(obj, "MultiIndex"):
        content: list[Any] = [list(obj.names), [obj.get_level_values(level) for level in range(obj.nlevels)]]
    elif type(obj).__name__ == "Index":
        content = [obj.name, _values(obj.to_series())]
    else:
        expand_object(walk, node, obj)
        return
    walk.keep(content)
    node.tokens = [walk.token(type(obj), node, None), walk.token(content, node, ("content", None))]


def expand_arrow(walk: Walk, node: Node, obj: Any) -> None:
    """Read what Arrow holds: its type (or schema, with its metadata) and its values as Python has them."""
    node.tag = b"arrow"
    schema = getattr(obj, "schema", None)
    if schema is None:
        kind, values = str(obj.type), obj.as_py() if hasattr(obj, "as_py") else obj.to_pylist()
    else:
        kind = schema.to_string(show_field_metadata=False, show_schema_metadata=False)
        notes = [(field.name, field.metadata, field.nullable) for field in schema]
        values = [notes, schema.metadata, [column.to_pylist() for column in obj.columns]]
    walk.keep(values)
    node.tokens = [walk.token(type(obj), node, None), str_token(kind), walk.token(values, node, ("content", None))]
