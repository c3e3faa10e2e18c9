"""K nearest neighbours: classify a few query points by the labels of the training points nearest to each.

The training points are the input, behind their labels; the query points are known to the mapper.
"""

import heapq
from collections import Counter

import numpy as np

import incoop

# Neighbours that vote.
NEIGHBOURS = 10

QUERIES = np.random.default_rng(10).random((20, 50))


def distances(_, line):
    label, *coordinates = line.split()
    point = np.array([float(coordinate) for coordinate in coordinates])
    for query, distance in enumerate(((QUERIES - point) ** 2).sum(axis=1).tolist()):
        yield query, (distance, int(label))


def nearest(query, neighbours):
    for neighbour in heapq.nsmallest(NEIGHBOURS, neighbours):
        yield query, neighbour


def vote(query, neighbours):
    votes = Counter(label for _, label in heapq.nsmallest(NEIGHBOURS, neighbours))
    most = max(votes.values())
    yield query, min(label for label, count in votes.items() if count == most)


job = incoop.Job("k nearest neighbours", mapper=distances, combiner=nearest, reducer=vote)
