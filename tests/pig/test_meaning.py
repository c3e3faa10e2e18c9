"""What scripts mean: each case in scripts/, by a plain evaluator of plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from incoop.fronts.pig.syntax.errors import PigSyntaxError

from .cases import Case, by_reference, cases, prepared, printed_by, write_inputs


@pytest.mark.parametrize("case", cases(), ids=str)
def test_case(case: Case, tmp_path: Path) -> None:
    write_inputs(case, tmp_path)
    if case.error is not None:
        with pytest.raises(PigSyntaxError) as caught:
            prepared(case, tmp_path)
        assert str(caught.value) == case.error
        return
    steps = prepared(case, tmp_path)
    found = printed_by(steps, lambda plans, inputs: by_reference(plans, inputs, steps))
    assert found == list(case.printed)
