"""Where bytes are cut: a function of the bytes, but for the processes that search a large file. Knows no store.

    settings.py rolling_hash.py records.py splitter.py    where a chunk ends
    cut_alike.py                                          which formats may read what was cut for another
    chunk_table.py                                        chunks as rows
    resync.py stretches.py                                the same cuts, from what is known
    ahead.py side_by_side.py                              ... in several places at once
    parallel.py segment_process.py spark_segments.py      ... or in many processes

Imports base and inchdfs.errors.
"""
