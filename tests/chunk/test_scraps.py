"""What stands between and around functions makes no scraps."""

from __future__ import annotations

import re

import pytest
from chunk_toy import words

from ckvd import languages, parse
from ckvd.chunk import cut
from ckvd.model import Chunk, CutOptions

LANGUAGES = {"py": "python", "js": "javascript"}


def chunks_of(path: str, text: str) -> tuple[Chunk, ...]:
    data = text.encode()
    parsed = parse.parse(path, data, languages.get(LANGUAGES[path.rpartition(".")[2]]))
    return cut(path, data, parsed, "symbol", CutOptions(), words)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("def a():\n    return 1\n\n\n# Helpers\n\n\ndef b():\n    return 2\n", ["a", "b"]),
        ("def a():\n    return 1\n\n\n# vim: set et:\n", ["a"]),
        ("def a():\n    return 1  # so be it\n\n\ndef b():\n    return 2\n", ["a", "b"]),
    ],
)
def test_a_lone_comment_is_no_chunk(text: str, wanted: list[str]) -> None:
    chunks = chunks_of("a.py", text)
    assert [c.symbol for c in chunks] == wanted
    assert all(comment in "".join(c.body for c in chunks) for comment in re.findall(r"#.*", text))


def test_a_comment_that_ends_the_last_line_is_in_the_chunk_and_not_in_the_symbol() -> None:
    text = (
        "class A:\n    def g(self):\n        return 2  # two\n\n    def h(self):\n        return 3  # three\n"
        "    # below\n\n\nZ = 1\n"
    )
    symbols = parse.parse("a.py", text.encode(), languages.get("python")).symbols
    assert [text[s.start : s.end].rpartition("\n")[2].strip() for s in symbols[:3]] == [
        "return 3",
        "return 2",
        "return 3",
    ]
    ends = {c.symbol: c.body.rpartition("\n")[2].strip() for c in chunks_of("a.py", text)}
    assert (ends["A.g"], ends["A.h"], ends["A"]) == ("return 2  # two",) + ("return 3  # three",) * 2


def test_an_object_with_functions_is_one_coarse_chunk() -> None:
    text = (
        "'use strict';\n\nconst LIMIT = 9;\n\n/** Keeps boxes. */\nconst Box = {\n  cache: {},\n"
        "  // Adds one.\n  add(id) { return LIMIT + id; },\n  drop(id) { return id; },\n};\n\n"
        "function use() {\n  // not LIMIT\n  return Box.add(1);\n}\n"
    )
    chunks = chunks_of("a.js", text)
    assert [(c.unit, c.symbol, c.grain) for c in chunks] == [
        ("file_header", None, "fine"),
        ("symbol", "Box", "coarse"),
        ("symbol", "Box.add", "fine"),
        ("symbol", "Box.drop", "fine"),
        ("symbol", "use", "fine"),
    ]
    assert chunks[1].body == text[text.index("/** Keeps") : text.index("\n\nfunction")]
    assert chunks[2].header_text == "const LIMIT = 9;\n/** Keeps boxes. */\nconst Box = {"
    assert chunks[4].header_text == "/** Keeps boxes. */\nconst Box = {\n  cache: {},\n..."


def test_comments_that_a_body_begins_with_are_no_part_of_its_signature() -> None:
    text = "def outer(a):\n    # First the\n    # inner.\n\n    def inner():\n        return a\n"
    (_, inner) = chunks_of("a.py", text)
    assert inner.header_text == "def outer(a):"
