"""Step 1 of a run, chunk: input files become stable, content-defined chunks.

settings.py, rolling_hash.py    where the content says a chunk should end
records.py, splitter.py         ... moved to the end of a record
parallel.py, resync.py          the same cuts, in several processes (or Spark tasks), or from what is known
chunking.py                     the cheapest of those for one file
manifest.py                     the ordered chunks of one version of an input
index.py                        inputs by reference: the user's files, where they are
packs.py, pack_writer.py        chunk bytes on disk
store.py, ingest.py             inputs kept in the store: deduplicated, versioned
dataset.py, compare.py, collect.py read, compare, clean up and check what is kept
"""

from __future__ import annotations

from inchdfs.chunk_table import Chunk
from inchdfs.chunking import chunk_file
from inchdfs.collect import collect, verify
from inchdfs.compare import diff
from inchdfs.dataset import Dataset
from inchdfs.index import index_input, locate
from inchdfs.ingest import append, put
from inchdfs.manifest import Manifest
from inchdfs.packs import Location, read_chunk
from inchdfs.records import Csv, Delimited, FixedLength, Lines, RecordFormat, WholeFile
from inchdfs.settings import ChunkSettings
from inchdfs.sources import Listing, expand
from inchdfs.spark_segments import spark_segments
from inchdfs.splitter import Splitter
from inchdfs.store import DatasetStore, VersionName

__all__ = [
    "Chunk",
    "ChunkSettings",
    "Csv",
    "Dataset",
    "DatasetStore",
    "Delimited",
    "FixedLength",
    "Lines",
    "Listing",
    "Location",
    "Manifest",
    "RecordFormat",
    "Splitter",
    "VersionName",
    "WholeFile",
    "append",
    "chunk_file",
    "collect",
    "diff",
    "expand",
    "index_input",
    "locate",
    "put",
    "read_chunk",
    "spark_segments",
    "verify",
]
