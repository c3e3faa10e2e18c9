"""A block list of hosts, by domain: how many there are, the longest name, and all of them."""

import incoop


def ones(_, line):
    if line.startswith("0.0.0.0 "):
        host = line.split()[1]
        yield ".".join(host.split(".")[-2:]), 1


def hosts(_, line):
    if line.startswith("0.0.0.0 "):
        host = line.split()[1]
        yield ".".join(host.split(".")[-2:]), (len(host), host)


def count(domain, found):
    yield domain, sum(found)


def longest(domain, found):
    yield domain, max(found)


def listed(domain, found):
    yield domain, sorted(found)


sums = incoop.Job("hosts by domain", mapper=ones, combiner=count, reducer=count)
maxima = incoop.Job("longest host by domain", mapper=hosts, combiner=longest, reducer=longest)
groups = incoop.Job("all hosts of a domain", mapper=hosts, reducer=listed)
