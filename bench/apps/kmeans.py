"""K-means: one iteration. Each point goes to its nearest centre; the new centres are the means of their points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bench import data
from bench.apps.app import App

#: How many clusters, as the number of classes in data sets that people cluster; more centres make the mapper costlier.
CLUSTERS = 50

Vector = npt.NDArray[np.float64]
Share = tuple[Vector, int]

#: The centres of the last iteration.
CENTRES: Vector = np.random.default_rng(50).random((CLUSTERS, data.DIMENSIONS))


def nearest_centre(_: Any, line: str) -> Iterator[tuple[int, Share]]:
    point = np.array([float(coordinate) for coordinate in line.split()])
    yield int(((CENTRES - point) ** 2).sum(axis=1).argmin()), (point, 1)


def added(centre: int, shares: Iterable[Share]) -> Iterator[tuple[int, Share]]:
    points, counts = zip(*shares, strict=True)
    yield centre, (np.sum(points, axis=0), sum(counts))


def mean(centre: int, shares: Iterable[Share]) -> Iterator[tuple[int, list[float]]]:
    for _, (total, count) in added(centre, shares):
        yield centre, (total / count).tolist()


def new_centres(lines: Any) -> Any:
    sums = lines.flatMap(lambda line: nearest_centre(None, line)).reduceByKey(
        lambda one, other: (one[0] + other[0], one[1] + other[1])
    )
    return sums.mapValues(lambda share: (share[0] / share[1]).tolist())


APP = App("kmeans", "K-means", nearest_centre, added, mean, new_centres, data.write_points, "points", exact=False)
