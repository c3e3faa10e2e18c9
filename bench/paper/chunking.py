"""Table 2: what content-defined chunking costs a put into Inc-HDFS, against a plain copy of the file."""

from __future__ import annotations

import os
import shutil

from bench.bench_chunk import copy, timed, write_input
from bench.paper.laboratory import Laboratory
from bench.paper.results import Sample
from incoop import inchdfs
from incoop.inchdfs import ChunkSettings, DatasetStore

M = 1 << 20

#: Bytes behind a boundary in which no marker is searched, in KiB, for chunks of 1 MiB on average: the paper's skip
#: offset, which it varies from 20 to 60 MB for chunks of 64 MB and more.
SKIPS = (320, 640, 960)


def measure(lab: Laboratory, _app: object = None) -> tuple[list[Sample], list[str]]:
    """A copy and a put for each skip offset, by turns, both to disk."""
    source = lab.folder / "table2"
    write_input(source, lab.size.chunking)
    size = source.stat().st_size
    samples: list[Sample] = []
    try:
        for round_ in range(lab.rounds):
            lab.say(f"chunking: {size / 1e6:.0f} MB, round {round_ + 1} of {lab.rounds}")
            target, store = lab.folder / "copied", lab.folder / "put"
            os.sync()  # what the turn before left must not be written in this one
            seconds, _ = timed(lambda target=target: copy(source, target))
            samples.append(Sample("copy", round_, seconds, input_bytes=size))
            target.unlink()
            for skip in SKIPS:
                settings = ChunkSettings(average=M, minimum=skip << 10, maximum=2 * M)
                datasets = DatasetStore(store)
                os.sync()
                seconds, _ = timed(
                    lambda datasets=datasets, settings=settings: inchdfs.put(
                        datasets, inchdfs.expand(source), "input", settings=settings
                    )
                )
                stored = sum(map(len, inchdfs.Dataset(datasets, "input").chunks()))
                assert stored == size, "what was put is not what was given"
                samples.append(Sample("put", round_, seconds, change=skip, input_bytes=size))
                shutil.rmtree(store)
    finally:
        source.unlink()
    return samples, []
