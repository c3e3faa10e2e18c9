"""K-means: one iteration. Each point goes to its nearest centre; the new centres are the means of their points."""

from __future__ import annotations

from typing import Any

from bench import data
from bench.apps.app import App
from bench.jobs.kmeans import added, mean, nearest_centre


def new_centres(lines: Any) -> Any:
    sums = lines.flatMap(lambda line: nearest_centre(None, line)).reduceByKey(
        lambda one, other: (one[0] + other[0], one[1] + other[1])
    )
    return sums.mapValues(lambda share: (share[0] / share[1]).tolist())


APP = App("kmeans", "K-means", nearest_centre, added, mean, new_centres, data.write_points, "points", exact=False)
