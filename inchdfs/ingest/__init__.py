"""Logs into a stored dataset: files that grow, rotate and are compressed, or standard input; each line once.

    names.py        which file name a log gets when it is rotated
    listing.py      which files there are now
    log_file.py     one open log: its content, compressed or not, read from any place
    spool.py        standard input as such a log
    streams.py      what is known of each log, and how it is kept in the manifest
    recognise.py    which known log a file is, by its content
    homes.py        where each known log is now, look by look
    whole_lines.py  lines that have an end
    take.py         those of some logs as a new version
    lock.py         one ingest a dataset
    signals.py      who asks for an end
    follow.py       the loop: look, take, wait

Contract: a *stream* is what was written to one log, from its first byte on, under whatever names it has been since. A
dataset keeps one entry a stream, in the order in which they were first seen, each with exactly its bytes; so that a
line that comes late to a rotated file stands where its writer put it, and an append cuts one chunk anew whichever
stream it belongs to. How much of a stream was taken is the size of its entry: there is no other offset that could
disagree with the data. What is recognised is recognised by the ids of the entry's chunks.

Imports store, files, cutting, base and inchdfs.errors.
"""
