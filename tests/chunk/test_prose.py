"""Sections and windows."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from chunk_toy import check, words
from hypothesis import given
from hypothesis import strategies as st

from ckvd.chunk import cut, locate
from ckvd.chunk.windows import soft_end
from ckvd.model import Chunk, CutOptions, Parsed, Symbol


def headings(text: str) -> Parsed:
    """A parse that knows ATX headings outside of fences."""
    symbols: list[Symbol] = []
    levels: list[tuple[int, int]] = []
    bare = re.sub(r"(?ms)^```.*?^```", lambda m: "." * len(m[0]), text)
    for match in re.finditer(r"(?m)^(#+) (.*)$", bare):
        level = len(match[1])
        while levels and levels[-1][0] >= level:
            levels.pop()
        scope = levels[-1][1] if levels else None
        parents = () if scope is None else (*symbols[scope].parents, symbols[scope].name)
        at, end = (len(text[:n].encode()) for n in match.span())
        levels.append((level, len(symbols)))
        symbols.append(Symbol(match[2], parents, "section", at, end, at + level + 1, at, scope=scope))
    return Parsed("markdown", "ok", symbols=tuple(symbols), comment="<!--")


def sections(text: str, **options: int) -> list[Chunk]:
    parsed = headings(text)
    option = CutOptions(**options)  # type: ignore[arg-type]
    chunks = cut("docs/x.md", text.encode(), parsed, "section", option, words)
    check(text.encode(), chunks, option)
    for symbol, chunk_id in zip(parsed.symbols, locate(parsed.symbols, chunks), strict=True):
        (chunk,) = [c for c in chunks if c.chunk_id == chunk_id]
        assert symbol.name in chunk.body
    return list(chunks)


PARAGRAPH = "Some words of a paragraph that says what there is to say about this matter. " * 3 + "\n\n"


def test_sections_with_their_heading_path() -> None:
    text = (
        "---\ntitle: x\n---\nBefore.\n\n# Guide\n\n"
        + PARAGRAPH
        + "## Use\n"
        + PARAGRAPH
        + "### Deep\n"
        + PARAGRAPH
        + "# Next\n"
        + PARAGRAPH
    )
    chunks = sections(text)
    assert [(c.chunk_id, c.header_text) for c in chunks] == [
        ("docs/x.md::<module>", ""),
        ("docs/x.md::Guide", ""),
        ("docs/x.md::Guide.Use", "# Guide"),
        ("docs/x.md::Guide.Use.Deep", "# Guide\n## Use"),
        ("docs/x.md::Next", ""),
    ]
    assert chunks[2].body == "## Use\n" + PARAGRAPH.rstrip()
    assert {c.unit for c in chunks[1:]} == {"section"}


def test_small_sections_join_the_one_before() -> None:
    text = "# Guide\n" + PARAGRAPH + "## A\nfew\n## B\nwords\n### C\nhere\n# Other\nalone\n"
    chunks = sections(text)
    assert [c.symbol for c in chunks] == ["Guide", "Other"]
    assert chunks[0].body.endswith("### C\nhere")


def test_a_small_section_joins_no_stranger() -> None:
    text = "# Guide\n## Deep\n" + PARAGRAPH + "# Licence\nfree\n" + "# More\n" + "also\n" * 60
    assert [c.symbol for c in sections(text)] == ["Guide", "Guide.Deep", "Licence", "More"]


def test_joined_sections_stay_small() -> None:
    text = "# All\n" + "".join(f"## Heading {n}\nfew words\n\n" for n in range(100))
    chunks = sections(text, limit=128)
    assert 5 < len(chunks) < 60
    assert max(c.tokens for c in chunks) < 100


@pytest.mark.parametrize("limit", [128, 256, 512])
def test_a_long_section_is_cut_between_paragraphs(limit: int) -> None:
    text = "# Guide\n" + PARAGRAPH * 40
    chunks = sections(text, limit=limit)
    assert {c.header_text for c in chunks} == {"# Guide"}
    assert "".join(c.body for c in chunks) == text.rstrip()
    assert all(c.body.startswith(("# Guide", "Some words")) for c in chunks)


def test_a_fence_is_cut_only_where_it_alone_is_too_big() -> None:
    def fence(lines: int) -> str:
        return "```sh\n# no heading\n\n" + "run this one now\n\n" * lines + "```\n\n"

    text = "# Guide\n" + PARAGRAPH + fence(10) + PARAGRAPH + fence(10) + fence(200) + PARAGRAPH
    chunks = sections(text, limit=128)
    assert sum(fence(10).strip() in c.body for c in chunks) == 2
    torn = [c for c in chunks if c.body.count("```") % 2]
    assert len(torn) == 2


def test_text_without_headings() -> None:
    chunks = sections(PARAGRAPH * 30, limit=256)
    assert {c.unit for c in chunks} == {"module"}
    assert len(chunks) > 2


def test_windows_end_at_blank_lines_of_low_indentation() -> None:
    block = "def f():\n    one = 1\n\n    two = 2\n    return one\n\n"
    text = block * 100
    chunks = cut("a.unknown", text.encode(), None, "window", CutOptions(window_chars=300), words)
    check(text.encode(), chunks, CutOptions(window_chars=300))
    assert all(c.body.startswith("def f():") for c in chunks)
    assert all(150 <= len(c.body) <= 300 for c in chunks)
    assert [c.chunk_id for c in chunks[:2]] == ["a.unknown::<window>", "a.unknown::<window>#2"]


def test_windows_overlap_by_whole_lines() -> None:
    text = "".join(f"line {n} of the text\n" for n in range(200))
    option = CutOptions(window_chars=400, window_overlap=60)
    chunks = cut("a.txt", text.encode(), None, "window", option, words)
    check(text.encode(), chunks, option)
    for before, after in pairwise(chunks):
        assert 0 < before.end - after.start <= 60
        assert after.body.startswith("line ")


def test_windows_shrink_to_the_limit() -> None:
    text = "日本語のテキスト。" * 2000
    option = CutOptions(limit=128)
    chunks = cut("a.txt", text.encode(), None, "window", option, lambda t: len(t) + 1)
    check(text.encode(), chunks, option)
    assert {c.parts for c in chunks} == {1}
    assert min(len(c.body) for c in chunks[:-1]) > 60


@given(st.text(alphabet="ab \n\té", max_size=400), st.integers(0, 50), st.integers(1, 100))
def test_a_window_ends_in_its_second_half(text: str, start: int, size: int) -> None:
    start = min(start, len(text))
    end = soft_end(text, start, size)
    assert end == len(text) or start + max(1, size // 2) <= end <= start + size
    if end < len(text) and "\n" in text[start + size // 2 : start + size]:
        nothing_but_blank_lines_follow = all(
            text[m.end() : m.end() + 1] in ("\n", "")
            for m in re.compile(r"\n[ \t]*").finditer(text, start + size // 2, start + size + 90)
            if m.start() < start + size
        )
        assert text[end - 1] == "\n" or nothing_but_blank_lines_follow
