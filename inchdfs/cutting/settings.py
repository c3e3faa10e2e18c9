"""How large chunks are: average, minimum, maximum, and which marker finder cuts them."""

from __future__ import annotations

from dataclasses import dataclass

from incoop.base.errors import BadCall

#: Bytes that the Rabin fingerprint looks at. pyrabin allows 17 to 63; 48 is what LBFS and the Incoop paper use.
WINDOW = 48

#: About 4 MiB a chunk of a file that lies where it is: an update of a changed chunk costs 3 ms besides what its leaves
#: cost, so that few large ones are cheaper, and an edit re-maps a leaf or two of any (docs/decisions/0018).
LARGEST_AVERAGE = 4 << 20

#: About 1 MiB a chunk of a stored dataset: of one that changed all bytes are stored again.
LARGEST_STORED = 1 << 20

#: Below this an input's chunks would cost more to look up than to map again.
SMALLEST_AVERAGE = 16 << 10

#: A small input is cut into this many chunks at least, so that an edit reuses nearly all of it.
CHUNKS_OF_A_SMALL_INPUT = 64

#: Of the largest average so many are enough: for some cores, and for what has no leaves.
CHUNKS_OF_A_LARGE_INPUT = 24

#: Averages are this many times each other. An input that grows beyond what its average is for is cut anew, and so
#: computed anew: what a run gives must not depend on how small the input once was. That is four times in its life.
_STEP = 4

CHUNKERS = ("rabin", "fastcdc")

# The bounds of pyfastcdc's parameters.
_FASTCDC_AVERAGE = (256, 4 << 20)
_FASTCDC_MINIMUM = (64, 1 << 20)
_FASTCDC_MAXIMUM = (1024, 16 << 20)


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Everything besides the bytes and the record format that decides where chunks end.

    Example:
        >>> ChunkSettings(average=1 << 20)
        ChunkSettings(average=1048576, minimum=524288, maximum=4194304, chunker='rabin')
    """

    #: Expected chunk size before the cut moves to the end of its record.
    average: int = LARGEST_STORED
    #: No marker is searched in the first `minimum` bytes of a chunk. At least WINDOW, so a cut depends on nothing
    #: before the chunk: that is what makes parallel search and resync equal to a sequential run. Half of the average
    #: unless told otherwise: half of the bytes are never searched, and sizes differ less.
    minimum: int = 0
    #: A chunk without a marker ends here.
    maximum: int = 0
    chunker: str = "rabin"

    def __post_init__(self) -> None:
        object.__setattr__(self, "minimum", self.minimum or max(WINDOW, self.average // 2))
        object.__setattr__(self, "maximum", self.maximum or self.average * 4)
        if self.chunker not in CHUNKERS:
            raise BadCall(f"chunker {self.chunker!r} is unknown; choose one of {', '.join(CHUNKERS)}.")
        if not WINDOW <= self.minimum < self.average < self.maximum < 1 << 31:
            raise BadCall(
                f"chunk sizes must satisfy {WINDOW} <= minimum < average < maximum < 2 GiB, "
                f"not {self.minimum}, {self.average}, {self.maximum}."
            )
        if self.chunker == "fastcdc":
            for name, (low, high) in {
                "average": _FASTCDC_AVERAGE,
                "minimum": _FASTCDC_MINIMUM,
                "maximum": _FASTCDC_MAXIMUM,
            }.items():
                if not low <= getattr(self, name) <= high:
                    raise BadCall(f"with fastcdc the {name} must lie between {low} and {high} bytes.")

    @classmethod
    def for_input(cls, size: int) -> ChunkSettings:
        """Choose the default for files of `size` bytes, read where they are: small ones still get tens of chunks.

        Example:
            >>> ChunkSettings.for_input(10_000_000).average
            65536
            >>> ChunkSettings.for_input(10_000_000_000).average
            4194304
        """
        if size >= LARGEST_AVERAGE * CHUNKS_OF_A_LARGE_INPUT:
            return cls(average=LARGEST_AVERAGE)
        return cls.for_dataset(size)

    @classmethod
    def for_dataset(cls, size: int, chunker: str = "rabin") -> ChunkSettings:
        """The default for a dataset, whose chunks are stored.

        Example:
            >>> ChunkSettings.for_dataset(10_000_000_000).average
            1048576
        """
        average = SMALLEST_AVERAGE
        while average < LARGEST_STORED and average * _STEP * CHUNKS_OF_A_SMALL_INPUT <= size:
            average *= _STEP
        return cls(average=average, chunker=chunker)
