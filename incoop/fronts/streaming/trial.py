"""Try a job's combiner on a sample before its first run: reducing combined lines must give what reducing them gives.

Contract: R(C(C(C(a third) + C(a third)) + a third)) = R(all) for the lines that the mapper prints for the input's
beginning: combined lines are combined again, beside lines that never were. Floats may differ by the rounding of what
was fed in. It costs seven processes over some kilobytes, once for each set of commands: that they passed is remembered
as the result of a job with one chunk, which has always the same id. A trial that fails is not remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from incoop import inchdfs
from incoop.base.errors import IncoopError
from incoop.engine.failures import CombinerNotSound
from incoop.engine.inputs import SCHEME
from incoop.engine.stages.map_contract.rounding import EXACT, Noise, alike, noise_of
from incoop.engine.stored import BlobReader
from incoop.fronts.common.made_blocks import MadeBlock, MadeBlocks
from incoop.fronts.streaming.combine import LineCombiner
from incoop.fronts.streaming.lines import KeyRule, joined, lines_of
from incoop.fronts.streaming.map import ChunkText, MapStage
from incoop.fronts.streaming.reduce import ReduceStage
from incoop.inchdfs.files.sources import expand, open_content
from incoop.inchdfs.store.packs import read_chunk

#: Bytes of the input that are tried: enough that common keys come several times, little beside a chunk.
_SAMPLE = 64 << 10

_SHOWN = 200


class UnsoundCombiner(CombinerNotSound):
    """Reducing combined lines gives another result than reducing the lines themselves."""

    def __str__(self) -> str:
        return (
            f"the combiner changes the result: for key {self.key} the reducer prints {self.plain} for the mapper's "
            f"lines and {self.combined} for combined ones. Mend the combiner (what it prints must be valid input for "
            "itself and for the reducer), leave it out, or accept what it does: -D incoop.combiner.trial=false."
        )


@dataclass(frozen=True, slots=True)
class TrialStage:
    """Maps a sample, and reduces it with and without the combiner."""

    mapper: MapStage
    combine: LineCombiner
    reduce: ReduceStage

    def __call__(self, records: Sequence[ChunkText]) -> Iterator[tuple[None, str]]:
        (sample,) = records
        try:
            found = self._difference(lines_of(self.mapper.printed(sample)))
        except IncoopError:  # a command that fails does so in the run, which says where
            found = None
        if found is not None:
            raise found
        yield None, "passed"

    def _difference(self, lines: list[bytes]) -> UnsoundCombiner | None:
        plain = self.reduce.reduced(0, joined(lines))
        halves = self._combined(lines[::3]) + self._combined(lines[1::3])
        combined = self.reduce.reduced(0, joined(self._combined(self._combined(halves) + lines[2::3])))
        rule = KeyRule(self.reduce.separator, self.reduce.printed.fields)
        # Exact first: what the lines' floats may round to is worth finding out only where something differs.
        return difference(plain, combined, rule) and difference(plain, combined, rule, noise_of(lines))

    def _combined(self, lines: list[bytes]) -> list[bytes]:
        ordered = self.combine.order.sorted(joined(lines))
        return self.combine.lines(ordered, self.combine.order.rule.keys_of(ordered)).lines if lines else []


def difference(plain: bytes, combined: bytes, rule: KeyRule, noise: Noise = EXACT) -> UnsoundCombiner | None:
    r"""The first key with other lines in one output than in the other; their order does not count.

    Example:
        >>> difference(b"a\t1\nb\t2.5\n", b"b\t2.5000000000000001\na\t1\n", KeyRule())
        >>> difference(b"a\t1\nb\t2\n", b"a\t1\nb\t1\n", KeyRule()).key
        "b'b'"
    """
    sides = [sorted(lines_of(output)) for output in (plain, combined)]
    if alike(sides[0], sides[1], noise):
        return None
    one, other = (_by_key(lines, rule) for lines in sides)
    for key in [*one, *other]:
        if not alike(one.get(key, []), other.get(key, []), noise):
            return UnsoundCombiner(
                f"{key!r:.{_SHOWN}}", f"{one.get(key, [])!r:.{_SHOWN}}", f"{other.get(key, [])!r:.{_SHOWN}}"
            )
    return None


def _by_key(lines: list[bytes], rule: KeyRule) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for line in lines:
        found.setdefault(rule.split(line)[0], []).append(line)
    return found


def sample_blocks(store: inchdfs.DatasetStore, inputs: Sequence[str]) -> MadeBlocks:
    """The beginning of the input as the only chunk of a job. Its id is that of the trial, not of the text."""
    read = partial(_sample_chunk, store, tuple(inputs))
    return MadeBlocks(lambda: [MadeBlock(b"combiner's trial", 1, 0, read)])


def _sample_chunk(store: inchdfs.DatasetStore, inputs: tuple[str, ...], reader: BlobReader) -> list[ChunkText]:
    return [ChunkText(sample_of(store, inputs))]


def sample_of(store: inchdfs.DatasetStore, inputs: Sequence[str]) -> bytes:
    """Some whole lines from the beginning of the input; a last one may be cut short where it is very long."""
    data = b""
    for each in inputs:
        if each.startswith(SCHEME):
            for where in inchdfs.locate(store, store.manifest(each))[:1]:
                data = read_chunk(where)[:_SAMPLE]
        else:
            for file in expand(each):
                buffer = bytearray(_SAMPLE)
                with open_content(file) as read_into:
                    data = bytes(buffer[: read_into(memoryview(buffer))])
                if data:
                    break
        if data:
            break
    return data[: data.rfind(b"\n") + 1] or data
