"""Golden cuts: a changed row orphans every stored chunk and memo, so it comes with a new FORMAT_VERSION."""

from __future__ import annotations

import pytest

from incoop.inchdfs import ChunkSettings, Csv, Delimited, FixedLength, Lines, RecordFormat, Splitter
from incoop.inchdfs.cutting.chunk_table import root_hash, rows_of
from incoop.inchdfs.store.manifest import FORMAT_VERSION
from tests.chunk.samples import FASTCDC, RABIN, Maker, noise, table, text

FORMAT_OF_THESE_TABLES = 3

GOLDEN: list[tuple[Maker, ChunkSettings, RecordFormat, list[tuple[int, str]]]] = [
    (
        text,
        RABIN,
        Lines(),
        [
            (237, "31c5b60b5a64e667f4104fc8a4f2a858"),
            (210, "f943681ece08b8227783104e009294b7"),
            (161, "768fe42be01684f4a77f22757612b091"),
            (343, "3d2545eec7621c8bf0fdc56f3ab4cbca"),
            (356, "6986e9dd9fc26e3ca0f047ced9abbf5b"),
            (139, "de217956711ffca5b9e73f24bf4494b4"),
            (150, "e18b80559b61458f1df7d0ad6e43970c"),
            (139, "4cbb496b4a8321d955993d3c6fdbf598"),
            (576, "4ed9b18ea85c47c78cdf5f1304fa8f53"),
            (80, "ede0f9e8b6404d311dfb8d9cbcf8a124"),
            (557, "09993fd8cfb05d159720745817af324c"),
            (52, "05708e4142a9b562e97d9d2e8a138f9d"),
        ],
    ),
    (
        text,
        FASTCDC,
        Lines(),
        [
            (349, "53e36f51fa1e6b5e44f3e494427afe98"),
            (728, "79df57ff5afcf4996c0ca4ce4de70aa5"),
            (132, "dc9ce14875244d1ba895e5ce0fb4055e"),
            (467, "c5492e15e0b18048c633167a343a6c27"),
            (105, "209def1522b4ad99beb8f9911e4f25f6"),
            (192, "f9672792d86944b6397de028c4779ef3"),
            (174, "c9df2797275f60a776ca0a03eb9a25ff"),
            (164, "37935c2bbb1592aeb6c151591469673b"),
            (580, "be38063b6c9017b54b7c521854688ae9"),
            (109, "3c38f2b1f187b3cdedd9d1674831e614"),
        ],
    ),
    (
        noise,
        RABIN,
        FixedLength(7),
        [
            (77, "b125a88928a2e478db6193c8e137d9d3"),
            (385, "d2122ad140b59977276023f73620bc85"),
            (77, "0c4c2316bdfb3ad0ee25ec7808938e8d"),
            (91, "7013b4b55e3e968afb6ceb6178243423"),
            (77, "2fc8bf5ee3b6e8b3d6200e59e63357fe"),
            (574, "2b50ec8ba2fc5426af88b43474864a2a"),
            (238, "453e0d891f426bd5e1c21faeb822db62"),
            (210, "1436ac8c725037ce9f163f51c5b24f60"),
            (462, "e64553a8089ef94fa2d6dccc2328b373"),
            (203, "80e3ca916bb568a482cef176dfe49b8a"),
            (574, "06c537217f8877c06b6ad120e965d6bb"),
            (32, "a6ae6deb2b44b4db7a7d50a685fa3eee"),
        ],
    ),
    (
        noise,
        FASTCDC,
        FixedLength(1),
        [
            (372, "d52c19004839b712ca37d4d91f7f0458"),
            (655, "defe32060126d7e6d735252fc29913bb"),
            (312, "b1c26dd446abd8ffca8ba6027472cf0f"),
            (432, "f82bf051ab97ea404d426da6067eed13"),
            (319, "63f7e3250b67dd1757a58c741aebd5c1"),
            (385, "42e1e80d144cfb1eb568d0cf1e83946e"),
            (351, "73cb2162c3901f375aa2767f5b9df716"),
            (117, "d148bbc0a319e05ddd15a1f29d957d00"),
            (57, "14aa4c385e3c0bf01e12c36e8a22cf61"),
        ],
    ),
    (
        table,
        RABIN,
        Csv(),
        [
            (92, "c69567b8ed8cfc1e726b55888f40923e"),
            (254, "1169697f01295ccfdc90f32c017b128d"),
            (301, "056a2a9624269c1b2ab4e01865ad41c7"),
            (862, "57920a8495cc3942483dd28489284767"),
            (1017, "b107624f6070cbf810632841fdc59a0f"),
            (497, "093a258797f5443acf4954f3c3b8a658"),
        ],
    ),
    (
        noise,
        RABIN,
        Delimited(b"\0"),
        [
            (872, "ebde2d5443de3396a6c3b470292d5e89"),
            (507, "4a248591480d6a174d4b140e56ea1f59"),
            (144, "a7cf19d925536be96e5a227d535ef664"),
            (520, "55631a0775a0dc0506962baceb1ab1c3"),
            (203, "8c0cd86605f3e341fcd148ae1f3305ca"),
            (680, "21ed63f4652571d28d4a4969602da093"),
            (74, "3bf42fb4fa67107f0fe35aea78c0a277"),
        ],
    ),
]

#: Larger inputs, pinned by the number of chunks and the root hash.
GOLDEN_ROOTS: list[tuple[Maker, int, ChunkSettings, RecordFormat, int, str]] = [
    (text, 1_000_000, ChunkSettings(average=16 << 10), Lines(), 62, "2af25aef2770d3e0d60c24f9790dcfbd"),
    (
        text,
        1_000_000,
        ChunkSettings(average=16 << 10, minimum=4 << 10),
        Lines(),
        59,
        "50c81893156f3ebc28888041870b500f",
    ),
    (
        text,
        1_000_000,
        ChunkSettings(average=16 << 10, minimum=4 << 10, chunker="fastcdc"),
        Lines(),
        49,
        "a5d543677efad20746fca81bcac00358",
    ),
    (
        noise,
        2_000_000,
        ChunkSettings(average=64 << 10, minimum=16 << 10),
        FixedLength(1),
        37,
        "2c135bc048ad3dc72de0b6324503498c",
    ),
    (
        noise,
        2_000_000,
        ChunkSettings(average=64 << 10, minimum=48 << 10, maximum=256 << 10, chunker="fastcdc"),
        FixedLength(1),
        23,
        "0f97cf2f8eac442a984b858cb3d2fb6f",
    ),
    (
        noise,
        2_000_000,
        ChunkSettings(average=64 << 10, minimum=48 << 10, maximum=256 << 10),
        FixedLength(1),
        33,
        "eadc5506f780a985425eb717fec89bf9",
    ),
]


def test_a_change_of_the_format_comes_with_new_tables() -> None:
    assert FORMAT_VERSION == FORMAT_OF_THESE_TABLES


@pytest.mark.parametrize(("maker", "sizes", "form", "rows"), GOLDEN)
def test_small_inputs_are_cut_as_recorded(
    maker: Maker, sizes: ChunkSettings, form: RecordFormat, rows: list[tuple[int, str]]
) -> None:
    chunks = Splitter(sizes, form).split_bytes(maker(42, 3000))
    assert [(chunk.length, chunk.id.hex()) for chunk in chunks] == rows


@pytest.mark.parametrize(("maker", "size", "sizes", "form", "count", "root"), GOLDEN_ROOTS)
def test_large_inputs_are_cut_as_recorded(
    maker: Maker, size: int, sizes: ChunkSettings, form: RecordFormat, count: int, root: str
) -> None:
    rows = rows_of(Splitter(sizes, form).split_bytes(maker(42, size)))
    assert (len(rows), root_hash(rows).hex()) == (count, root)
