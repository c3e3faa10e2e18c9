"""The law above all: whatever ran before, a run gives what a run from scratch and what plain PySpark gives."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import incoop

from .histories import Files, as_set, by_hand, by_spark, histories, random_history, with_normal_keys
from .jobs import COUNTING, JOBS
from .places import Place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

laws = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


def check_history(job: incoop.Job, versions: list[Files], base: Path, spark: SparkSession) -> None:
    """Run every version on one store; each is right, and the last is what an empty store gives, in order."""
    with contextlib.closing(Place(base, spark)) as place:
        for version in versions:
            place.write(version)
            result = place.run(job)
            pairs = result.collect()
            assert as_set(pairs) == as_set(by_hand(job, version))
            assert result.report.warnings == []
        with place.scratch() as session:
            scratch = session.run(job, str(place.input))
            assert as_set(scratch.collect()) == as_set(pairs)
            assert [repr(pair) for pair in scratch] == [repr(pair) for pair in pairs]
            assert scratch.root == result.root
            assert scratch.report.counters == result.report.counters
        if "not a number" not in job.name:  # PySpark takes each NaN for a key of its own
            assert with_normal_keys(by_spark(job, place)) == with_normal_keys(pairs)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_every_run_equals_a_run_from_scratch(job: incoop.Job, base: Path, spark: SparkSession) -> None:
    check_history(job, random_history(job.name), base, spark)


@settings(laws, max_examples=12)
@given(job=st.sampled_from(JOBS), versions=histories())
def test_every_run_of_a_short_history_equals_a_run_from_scratch(
    job: incoop.Job, versions: list[Files], base: Path, spark: SparkSession
) -> None:
    check_history(job, versions, base, spark)


@pytest.mark.long
@settings(laws, max_examples=12)
@given(job=st.sampled_from(JOBS), versions=histories(most_edits=6))
def test_long_histories_of_any_job(job: incoop.Job, versions: list[Files], base: Path, spark: SparkSession) -> None:
    check_history(job, versions, base, spark)


@pytest.mark.parametrize("job", COUNTING, ids=lambda job: job.name)
def test_counters_add_up_as_in_a_run_from_scratch(job: incoop.Job, base: Path, spark: SparkSession) -> None:
    check_history(job, random_history(job.name), base, spark)
