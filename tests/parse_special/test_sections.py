"""Markdown and reStructuredText: which lines open a section, and what lies in it."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from effort import grows_linearly
from hypothesis import given
from hypothesis import strategies as st

from ckvd import languages
from ckvd.model import Parsed
from ckvd.parse import parse

GUIDE = Path(__file__).parent / "GUIDE.md"


def markdown(source: bytes) -> Parsed:
    return parse("a.md", source, languages.get("markdown"))


def rst(source: bytes) -> Parsed:
    return parse("a.rst", source, languages.get("rst"))


def titles(result: Parsed) -> list[tuple[str, int]]:
    return [(s.name, len(s.parents)) for s in result.symbols]


def test_fences_quotes_lists_comments_and_front_matter_open_no_section() -> None:
    source = GUIDE.read_bytes()
    result = markdown(source)
    assert [(s.symbol, s.start, s.end, s.scope) for s in result.symbols] == [
        ("Guide 指南", 60, 74, None),
        ("Setext Title", 161, 186, None),
        ("Setext Title.Usage", 188, 196, 1),
        ("Setext Title.Second *setext*", 300, 319, 1),
        ("Setext Title.Usage", 321, 329, 1),
        ("Setext Title.Usage.Closed heading", 370, 392, 4),
    ]
    assert {s.kind for s in result.symbols} == {"section"}
    assert [source.count(b"\n", 0, s.name_start) + 1 for s in result.symbols] == [6, 19, 22, 34, 37, 40]
    for symbol in result.symbols:
        assert source[symbol.name_start :].startswith(symbol.name.encode())
    assert [s.body for s in result.symbols] == [
        (74, 161), (186, 188), (196, 300), (319, 321), (329, 370), (392, 432),
    ]  # fmt: skip


def test_a_fence_is_one_piece() -> None:
    source = GUIDE.read_bytes()
    pieces = [source[a:b] for a, b in markdown(source).pieces(60, 161)]
    assert pieces == [
        "# Guide 指南\n".encode(),
        b"```python\n# install\nx = 1\n```\n",
        b"~~~~md\n# inside tilde fence\n```\n## still inside\n~~~~\n",
    ]


def test_fenced_code_is_cut_by_its_own_grammar() -> None:
    source = b"# A\n\n```python x\nimport a\n\n\ndef f():\n    pass\n```\n\ntext\n"
    fence = source.index(b"```"), source.rindex(b"```") + 5
    pieces = [source[a:b] for a, b in markdown(source).pieces(*fence)]
    assert pieces == [b"```python x\n", b"import a", b"def f():\n    pass", b"```\n\n"]
    inside = source.index(b"def"), source.index(b"```\n\n")
    assert [source[a:b] for a, b in markdown(source).pieces(*inside)][-1] == b"pass"
    for plain in (
        b"```\nx\n```\n",
        b"```nothing\nx\n```\n",
        b"```python\n```\n",
        b"- ```python\n  x = 1\n  ```\n",
    ):
        assert all(0 <= a < b <= len(plain) for a, b in markdown(plain).pieces(0, len(plain)))
    assert markdown(b"~~~go\nfunc f() {}").pieces(0, 17) == [(0, 6), (11, 12), (12, 14), (15, 17)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# A\n### B\n## C\n# D\n", [("A", 0), ("B", 1), ("C", 1), ("D", 0)]),
        ("# A\r\n\r\nB\r\n===\r\n", [("A", 0), ("B", 0)]),
        ("a\rb\n# A\n", [("A", 0)]),
        ("   ## A ##  \n", [("A", 0)]),
        ("#\n# \n# A", [("A", 0)]),
        ("+++\n# x\n+++\n# A\n", [("A", 0)]),
        ("---\n# A\n", [("A", 0)]),
        ("a\nb\n---\n", [("a b", 0)]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n---\n\n# A\n", [("A", 0)]),
        ("- # in a list\n\n1. # too\n", []),
        ("", []),
        ("no heading\n", []),
    ],
)
def test_markdown_headings(source: str, expected: list[tuple[str, int]]) -> None:
    result = markdown(source.encode())
    assert titles(result) == expected
    for symbol in result.symbols:
        text = source.encode()[symbol.start : symbol.end]
        assert text == text.strip()
        assert symbol.start <= symbol.name_start < symbol.end


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("=====\nTitle\n=====\n\nPart\n====\n\nSub\n---\n\nNext\n====\n",
         [("Title", 0), ("Part", 1), ("Sub", 2), ("Next", 1)]),
        ("1. First\n========\n\ntext\n", [("First", 0)]),
        (".. note:: x\nA\n=\n", [("A", 0)]),
        ("- x\n- y\nA\n=\n", [("A", 0)]),
        ("x\n  y\nA\n=\n", [("A", 0)]),
        ("x::\n\n   y\nA\n=\ntext\nB\n=\n", [("A", 0)]),
        ("- x\ntext\nB\n=\n", []),
        ("text\n- x\nB\n=\n", []),
        ("- item\n------\n", []),
        (".. note::\n\n   Inner\n   =====\n", []),
        ("text::\n\n    A\n    =\n", []),
        ("a paragraph\nTitle\n=====\n", []),
        ("====  ====\nA     B\n====  ====\n1     2\n====  ====\n", []),
        ("above\n\n-----\n\nbelow\n", []),
        ("日本語\n======\n", [("日本語", 0)]),
        ("Long title\n----\n", [("Long title", 0)]),
        ("Long title\n---\n", []),
        ("Title\r\n=====\r\n\r\ntext\r\n", [("Title", 0)]),
    ],
)  # fmt: skip
def test_rst_titles(source: str, expected: list[tuple[str, int]]) -> None:
    result = rst(source.encode())
    assert [(re.sub(r"^1\. ", "", name), depth) for name, depth in titles(result)] == expected


def test_rst_ranges_are_the_title_s_lines() -> None:
    source = b"intro\n\n=======\n Title\n=======\ntext\n\nSub\n~~~\n"
    result = rst(source)
    assert [source[s.start : s.end] for s in result.symbols] == [b"=======\n Title\n=======", b"Sub\n~~~"]
    assert [source[s.name_start : s.name_start + 3] for s in result.symbols] == [b"Tit", b"Sub"]
    assert result.symbols[0].body == (29, 36)


LINES = st.sampled_from(
    ["# a", "## b #", "a", "===", "---", "```", "~~~", "> ", "> # q", "- ", "  - x", "    code", "", "<!--",
     "-->", "\t", "a\rb", "é", "\x0c", ".. x::", "=====", " t", "...", "+++"]
)  # fmt: skip


@given(st.lists(LINES).map("\n".join))
def test_sections_lie_in_order_and_pieces_in_their_range(text: str) -> None:
    source = text.encode()
    for result in (markdown(source), rst(source)):
        assert result.status == "ok"
        for one, two in pairwise(result.symbols):
            assert one.end <= two.start
            assert one.body == (one.end, two.start)
        for symbol in result.symbols:
            assert symbol.name
            assert symbol.start <= symbol.name_start < symbol.end
            assert symbol.scope is None or result.symbols[symbol.scope].name == symbol.parents[-1]
        edges = sorted({0, len(source), *(s.start for s in result.symbols)})
        for start, end in pairwise(edges):
            pieces = result.pieces(start, end)
            assert all(start <= a < b <= end for a, b in pieces)
            assert all(one[1] <= two[0] for one, two in pairwise(pieces))


@pytest.mark.parametrize(
    "text",
    ["> ", "- ", "1. ", "# a\n", "a\n=\n", "```\n", "<!--\n", "- a\n\n", "[a]:\n", "> - ", "===\n", "*"],
)
def test_repetition_takes_linear_time_and_nesting_no_stack(text: str) -> None:
    def both(size: int) -> None:
        source = (text * size).encode()
        assert markdown(source).status == rst(source).status == "ok"

    assert grows_linearly(both, 20_000)
