"""Search the segments of large files as Spark tasks, where the files lie on storage that every worker sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incoop.inchdfs.cutting.parallel import Segment, SegmentCuts, SegmentRunner, search_segment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_segments(spark: SparkSession) -> SegmentRunner:
    """A runner for `chunk_file` and `index_input` that sends each segment to a Spark task."""

    def run(segments: list[Segment]) -> list[SegmentCuts]:
        # The segments travel with the function, by cloudpickle: it carries a record format of the user's script.
        numbers = spark.sparkContext.parallelize(range(len(segments)), len(segments))
        return numbers.map(lambda number: search_segment(segments[number])).collect()

    return run
