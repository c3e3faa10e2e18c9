"""Cases by county and day: `date,county,state,fips,cases,deaths`."""

import incoop


def cases(_, line):
    fields = line.split(",")
    if fields[4].isdigit():
        yield (fields[2], fields[1]), int(fields[4])


def total(county, numbers):
    yield county, sum(numbers)


def most(county, numbers):
    yield county, max(numbers)


def listed(county, numbers):
    yield county, sorted(numbers)


sums = incoop.Job("cases by county", mapper=cases, combiner=total, reducer=total)
maxima = incoop.Job("most cases by county", mapper=cases, combiner=most, reducer=most)
groups = incoop.Job("all cases of a county", mapper=cases, reducer=listed)
