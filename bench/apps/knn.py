"""K nearest neighbours: classify a few query points by the labels of the training points nearest to each.

The training points are the input; the query points are known to the mapper.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from bench import data
from bench.apps.app import App

#: Neighbours that vote.
NEIGHBOURS = 10

QUERIES = np.random.default_rng(10).random((20, data.DIMENSIONS))

Neighbour = tuple[float, int]


def distances(_: Any, line: str) -> Iterator[tuple[int, Neighbour]]:
    label, *coordinates = line.split()
    point = np.array([float(coordinate) for coordinate in coordinates])
    for query, distance in enumerate(((QUERIES - point) ** 2).sum(axis=1).tolist()):
        yield query, (distance, int(label))


def nearest(query: int, neighbours: Iterable[Neighbour]) -> Iterator[tuple[int, Neighbour]]:
    for neighbour in heapq.nsmallest(NEIGHBOURS, neighbours):
        yield query, neighbour


def vote(query: int, neighbours: Iterable[Neighbour]) -> Iterator[tuple[int, int]]:
    votes = Counter(label for _, label in heapq.nsmallest(NEIGHBOURS, neighbours))
    most = max(votes.values())
    yield query, min(label for label, count in votes.items() if count == most)


def _kept(best: list[Neighbour], neighbour: Neighbour) -> list[Neighbour]:
    if len(best) < NEIGHBOURS or neighbour < best[-1]:
        insort(best, neighbour)
        del best[NEIGHBOURS:]
    return best


def _merged(one: list[Neighbour], other: list[Neighbour]) -> list[Neighbour]:
    return heapq.nsmallest(NEIGHBOURS, one + other)


def classified(lines: Any) -> Any:
    best = lines.flatMap(lambda line: distances(None, line)).aggregateByKey([], _kept, _merged)
    return best.flatMap(lambda found: vote(*found))


APP = App("knn", "K nearest neighbours", distances, nearest, vote, classified, data.write_labelled_points, "points")
