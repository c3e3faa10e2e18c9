"""Pairs in memory: values as columns, keys by their hashes, runs, and what is done with runs row by row.

    encoding.py arrays.py column.py column_bytes.py    values to canonical bytes, one by one and many at once
    encoded_rows.py                                    ... many at once, as if one by one
    normal.py moments.py keys.py                       which keys are the same, and their hashes
    sorted_sets.py ordering.py                         numbers: sets of them, and orders
    run.py shards.py by_hash.py splice.py              pairs sorted by hash: merged, cut, searched, replaced

Imports base only.
"""
