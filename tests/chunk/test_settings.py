"""Which chunk sizes there are by default, and which are refused."""

from __future__ import annotations

import pytest

from incoop.base.errors import BadCall
from incoop.inchdfs import ChunkSettings
from incoop.inchdfs.cutting.settings import WINDOW

KB, MB = 1 << 10, 1 << 20


def test_sizes_follow_from_the_average_unless_they_are_given() -> None:
    assert ChunkSettings() == ChunkSettings(MB, 512 * KB, 4 * MB, "rabin")
    assert ChunkSettings(average=1000) == ChunkSettings(1000, 500, 4000)
    assert ChunkSettings(average=80) == ChunkSettings(80, WINDOW, 320)
    assert ChunkSettings(average=1000, minimum=70, maximum=1001) == ChunkSettings(1000, 70, 1001)


def test_the_minimum_is_never_less_than_the_window_that_decides_a_cut() -> None:
    assert WINDOW == 48
    assert ChunkSettings(average=97).minimum == 48
    assert ChunkSettings(average=98).minimum == 49


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param((100, WINDOW - 1, 200), id="a minimum below the window"),
        pytest.param((100, 100, 200), id="a minimum that is the average"),
        pytest.param((100, 60, 100), id="a maximum that is the average"),
        pytest.param((100, 60, 1 << 31), id="a maximum of 2 GiB"),
        pytest.param((-100, 60, 200), id="a negative average"),
        pytest.param((100, -60, 200), id="a negative minimum"),
    ],
)
def test_sizes_out_of_order_are_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(BadCall, match="must satisfy 48 <= minimum < average < maximum"):
        ChunkSettings(*sizes)


@pytest.mark.parametrize("sizes", [(100, WINDOW, 101), (WINDOW + 1, WINDOW, WINDOW + 2), (MB, KB, (1 << 31) - 1)])
def test_sizes_at_the_edge_are_taken(sizes: tuple[int, int, int]) -> None:
    assert ChunkSettings(*sizes).minimum == sizes[1]


def test_an_unknown_chunker_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BadCall, match="'gear' is unknown; choose one of rabin, fastcdc"):
        ChunkSettings(chunker="gear")


@pytest.mark.parametrize("sizes", [(256, 64, 1024), (4 * MB, MB, 16 * MB)], ids=["smallest", "largest"])
def test_fastcdc_takes_sizes_up_to_its_bounds(sizes: tuple[int, int, int]) -> None:
    assert ChunkSettings(*sizes, "fastcdc").average == sizes[0]


@pytest.mark.parametrize(
    ("sizes", "name"),
    [
        ((255, 64, 1024), "average"),
        ((4 * MB + 1, MB, 16 * MB), "average"),
        ((256, 63, 1024), "minimum"),
        ((4 * MB, MB + 1, 16 * MB), "minimum"),
        ((256, 64, 1023), "maximum"),
        ((4 * MB, MB, 16 * MB + 1), "maximum"),
    ],
)
def test_fastcdc_refuses_sizes_beyond_its_bounds(sizes: tuple[int, int, int], name: str) -> None:
    with pytest.raises(BadCall, match=f"with fastcdc the {name} must lie between"):
        ChunkSettings(*sizes, "fastcdc")
    assert ChunkSettings(*sizes).chunker == "rabin"


@pytest.mark.parametrize(
    ("size", "average"),
    [
        pytest.param(0, 16 * KB, id="nothing"),
        pytest.param(64 * 64 * KB - 1, 16 * KB, id="not yet 64 chunks of the next size"),
        pytest.param(64 * 64 * KB, 64 * KB, id="64 chunks of it"),
        pytest.param(10_000_000, 64 * KB, id="ten megabytes"),
        pytest.param(64 * MB - 1, 256 * KB, id="not yet 64 of a megabyte"),
        pytest.param(64 * MB, MB, id="64 of a megabyte"),
        pytest.param(96 * MB - 1, MB, id="not yet 24 of the largest"),
        pytest.param(96 * MB, 4 * MB, id="24 of the largest"),
        pytest.param(10**13, 4 * MB, id="however much"),
    ],
)
def test_small_inputs_have_smaller_chunks(size: int, average: int) -> None:
    assert ChunkSettings.for_input(size) == ChunkSettings(average)


@pytest.mark.parametrize("chunker", ["rabin", "fastcdc"])
def test_chunks_of_datasets_are_small_since_all_bytes_of_a_changed_one_are_stored_again(chunker: str) -> None:
    for size in (0, 10_000_000, 96 * MB, 10**13):
        average = min(ChunkSettings.for_input(size).average, MB)
        assert ChunkSettings.for_dataset(size, chunker) == ChunkSettings(average, chunker=chunker)
