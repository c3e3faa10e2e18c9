"""How much data each size of the evaluation runs on, and how often."""

from __future__ import annotations

from dataclasses import dataclass

M = 1 << 20

#: Percent of the chunks that are replaced.
SWEEP = (0, 1, 5, 10, 25)
APPENDS = (5, 10, 15, 20, 25)


@dataclass(frozen=True)
class Size:
    """One size of the evaluation."""

    name: str
    #: Bytes of input, by application.
    input_bytes: dict[str, int]
    rounds: int
    sweep: tuple[int, ...]
    appends: tuple[int, ...]
    #: Input of figure 7, as parts of the co-occurrence matrix's input.
    parts: tuple[float, ...]
    #: Input of the comparisons of granularity and of other edits, as a part of each application's.
    side: float
    #: The same for the comparison with other tools.
    others: float
    #: Bytes that table 2 puts into Inc-HDFS.
    chunking: int


SIZES = {
    # A smoke test: every experiment and application, too small for its figures to mean anything.
    "small": Size(
        "small",
        dict.fromkeys(("words", "cooccurrence", "bigrams", "kmeans", "knn", "clicks"), M // 2),
        rounds=1,
        sweep=(0, 5),
        appends=(5,),
        parts=(0.5, 1),
        side=1,
        others=0.5,
        chunking=4 * M,
    ),
    "medium": Size(
        "medium",
        {"words": 64 * M, "cooccurrence": 8 * M, "bigrams": 16 * M, "kmeans": 96 * M, "knn": 64 * M, "clicks": 128 * M},
        rounds=3,
        sweep=(0, 1, 5, 25),
        appends=(5, 25),
        parts=(0.25, 0.5, 1),
        side=0.5,
        others=0.5,
        chunking=256 * M,
    ),
    # Plain PySpark takes 10 to 25 s a run on two cores, so that the 0.3 s of any update do not hide ratios.
    "large": Size(
        "large",
        {
            "words": 192 * M,
            "cooccurrence": 40 * M,
            "bigrams": 80 * M,
            "kmeans": 256 * M,
            "knn": 224 * M,
            "clicks": 384 * M,
        },
        rounds=3,
        sweep=SWEEP,
        appends=APPENDS,
        parts=(0.125, 0.25, 0.5, 1),
        side=0.5,
        others=0.25,
        chunking=1024 * M,
    ),
}
