"""Step 1 of a run, chunk: input files become stable, content-defined chunks; datasets have versions.

    cutting/    where bytes are cut
    files/      the user's files, and the chunks of one
    store/      datasets: what is kept of them, and what came and went between two versions
    ingest/     logs that grow and rotate, into a dataset

Each imports those above it here, and base. A name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incoop.base.lazy_names import lazy_names

if TYPE_CHECKING:
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
    from incoop.inchdfs.store.index import index_input, keep_stretches, locate
    from incoop.inchdfs.store.manifest import Manifest
    from incoop.inchdfs.store.packs import Location, read_chunk
    from incoop.inchdfs.store.put import append, put

_HOME_OF = {
    name: module
    for module, names in {
        "cutting.chunk_table": ("Chunk",),
        "cutting.records": (
            "Csv",
            "Delimited",
            "FixedLength",
            "Lines",
            "RecordFormat",
            "WholeFile",
        ),
        "cutting.settings": ("ChunkSettings",),
        "cutting.spark_segments": ("spark_segments",),
        "cutting.splitter": ("Splitter",),
        "files.chunking": ("chunk_file",),
        "files.sources": (
            "Listing",
            "expand",
        ),
        "store.collect": (
            "collect",
            "verify",
        ),
        "store.compare": ("diff",),
        "store.dataset": ("Dataset",),
        "store.dataset_store": (
            "DatasetStore",
            "VersionName",
        ),
        "store.index": (
            "index_input",
            "keep_stretches",
            "locate",
        ),
        "store.manifest": ("Manifest",),
        "store.packs": (
            "Location",
            "read_chunk",
        ),
        "store.put": (
            "append",
            "put",
        ),
    }.items()
    for name in names
}

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
    "keep_stretches",
    "locate",
    "put",
    "read_chunk",
    "spark_segments",
    "verify",
]

__getattr__ = lazy_names(__name__, _HOME_OF)
