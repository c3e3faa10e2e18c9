"""Airports by country and region, out of a table in CSV: their heights in feet."""

import csv

import incoop


def heights(_, line):
    for row in csv.reader([line]):
        if row[0] != "icao":
            yield (row[5], row[4]), round(float(row[6]))


def total(region, feet):
    yield region, sum(feet)


def highest(region, feet):
    yield region, max(feet)


def listed(region, feet):
    yield region, sorted(feet)


sums = incoop.Job("feet by region", mapper=heights, combiner=total, reducer=total)
maxima = incoop.Job("highest by region", mapper=heights, combiner=highest, reducer=highest)
groups = incoop.Job("all heights of a region", mapper=heights, reducer=listed)
