"""K nearest neighbours: classify a few query points by the labels of the training points nearest to each."""

from __future__ import annotations

import heapq
from bisect import insort
from typing import Any

from bench import data
from bench.apps.app import App
from bench.jobs.knn import NEIGHBOURS, distances, nearest, vote

Neighbour = tuple[float, int]


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
