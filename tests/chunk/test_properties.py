"""What holds for every file, however it is written, at every limit."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from chunk_toy import LIMITS, Toy, check, letters, wholes, words
from hypothesis import given, settings
from hypothesis import strategies as st

from ckvd.chunk import cut, embed_hash, embed_text, locate
from ckvd.model import CutOptions, Parsed, Symbol

NAMES = st.sampled_from(["alpha", "beta", "Gamma", "run", "Größe", "x#2", "run[1]"])
WORDS = st.sampled_from(
    [
        "value",
        "K1",
        "K2",
        "io",
        "=",
        "+",
        "日本語テキスト",
        "({[",
        "é",
        "a" * 40,
        "https://example.org/x?y=1&z",
        ";",
    ]
)


def _line(draw: st.DrawFn) -> str:
    return " ".join(draw(st.lists(WORDS, min_size=1, max_size=draw(st.sampled_from([4, 30])))))


@st.composite
def sources(draw: st.DrawFn, damaged: bool = False) -> tuple[bytes, Parsed]:
    """A file of the toy language: nested classes and functions, comments, constants, loose code."""
    toy = Toy(draw(st.sampled_from(["\n", "\r\n"])), tail=draw(st.sampled_from(["", ";", " // end"])))
    depth = 0
    for _ in range(draw(st.integers(0, 40))):
        match draw(st.integers(0, 12)):
            case 0:
                toy.imports(f"use {draw(WORDS)}", *draw(st.sampled_from([(), ("io",), ("value",)])))
            case 1:
                toy.constant("K1", f"const K1 = {_line(draw)}")
            case 2:
                toy.field(f"field {draw(NAMES)} = {_line(draw)}", "f")
            case 3 | 4 | 5 if depth < 4:
                toy.open(
                    draw(NAMES),
                    draw(st.sampled_from(["class", "func"])),
                    doc=draw(st.sampled_from(["", "Says what it is for.", "word " * 200])),
                    chunked=draw(st.booleans()) or draw(st.booleans()),
                    clean=not damaged or draw(st.booleans()),
                )
                depth += 1
            case 6 | 7 if depth:
                toy.close()
                depth -= 1
            case 8:
                toy.blank()
            case 9:
                toy.statement(";")
            case 10 if damaged:
                toy.damage(_line(draw))
            case _:
                for _ in range(draw(st.sampled_from([1, 3, 60]))):
                    toy.statement(_line(draw))
    return toy.done("partial" if damaged else "ok")


@st.composite
def options(draw: st.DrawFn) -> CutOptions:
    return CutOptions(
        limit=draw(st.sampled_from(LIMITS)),
        embed_header=draw(st.booleans()),
        prefix=draw(st.sampled_from(["contextual", "raw"])),
        include_file_header=draw(st.booleans()),
        include_file_full=draw(st.booleans()),
        file_header_lines=draw(st.sampled_from([2, 50])),
        window_chars=draw(st.sampled_from([60, 1200])),
        window_overlap=draw(st.sampled_from([0, 20])),
    )


counters = st.sampled_from([words, letters])


@given(sources() | sources(damaged=True), options(), counters, st.sampled_from(["symbol", "window"]))
@settings(max_examples=40, deadline=None)
def test_every_file(made, option, count, strategy) -> None:
    source, parsed = made
    chunks = cut("dir/a.toy", source, parsed, strategy, option, count)
    check(source, chunks, option)
    assert cut("dir/a.toy", source, parsed, strategy, option, count) == chunks
    for symbol, chunk_id in zip(parsed.symbols, locate(parsed.symbols, chunks), strict=True):
        (chunk,) = [c for c in chunks if c.chunk_id == chunk_id]
        (whole,) = [w for w in wholes(chunks) if chunk in w]
        assert whole[0].start <= symbol.start < whole[-1].end
        if symbol.chunked and (symbol.clean or strategy == "symbol"):
            assert (chunk.symbol, chunk.kind, chunk.part) == (symbol.symbol, symbol.kind, 1)
            assert symbol.end <= whole[-1].end


def with_chunks(symbols: tuple[Symbol, ...]) -> list[Symbol]:
    """Those that ask for a chunk, and top-level ones around them where nothing between has one."""
    own = {i for i, s in enumerate(symbols) if s.chunked}
    for index in sorted(own):
        around, scope = [index], symbols[index].scope
        while scope is not None:
            around.append(scope)
            scope = symbols[scope].scope
        if not any(symbols[i].chunked for i in around[1:]):
            own.add(around[-1])
    return [symbols[i] for i in sorted(own)]


@given(sources(), options(), counters)
@settings(max_examples=15, deadline=None)
def test_symbols_have_nested_chunks_of_their_own(made, option, count) -> None:
    source, parsed = made
    chunks = cut("a.toy", source, parsed, "symbol", option, count)
    own = [(w[0], w[-1].end) for w in wholes(chunks) if w[0].unit == "symbol"]
    expected = with_chunks(parsed.symbols)
    assert [(c.symbol, c.start) for c, _ in own] == [
        (s.symbol, min(s.lead, c.start)) for (c, _), s in zip(own, expected, strict=True)
    ]
    for a, a_end in own:
        for b, b_end in own:
            assert (
                a_end <= b.start
                or b_end <= a.start
                or (a.start <= b.start and b_end <= a_end)
                or (b.start <= a.start and a_end <= b_end)
            )


@given(sources(), options(), counters, st.lists(st.integers(0, 4000), min_size=2, max_size=4))
@settings(max_examples=60, deadline=None)
def test_windows_over_damage_lie_within_the_chunks_of_symbols_or_beside_them(made, option, count, at) -> None:
    source, parsed = made
    edges = sorted({min(offset, len(source)) for offset in at})
    damage = tuple(zip(edges[::2], edges[1::2], strict=False))
    symbols = tuple(
        replace(s, clean=all(s.end <= start or end <= s.start for start, end in damage))
        for s in parsed.symbols
    )
    parsed = replace(parsed, status="partial", symbols=symbols, damage=damage)
    option = replace(option, window_overlap=0, include_file_full=False)
    open_: list[int] = []
    for start, end in sorted(
        ((w[0].start, w[-1].end) for w in wholes(cut("a.toy", source, parsed, "symbol", option, count))),
        key=lambda span: (span[0], -span[1]),
    ):
        while open_ and open_[-1] <= start:
            open_.pop()
        assert not open_ or end <= open_[-1]
        open_.append(end)


@given(sources(), options(), counters)
@settings(max_examples=15, deadline=None)
def test_embedded_text_is_built_again_from_the_row(made, option, count) -> None:
    source, parsed = made
    for chunk in cut("a.toy", source, parsed, "symbol", option, count):
        text = embed_text(
            language=parsed.language, path="a.toy", unit=chunk.unit, symbol=chunk.symbol, kind=chunk.kind,
            header=chunk.header, body=chunk.body, comment=parsed.comment, options=option, count=count,
        )  # fmt: skip
        assert count(text) == chunk.tokens
        assert embed_hash(text) == chunk.embed_hash
        assert text.endswith(chunk.body)
        assert text.startswith("language: toy. file: a.toy.") == (option.prefix == "contextual")


@given(sources(), options(), counters)
@settings(max_examples=15, deadline=None)
def test_the_prefix_line_decides_no_cut(made, option, count) -> None:
    source, parsed = made

    def cuts(prefix: str) -> list[object]:
        found = cut("a.toy", source, parsed, "symbol", replace(option, prefix=prefix), count)
        return [(c.chunk_id, c.start, c.end, c.header, c.body, c.content_hash, c.own_hash) for c in found]

    assert cuts("raw") == cuts("contextual")


@given(sources(), counters)
@settings(max_examples=15, deadline=None)
def test_outlines_keep_all_but_bodies(made, count) -> None:
    source, parsed = made
    option = CutOptions(limit=128)
    for whole in wholes(cut("a.toy", source, parsed, "symbol", option, count)):
        if whole[0].rendering == "outline":
            text = source[whole[0].start : whole[-1].end].decode()
            outline = "".join(c.body for c in whole)
            kept = re.escape(outline).replace(re.escape("{ ... }"), r"\{(?s:.)*?\}")
            assert re.fullmatch(kept, text)


@given(st.text(max_size=3000), options(), counters)
@settings(max_examples=80, deadline=None)
def test_any_text_in_windows(text, option, count) -> None:
    source = text.encode()
    chunks = cut("notes.txt", source, None, "window", option, count)
    check(source, chunks, option)
    assert all(len(c.body) <= option.window_chars for c in chunks if c.unit == "window")


@pytest.mark.parametrize("limit", LIMITS)
def test_a_line_without_a_border(limit) -> None:
    source = b"x" * 100_000 + "é".encode() * 50_000
    option = CutOptions(limit=limit)
    chunks = cut("a.toy", source, Parsed("toy", "ok"), "symbol", option, letters)
    check(source, chunks, option)
    assert b"".join(c.body.encode() for c in chunks) == source
