"""Severed functions and chunk sizes, from rows."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckvd.report import boundaries, sizes
from ckvd.report.boundaries import ChunkRow, FileRows, FunctionRow, Tally
from ckvd.report.sizes import Bin, SizeRow, Spread


def function(text: str, symbol: str, body: str) -> FunctionRow:
    """A function whose text starts and ends as `body` says; its name stands on its first line."""
    start = text.encode().index(body.encode())
    end = start + len(body.encode())
    first, last = (text.encode().count(b"\n", 0, at) + 1 for at in (start, end))
    return FunctionRow(symbol, start, end, first, last, first)


def chunk(unit, span, symbol=None, part=1, parts=1, rendering="source") -> ChunkRow:
    return ChunkRow(unit, symbol, *span, part, parts, rendering)


LONG = "def prorate():\n" + "".join(f"    step({n})\n" for n in range(120)) + "    return 1"
SHORT = "def short():\n    return 2"
TEXT = "# é preamble\n" * 60 + "\n\n" + LONG + "\n" * 300 + SHORT + "\n"


def file(*chunks: ChunkRow, text: str = TEXT) -> FileRows:
    functions = [function(text, "prorate", LONG), function(text, "short", SHORT)]
    return FileRows("a.py", "python", text.encode(), functions, [(f.start, f.end) for f in functions], chunks)


def test_windows_sever_what_the_index_keeps_whole() -> None:
    rows = file()
    long, short = rows.functions
    indexed = file(
        chunk("file_header", (0, long.start - 2)),
        chunk("symbol", (long.start, long.end), "prorate"),
        chunk("symbol", (short.start, short.end), "short"),
    )
    found = boundaries.measure([indexed], {"a.py": 3})
    assert found.total("fixed:1200") == Tally(2, intact=1, split=1, separated=1)
    assert found.total("symbol") == found.total("index") == Tally(2, intact=2)
    assert found.tallies["fixed:1200"]["python"].share == 0.5
    assert [(s.symbol, s.lines, s.touches) for s in found.severed] == [("prorate", 122, 3)]
    assert "index" not in found.severed[0].by
    assert (found.file_headers, found.torn_file_headers) == (1, 0)


def test_what_the_index_makes_of_a_function() -> None:
    long, short = file().functions
    middle = (long.start + long.end) // 2
    cases = [
        (chunk("window", (long.start, long.end)), "split", False),
        (chunk("symbol", (long.start, long.end), "Class", rendering="outline"), "split", True),
        (chunk("names", (0, 9999), rendering="outline"), "names", False),
        (chunk("module", (0, middle)), "split", True),
        (chunk("file", (0, short.end)), "intact", False),
    ]
    for row, field, separated in cases:
        fate = boundaries.index_fates(file(row))[0]
        assert (fate.field, fate.separated) == (field, separated), row
    parts = [
        chunk("symbol", (long.start, middle), "prorate", 1, 2),
        chunk("symbol", (middle, long.end), "prorate", 2, 2),
    ]
    assert boundaries.index_fates(file(*parts))[0].field == "parts"


def test_a_torn_file_header_is_counted() -> None:
    long, _ = file().functions
    found = boundaries.measure([file(chunk("file_header", (0, long.start + 30)))], {})
    assert (found.file_headers, found.torn_file_headers) == (1, 1)


def test_the_signature_is_apart_from_the_tail_only_where_no_chunk_has_both() -> None:
    start, end = 1000, 1300
    text = "x" * 998 + "\n\n" + "def f():\n" + "y" * 290 + "\n"
    row = FunctionRow("f", start, end, 3, 4, 3)
    rows = FileRows("f.py", "python", text.encode(), [row], [(start, end)], [])
    found = boundaries.measure([rows], {})
    assert found.total("fixed:1200") == Tally(1, split=1, separated=1)
    assert found.total("fixed:1200+200") == Tally(1, intact=1)
    assert found.total("lines:1200") == Tally(1, intact=1)


def test_the_longest_in_the_busiest_files_come_first() -> None:
    quiet = file(text=TEXT)
    busy = FileRows("b.py", "python", quiet.text, quiet.functions, (), ())
    found = boundaries.measure([quiet, busy], {"b.py": 5})
    assert next(s.path for s in found.severed if "fixed:1200" in s.by) == "b.py"


@given(st.text(max_size=300), st.integers(2, 40), st.integers(0, 1))
def test_fixed_windows_have_so_many_characters(text: str, size: int, overlap: int) -> None:
    data = text.encode()
    spans = boundaries.fixed(data, size, overlap)
    assert [data[a:b].decode() for a, b in spans] == [
        text[at : at + size] for at in range(0, max(len(text) - overlap, 1), size - overlap)
    ]


@given(st.binary(max_size=300), st.integers(2, 40))
def test_windows_of_lines_tile_any_bytes(data: bytes, size: int) -> None:
    assert b"".join(data[a:b] for a, b in boundaries.lines(data, size)) == data


def test_sizes_by_language_and_unit() -> None:
    rows = [
        SizeRow("go", "symbol", 100, 20, 1, 1, "source", False),
        SizeRow("go", "symbol", 900, 128, 1, 2, "source", False),
        SizeRow("go", "symbol", 300, 60, 2, 2, "source", False),
        SizeRow("go", "symbol", 500, 100, 1, 1, "outline", False),
        SizeRow("python", "names", 40, 10, 1, 1, "outline", False),
        SizeRow(None, "window", 1200, 200, 1, 1, "source", True),
    ]
    found = sizes.measure(rows, 128)
    assert found.total.chars == Spread(300, 1200, 1200)
    assert found.total.tokens == Spread(60, 200, 200)
    assert list(found.by_language) == ["go", None, "python"]
    assert list(found.by_unit) == ["symbol", "names", "window"]
    go = found.by_language["go"]
    assert (go.chunks, go.split, go.outlined, go.over_limit) == (4, 1, 1, 0)
    assert (found.total.over_limit, found.total.truncated) == (1, 1)
    assert go.tokens_histogram == [Bin(17, 32, 1), Bin(33, 64, 1), Bin(65, 128, 2)]
    assert sizes.measure(rows, None).total.over_limit == 0


def test_sizes_of_nothing() -> None:
    found = sizes.measure([], 512)
    assert (found.total.chunks, found.total.chars, found.total.tokens_histogram) == (0, Spread(), [])


@given(st.lists(st.integers(0, 5000), min_size=1))
def test_histograms_count_all_and_quantiles_are_values(values: list[int]) -> None:
    counted = Counter(values)
    bins = sizes.histogram(counted)
    assert sum(b.count for b in bins) == len(values)
    for b in bins:
        assert b.count == sum(b.low <= v <= b.high for v in values)
    found = sizes.spread(counted)
    ordered = sorted(values)
    assert found.max == ordered[-1]
    for share, value in ((0.5, found.median), (0.9, found.p90)):
        assert value in counted
        assert sum(v <= value for v in values) >= share * len(values)
        assert sum(v < value for v in values) < share * len(values) or value == ordered[0]


@pytest.mark.parametrize("strategy", boundaries.STRATEGIES)
def test_every_function_is_counted_once(strategy: str) -> None:
    tally = boundaries.measure([file()], {}).total(strategy)
    assert tally.functions == 2 == tally.intact + tally.parts + tally.names + tally.split
