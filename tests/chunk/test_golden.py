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
            (237, "b2afc67f15ec96f2f0e66dcc67de63f2"),
            (210, "5b92553136286c70bb1523d056f5dd46"),
            (161, "36553dddaae984028b9c865fdce594c1"),
            (343, "1a1df63ab6b9b8f0320369fcd81a9135"),
            (356, "77f23c04d087bbf39e47b38407353000"),
            (139, "dee512297b7023dd220a16cbe2557c29"),
            (150, "320e59da11bf3f81e2144c8b3240cc11"),
            (139, "fd8e03da7aeb56200db4f6059d53c01e"),
            (576, "6d722a52238da6c34490db03d5e61e16"),
            (80, "c5daa3cfd40db54e5c5104f9c9c779c8"),
            (557, "01365c71de989f10b8b8b6a967c68726"),
            (52, "25acb1ba0e9ea980f225504254154673"),
        ],
    ),
    (
        text,
        FASTCDC,
        Lines(),
        [
            (349, "06d6c32ae8daa850af07a20f320648a9"),
            (728, "46e3ba550aa3b97037d695b6aa08bdee"),
            (132, "7ceaee537bbb73415d31dd00f174aff6"),
            (467, "e76e7363d052d6b9452e0fae80270d04"),
            (105, "4310591334483ce7cf9e8108f388b144"),
            (192, "b34c20c0eb717f343e2689faca0994a0"),
            (174, "5d07768c3fcd008a01a8e532bd4d2207"),
            (164, "e2802cca416cf638106559ef9f57a34c"),
            (580, "51aca81ef41c60f18a8832cfc57adb21"),
            (109, "b07fc54e28c524fb628bb8027c86c710"),
        ],
    ),
    (
        noise,
        RABIN,
        FixedLength(7),
        [
            (77, "8c6dd480d2cff8a17b3be60c39ebeb36"),
            (385, "64a7dfec4e965dbe268aa2a45f74b341"),
            (77, "3a79b836e1030f4b98db4f55c6655620"),
            (91, "38c17fb796df51c1d458ef02033036b2"),
            (77, "ffabe05f1399a2781f4b19d190ec59a6"),
            (574, "eb7b138d017b3a9de450f2542d91afff"),
            (238, "b75074320e5443cfe55447602bfd519d"),
            (210, "7c1dea62f64d0748930b95f551aa008e"),
            (462, "80158ec859762ca194f7c1cdcf98e01c"),
            (203, "02a9be707cdf694e999f1dc66aa7752b"),
            (574, "2df5e52109751daa13ea97a8817013cf"),
            (32, "81ec239a57e86f81aab9673beb2dd42e"),
        ],
    ),
    (
        noise,
        FASTCDC,
        FixedLength(1),
        [
            (372, "2db2f1a8eeea3fcd19aab8865c4d9fce"),
            (655, "c91fc63267cef824163deba1eb1e0285"),
            (312, "12e8bf2e452e3de6cbc2fcf25dfff6a1"),
            (432, "33d34b5e791d203b531ea600fc33434f"),
            (319, "115039aff3b88db62bdccccae140b071"),
            (385, "bf0aaff11552565758f1759329e9405c"),
            (351, "7e542f4be68610550aa8dd2eda0116b5"),
            (117, "a8354671315575dc7f969936062f162c"),
            (57, "98d0684b681465beab1c46d4a9c8cf23"),
        ],
    ),
    (
        table,
        RABIN,
        Csv(),
        [
            (92, "a71def56d16a9f9017b81caf1f7b637a"),
            (254, "72820fad51fb9dc333839b37b45b909c"),
            (301, "7d40f2b740413e5f11e88c2ed6b68e75"),
            (862, "7bece2b56937b625a746b6b205ecfc8c"),
            (1017, "434379a2e5f3a269b857d0b105a841b7"),
            (497, "63abdac87d2de9e3f7f1c78a2dd8a79d"),
        ],
    ),
    (
        noise,
        RABIN,
        Delimited(b"\0"),
        [
            (872, "eef6435cefc6dbb8a4f17f6ddbc040b4"),
            (507, "cc2407fc243130746a01053178c60db9"),
            (144, "38b3e181f13d85a9d15dca4eee1df1fa"),
            (520, "aaaa05e61446c5dcd7c1643318ed8e64"),
            (203, "34eaafcc834a8600ad7a428ded5a4b48"),
            (680, "08f849eb43131dda36f18e725e1334b0"),
            (74, "cf40642f4e55f46d72617519e56fd1cd"),
        ],
    ),
]

#: Larger inputs, pinned by the number of chunks and the root hash.
GOLDEN_ROOTS: list[tuple[Maker, int, ChunkSettings, RecordFormat, int, str]] = [
    (text, 1_000_000, ChunkSettings(average=16 << 10), Lines(), 62, "2f220d302dd54752f990599bdad7ab40"),
    (
        text,
        1_000_000,
        ChunkSettings(average=16 << 10, minimum=4 << 10),
        Lines(),
        59,
        "7a8ee2c4b01d56bf95126002aff11f54",
    ),
    (
        text,
        1_000_000,
        ChunkSettings(average=16 << 10, minimum=4 << 10, chunker="fastcdc"),
        Lines(),
        49,
        "c55f591ac509ced5914d8893eadee6a8",
    ),
    (
        noise,
        2_000_000,
        ChunkSettings(average=64 << 10, minimum=16 << 10),
        FixedLength(1),
        37,
        "c7f205adb4a16f740a76f78a196c2d57",
    ),
    (
        noise,
        2_000_000,
        ChunkSettings(average=64 << 10, minimum=48 << 10, maximum=256 << 10, chunker="fastcdc"),
        FixedLength(1),
        23,
        "d8b83016a909503358573a5aadaca182",
    ),
    (
        noise,
        2_000_000,
        ChunkSettings(average=64 << 10, minimum=48 << 10, maximum=256 << 10),
        FixedLength(1),
        33,
        "6d7ee976e45ad1c17834749cc910e40f",
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
