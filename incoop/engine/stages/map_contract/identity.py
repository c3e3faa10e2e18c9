"""What a job's results depend on besides its input, as hashes that go into every task id.

Contract: everything that can change a map run is in `map`, for each of the job's mappers; what can change a node is in
that and `combine`; what can change the output, in those and `reduce`. Names of jobs, paths and times are in none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from incoop.base.content_ids import content_id
from incoop.code import Functions, KnownReads
from incoop.code.modules import sources
from incoop.contraction.columns.encoding import ENCODING_VERSION
from incoop.contraction.columns.keys import HASH_BYTES
from incoop.contraction.parts.write import KEYS_PER_BLOCK
from incoop.contraction.tree.shape import (
    BATCH_BITS,
    GROUP_BITS,
    LARGEST_GROUP,
    SHAPE_VERSION,
    SMALLEST_GROUP,
    WIDE_BITS,
)
from incoop.engine.stages.map_contract.leaves import shaping
from incoop.engine.stages.map_contract.mapping import PiecesMapper
from incoop.fingerprint import classes_digest, fingerprint, imports_by_name, impurities, one_look, parts
from incoop.inchdfs.store.manifest import tag_of
from incoop.job import Job

#: The steps, by what of them an id names: chunk runs; nodes and output.
MAP, CONTRACT = "map", "contract"

#: Constants that shape stored runs and trees: another value, other ids.
_TREES = f"{GROUP_BITS} {BATCH_BITS} {WIDE_BITS} {SMALLEST_GROUP} {LARGEST_GROUP}"
_LAYOUT = f"{ENCODING_VERSION} {HASH_BYTES} {KEYS_PER_BLOCK} {_TREES}"

#: In ids of runs, and of pairs in input order. Those of earlier builds may have leaves of another chunk, or mapper.
_RUN, _PAIRS = b"run of own leaves", b"pairs of own leaves"


@dataclass(frozen=True, slots=True)
class JobIdentity:
    """The hashes of one job's code and parameters."""

    map: tuple[bytes, ...]
    combine: bytes
    reduce: bytes
    #: One text for all that shapes the tree.
    tree: str
    #: Names and digests of the functions and values behind them, to say later what changed.
    parts: dict[str, str] = field(compare=False)
    #: Sentences on code whose result may not follow from its input.
    impurities: list[str] = field(compare=False)

    @property
    def reads_id(self) -> bytes:
        """Names what is known of all that this code reads."""
        return _hash(b"reads", *self.map, self.combine, self.reduce)

    def within(self, reads: KnownReads) -> JobIdentity:
        """The same where functions also read something: by step, and by name."""
        read = reads.parts()
        if not read:
            return self
        mapped, contracted = reads.digest(MAP), reads.digest(CONTRACT)
        maps = tuple(_hash(each, mapped) for each in self.map)
        combine = _hash(self.combine, contracted)
        return replace(
            self,
            map=maps,
            combine=combine,
            reduce=_hash(self.reduce, contracted),
            tree=_hash(combine, *maps).hex(),
            parts=self.parts | {name: digest.hex() for name, digest in read.items()},
        )


def functions_of(job: Job) -> Functions:
    """What the job's tasks call."""
    mappers = tuple(job.mapper.values() if isinstance(job.mapper, Mapping) else [job.mapper])
    return Functions(mappers, job.combiner, job.reducer, job.records, start_programs=job.hints.nearby > 0)


def identify(job: Job) -> JobIdentity:
    """Hash a job's functions."""
    with one_look():
        return _identify(job)


def _identify(job: Job) -> JobIdentity:
    roles = list(functions_of(job).roles())
    depends_on = [os.fspath(path) for path in job.depends_on]
    named: dict[str, str] = {}
    impure: list[str] = []
    prints: list[bytes] = []
    for role, function in roles:
        if function is None:
            prints.append(b"none")
            continue
        version = _version_of(job, function)
        prints.append(fingerprint(function, version=version, depends_on=depends_on, role=role))
        named |= {
            name: digest.hex()
            for name, digest in parts(function, version=version, depends_on=depends_on, role=role).items()
        }
        if job.version is None:
            impure += [str(call) for call in impurities(function) if not call.followed]
    *prints, records = prints
    shape = f"{_LAYOUT} {job.shard_count} {job.may_have_few_shards} {tag_of(job.records)}".encode() + records
    given = [function for _, function in roles if function is not None]
    if job.version is None and imports_by_name(*given):
        # Which modules that are, nobody knows: all that the functions' own modules import count, as they are written.
        homes = {part.partition(" ")[2].partition(":")[0] for part in named}
        shape += _hash(*(each.name.encode() + b"\0" + each.source for each in sources(homes)))
    # A version text stands for code only together with the job that it is a version of.
    scope = job.path.key.encode() if job.version is not None else b""
    # Combiners and reducers call methods of objects that the mapper made, of classes their own code never names.
    classes = (
        classes_digest(*(function for _, function in roles if function is not None)) if job.version is None else b""
    )
    leaves = shaping(job.leaf, job.combiner, job.reducer is None).encode()
    # Without a reducer a chunk's pairs are kept as they came, else as a run.
    kind = _PAIRS if job.reducer is None else _RUN
    maps = tuple(
        _hash(kind, shape, scope, name, each, prints[-2], leaves)
        for name, each in zip(_names_of_mappers(job), prints[:-2], strict=True)
    )
    trees = str(SHAPE_VERSION).encode()
    combine_print = _hash(b"combine", shape, trees, scope, prints[-2], classes)
    return JobIdentity(
        map=maps,
        combine=combine_print,
        reduce=_hash(b"reduce", shape, prints[-1], classes),
        tree=_hash(combine_print, *maps).hex(),
        parts=named,
        impurities=list(dict.fromkeys(impure)),
    )


def _names_of_mappers(job: Job) -> Iterator[bytes]:
    """What tells mappers apart for which a version stands: two that one function made have one name in the code."""
    mappers = job.mapper if isinstance(job.mapper, Mapping) else {"": job.mapper}
    for name, mapper in mappers.items():
        yield b"" if job.version is None or isinstance(mapper, PiecesMapper) else repr(name).encode()


def _version_of(job: Job, function: Any) -> str | None:
    """What stands for a function's code, if something does."""
    if job.version is None or not isinstance(function, PiecesMapper):
        return job.version
    return f"{job.version}\0{function.version}"


def _hash(*pieces: bytes) -> bytes:
    return content_id(b"".join(len(piece).to_bytes(4, "little") + piece for piece in pieces))
