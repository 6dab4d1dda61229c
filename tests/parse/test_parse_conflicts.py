"""Merge conflicts that are left in a file harm what they stand in, and nothing around it."""

from __future__ import annotations

import pytest
from parse_support import parsed

from ckvd import parse
from ckvd.languages import get
from ckvd.model import Parsed

MARKS = ("<<<<<<< HEAD\n", "=======\n", ">>>>>>> branch\n")


def conflict(ours: str, theirs: str, base: str = "") -> str:
    begin, split, end = MARKS
    return begin + ours + (f"||||||| 1a2b3c4\n{base}" if base else "") + split + theirs + end


def lines_of(source: bytes, result: Parsed) -> list[bytes]:
    return [line for a, b in result.damage for line in source[a:b].splitlines(keepends=True)]


CASES = {
    "python": (
        "class A:\n    def a(self):\n        return 1\n\n",
        ("    def b(self):\n        return 2\n", "    def c(self):\n        return 3\n"),
        "\n    def d(self):\n        return 4\n",
        ["A", "A.a", "A.b", "A.c", "A.d"],
    ),
    "java": (
        "class A {\n    int a() { return 1; }\n",
        ("    int b() { return 2; }\n", "    int b(int x) { return x; }\n"),
        "    int d() { return 4; }\n}\n",
        ["A", "A.a", "A.b", "A.b", "A.d"],
    ),
    "ruby": (
        "class A\n  def a\n    1\n  end\n",
        ("  def b\n    2\n  end\n", "  def c\n    2\n  end\n"),
        "  def d\n    4\n  end\nend\n",
        ["A", "A.a", "A.b", "A.c", "A.d"],
    ),
    "php": (
        "<?php\nclass A {\n    function a() { return 1; }\n",
        ("    function b() { return 2; }\n", "    function c() { return 2; }\n"),
        "    function d() { return 4; }\n}\n",
        ["A", "A.a", "A.b", "A.c", "A.d"],
    ),
    "go": (
        "package a\n\nfunc A() int {\n\treturn 1\n}\n\n",
        ("func B() int { return 2 }\n", "func C() int { return 2 }\n"),
        "\nfunc D() int {\n\treturn 4\n}\n",
        ["A", "B", "C", "D"],
    ),
    "json": ('{\n"a": 1,\n', ('"b": 2,\n', '"c": 3,\n'), '"d": 4\n}\n', ["a", "b", "c", "d"]),
}


@pytest.mark.parametrize("base", ["", "x (\n"])
@pytest.mark.parametrize("language", CASES)
def test_what_stands_around_a_conflict_and_in_both_sides_is_there(language: str, base: str) -> None:
    before, sides, after, names = CASES[language]
    padding = " " * 300 + "\n"
    source = (before + conflict(*sides, base=base) + after + padding).encode()
    result = parsed(language, source)
    assert [s.symbol for s in result.symbols] == names
    assert (result.status, result.reason) == ("partial", "syntax-errors")
    line = before.count("\n") + 1
    assert result.detail == f"line {line}, column 1: a merge conflict is not resolved"
    assert lines_of(source, result)[0] == MARKS[0].encode()
    assert lines_of(source, result)[-1] == MARKS[2].encode()
    resolved = parsed(language, (before + sides[0] + after).encode())
    shift = len(conflict(*sides, base=base)) - len(sides[0])
    last, whole = result.symbols[-1], resolved.symbols[-1]
    assert (last.start - shift, last.end - shift) == (whole.start, whole.end)


def test_the_side_that_can_be_read_is_read() -> None:
    padding = "# more\n" * 40
    source = padding + conflict("def a(:\n", "def a(x):\n") + "    return x\n"
    (symbol,) = parsed("python", source.encode()).symbols
    assert source[symbol.start : symbol.end].startswith("def a(x):")
    assert not symbol.clean
    kept = padding + conflict("def a(x):\n", "def a(y):\n") + "    return x\n"
    (symbol,) = parsed("python", kept.encode()).symbols
    assert kept[symbol.start : symbol.end].startswith("def a(x):")


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("python", 'TEXT = """\n' + conflict("a\n", "b\n") + '"""\n'),
        ("shell", "cat <<EOF\n" + conflict("a\n", "b\n") + "EOF\n"),
        ("markdown", "Title\n=======\n\ntext\n"),
        ("markdown", "# Merging\n\n```\n" + conflict("a\n", "b\n") + "```\n"),
        ("rst", "Title\n=======\n\ntext\n"),
        ("python", "x = 1\n"),
    ],
)
def test_what_only_looks_like_a_conflict_is_none(language: str, source: str) -> None:
    assert parse.parse("a", source.encode(), get(language)).status == "ok"


def test_a_conflict_in_prose_makes_no_heading() -> None:
    source = "# Title\n\n" + "text\n" * 40 + conflict("ours\n", "theirs\n") + "\n## Next\n"
    result = parse.parse("a.md", source.encode(), get("markdown"))
    assert [s.name for s in result.symbols] == ["Title", "Next"]
    assert result.status == "partial"
