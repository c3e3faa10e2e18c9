"""Arrays made of buffers are those that pyarrow makes itself, and queries by column never load pandas for it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incoop.query.arrays import numbers_of, of_numbers, of_truths, of_values, scalar

_VALUES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (pa.int32(), st.integers(-(1 << 31), (1 << 31) - 1)),
    (pa.int64(), st.integers(-(1 << 63), (1 << 63) - 1)),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.float64(), st.floats(allow_nan=False) | st.integers(-9, 9)),
    (pa.bool_(), st.booleans()),
    (pa.string(), st.text(st.characters(codec="utf-8"))),
    (pa.binary(), st.binary()),
]


@settings(max_examples=100)
@given(st.data())
def test_an_array_is_the_one_that_pyarrow_makes(data: st.DataObject) -> None:
    kind, one = data.draw(st.sampled_from(_VALUES))
    values = data.draw(st.lists(one | st.none() if data.draw(st.booleans()) else one, max_size=20))
    array = of_values(values, kind)
    array.validate(full=True)
    assert array.equals(pa.array(values, kind))
    assert all(scalar(value, kind).equals(pa.scalar(value, kind)) for value in values[:2])
    first = data.draw(st.integers(0, len(values)))
    part = array[first:].drop_null()
    if kind not in (pa.string(), pa.binary()):
        back = numbers_of(part)
        assert back.tolist() == part.to_numpy(zero_copy_only=False).tolist()
        again = of_truths(back) if kind == pa.bool_() else of_numbers(back)
        assert again.equals(part)


@pytest.mark.parametrize(("values", "kind"), [([1 << 31], pa.int32()), ([1 << 63], pa.int64())])
def test_values_that_do_not_fit_are_refused(values: list[Any], kind: Any) -> None:
    with pytest.raises((OverflowError, pa.ArrowInvalid)):
        of_values(values, kind)


_A_QUERY = """
import sys
import numpy as np
from incoop.query.execution.keys import KeyForm
from incoop.query.execution.mapper import BranchMapper
from incoop.query.execution.reading import ReadText
from incoop.query.execution.sinks import AggregateRows, RowsByKey
from incoop.query.execution.steps import FilterRows, GenerateRows
from incoop.query.expressions import build
from incoop.query.functions import GENERAL
from incoop.query.partial import Aggregation
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.sources.text_lines import TextLines
from incoop.query.types import DOUBLE, LONG, TEXT

def sent(form, steps, sink):
    return BranchMapper(ReadText(form, None, form.schema.types), steps, sink, "", "")([[b"a,1,2.5\\n"], [b"b,2,\\n"]])

schema = Schema.of(name=TEXT, number=LONG, amount=DOUBLE)
name, number, amount = (build.field(schema, each) for each in ("name", "number", "amount"))
kept = FilterRows("", b"", build.compare(">", build.arithmetic("*", number, build.constant(2)), build.constant(1)))
found = [Aggregation(GENERAL.aggregate(each, (of.type,))[0], (of,)) for each in ("sum", "min", "max", "avg")
         for of in (number, amount)]
made = sent(DelimitedText(schema, ","), (kept,), AggregateRows((name,), KeyForm((TEXT,)), tuple(found)))
assert made.keys == ["a", "b"], made
assert sent(DelimitedText(schema, ","), (kept,), RowsByKey((amount,), KeyForm((DOUBLE,)), 0, True)).values
lines = TextLines(Schema.of(line=TEXT))
tokens = build.call(GENERAL, "tokens", build.field(lines.schema, "line"))
apart = GenerateRows("", b"", (tokens,), ("yes",), (TEXT,))
word = build.field(Schema.of(word=TEXT), "word")
count = Aggregation(GENERAL.aggregate("count_rows", ())[0])
assert sent(lines, (apart,), AggregateRows((word,), KeyForm((TEXT,)), (count,))).keys
assert "pyarrow" in sys.modules
print([name for name in sys.modules if name.partition(".")[0] == "pandas"][:3])
"""


def test_mappers_of_queries_work_by_column_without_pandas() -> None:
    pytest.importorskip("pandas")
    said = subprocess.run([sys.executable, "-c", _A_QUERY], capture_output=True, text=True, check=False)
    assert said.stdout.strip() == "[]", said.stderr[-2000:]
