"""What always holds of a parse, on the samples and on any damage done to them."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parse_support import TREE_SITTER, parsed, sample

from ckvd.languages import get
from ckvd.model import Parsed, Symbol

SAMPLES = {language: sample(language).read_bytes() for language in TREE_SITTER}


def assert_sound(result: Parsed, source: bytes) -> None:
    size = len(source)
    assert [(s.start, -s.end) for s in result.symbols] == sorted((s.start, -s.end) for s in result.symbols)
    for i, symbol in enumerate(result.symbols):
        assert 0 <= symbol.lead <= symbol.start < symbol.end <= size
        assert symbol.start <= symbol.name_start < symbol.end
        assert symbol.name
        assert "\n" not in symbol.signature + symbol.doc
        if symbol.body is not None:
            assert symbol.start <= symbol.body[0] < symbol.body[1] <= symbol.end
        if symbol.scope is not None:
            outer = result.symbols[symbol.scope]
            assert symbol.scope < i
            assert outer.start <= symbol.start
            assert symbol.end <= outer.end
        for item in symbol.head:
            assert symbol.lead <= item.start < item.end <= symbol.end
    for (_, end), (start, _) in pairwise(result.damage):
        assert end < start
    for start, end in result.damage:
        assert 0 <= start < end <= size
        assert not any(s.clean and s.start < end and start < s.end for s in result.symbols)
    assert result.error_bytes == sum(end - start for start, end in result.damage)
    assert (result.status == "ok") == (result.reason is None) == (result.detail is None)
    for item in result.header:
        assert 0 <= item.start < item.end <= size


def assert_named(symbol: Symbol, source: bytes) -> None:
    """The name stands where the symbol says, but for the few that have none in the text."""
    if symbol.name not in ("Companion", "validity"):
        assert source[symbol.name_start :].decode().startswith(re.findall(r".[^ :]*", symbol.name)[0])


@pytest.mark.parametrize("language", TREE_SITTER)
def test_sample_is_sound(language: str) -> None:
    source = SAMPLES[language]
    result = parsed(language, source)
    assert result.status == "ok"
    assert result.comment == get(language).comment
    assert_sound(result, source)
    for symbol in result.symbols:
        assert_named(symbol, source)
        assert not (symbol.chunked and symbol.kind in {"constant", "field", "enum_member"})


@pytest.mark.parametrize("language", TREE_SITTER)
def test_pieces_lie_in_order_inside_the_range(language: str) -> None:
    source = SAMPLES[language]
    result = parsed(language, source)
    ranges = [(0, len(source))] + [s.body for s in result.symbols if s.body is not None]
    for start, end in ranges:
        pieces = result.pieces(start, end)
        assert all(start <= a < b <= end for a, b in pieces)
        assert all(b <= c for (_, b), (c, _) in pairwise(pieces))


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_any_damage_leaves_a_sound_parse(data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(TREE_SITTER))
    source = bytearray(SAMPLES[language])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(source) - 1))
        length = data.draw(st.integers(0, 12))
        source[at : at + length] = data.draw(
            st.sampled_from([b"", b"(", b"}", b'"', b"\n", b"\x00", b"\xff", b"# "])
        )
    assert_sound(parsed(language, bytes(source)), bytes(source))


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_no_range_begins_or_ends_within_a_character(data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(TREE_SITTER))
    text = list(SAMPLES[language].decode())
    for _ in range(data.draw(st.integers(1, 4))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(
            st.sampled_from(["", "é", "日", "(é", "é}", '"日', "\né", "# é"])
        )
    source = "".join(text).encode()
    result = parsed(language, source)
    assert_sound(result, source)
    for start, end in (*result.damage, *((s.start, s.end) for s in result.symbols)):
        assert source[start:end].decode()


@pytest.mark.parametrize("language", TREE_SITTER)
def test_nothing_and_only_space(language: str) -> None:
    for source in (b"", b"\n", b"  \r\n\t\n"):
        result = parsed(language, source)
        assert result.symbols == ()
        assert result.damage == ()


def test_flat_and_deep_input_needs_no_recursion() -> None:
    deep = b"if x:\n" + b"".join(b" " * i + b"if x:\n" for i in range(1, 400)) + b" " * 400 + b"pass\n"
    assert parsed("python", deep).symbols == ()
    result = parsed("javascript", b"[" * 20_000)
    assert result.status == "failed"
    flat = b"".join(b"def f%d(): pass\n" % i for i in range(5_000))
    assert len(parsed("python", flat).symbols) == 5_000
