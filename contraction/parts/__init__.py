"""The stored form of runs, all of it. No other room knows where a byte of it stands.

    rows.py       what the rows of headers say
    packs.py      filling a pack, reading from one
    blocks.py     a slice of a part, or of an overlay, as bytes
    overlay.py    what changed in a part since its blocks were written
    at_hand.py    what a worker decoded before
    part.py       one shard of a stored run, read when it is asked for
    write.py rewrite.py    a run written, a part changed
    headers.py    the run as others refer to it
    in_order.py   what a map-only job keeps of a chunk: its pairs, in layers of leaves

Imports columns and base; reads through the protocol `packs.Reader`.
"""
