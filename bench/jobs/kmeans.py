"""K-means: one iteration. Each point goes to its nearest centre; the new centres are the means of their points."""

import numpy as np

import incoop

# The centres of the last iteration. As many as there are classes in data sets that people cluster; more make the mapper
# costlier. Points have 50 dimensions, as in the Incoop paper.
CENTRES = np.random.default_rng(50).random((50, 50))


def nearest_centre(_, line):
    point = np.array([float(coordinate) for coordinate in line.split()])
    yield int(((CENTRES - point) ** 2).sum(axis=1).argmin()), (point, 1)


def added(centre, shares):
    points, counts = zip(*shares, strict=True)
    yield centre, (np.sum(points, axis=0), sum(counts))


def mean(centre, shares):
    for _, (total, count) in added(centre, shares):
        yield centre, (total / count).tolist()


job = incoop.Job("k-means", mapper=nearest_centre, combiner=added, reducer=mean)
