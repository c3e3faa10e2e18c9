"""Step 1 of a run, chunk: input files become stable, content-defined chunks; datasets have versions.

    cutting/    where bytes are cut
    files/      the user's files, and the chunks of one
    store/      datasets: what is kept of them, and what came and went between two versions

Each imports those above it here, and base.
"""

from __future__ import annotations

from incoop.inchdfs.cutting.chunk_table import Chunk
from incoop.inchdfs.cutting.records import Csv, Delimited, FixedLength, Lines, RecordFormat, WholeFile
from incoop.inchdfs.cutting.settings import ChunkSettings
from incoop.inchdfs.cutting.spark_segments import spark_segments
from incoop.inchdfs.cutting.splitter import Splitter
from incoop.inchdfs.files.chunking import chunk_file
from incoop.inchdfs.files.sources import Listing, expand
from incoop.inchdfs.store.collect import collect, verify
from incoop.inchdfs.store.compare import diff
from incoop.inchdfs.store.dataset import Dataset
from incoop.inchdfs.store.dataset_store import DatasetStore, VersionName
from incoop.inchdfs.store.index import index_input, locate
from incoop.inchdfs.store.manifest import Manifest
from incoop.inchdfs.store.packs import Location, read_chunk
from incoop.inchdfs.store.put import append, put

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
