"""Files that broke comparable tools: required symbols are there to the byte, forbidden ones are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parse_support import HERE

from ckvd import parse
from ckvd.languages import get, names
from ckvd.model import Parsed

BOM = b"\xef\xbb\xbf"
CASES = [
    pytest.param(case.parent / file, expected, id=f"{case.parent.name}/{file}")
    for case in sorted((HERE / "cases").glob("*/expect.json"))
    for file, expected in json.loads(case.read_text("utf-8")).items()
]


def read(path: Path) -> tuple[Parsed, bytes, int]:
    """The parse, the text, and how far the text's offsets lie before the file's."""
    suffix = path.suffix[1:]
    (language,) = (name for name in names() if suffix in get(name).suffixes)
    data = path.read_bytes()
    text = data.removeprefix(BOM)
    return parse.parse(path.name, text, get(language)), text, len(data) - len(text)


@pytest.mark.parametrize(("path", "expected"), CASES)
def test_case(path: Path, expected: dict[str, Any]) -> None:
    result, text, shift = read(path)

    def line(offset: int) -> int:
        return text.count(b"\n", 0, offset) + 1

    got = {
        (s.symbol, s.start + shift, s.end + shift, line(s.start), line(s.end - 1), line(s.name_start))
        for s in result.symbols
    }
    for want in expected["symbols"]:
        row = tuple(
            want[key] for key in ("qname", "start_byte", "end_byte", "start_line", "end_line", "name_line")
        )
        assert row in got or not want["required"]
    seen = {name for s in result.symbols for name in (s.symbol, s.name)}
    assert not seen & set(expected["never"])
    assert all(s.name for s in result.symbols)


def test_lone_carriage_returns_end_no_line() -> None:
    result, text, _ = read(HERE / "cases" / "line-endings" / "only_cr.js")
    assert b"\n" not in text
    assert [(s.name, s.start, s.end) for s in result.symbols] == [("first", 0, 30), ("second", 31, 62)]


def test_python_2_loses_no_symbol_and_is_no_failure() -> None:
    result, _, _ = read(HERE / "cases" / "python2-file" / "legacy.py")
    assert result.status in ("ok", "partial")
    assert [s.symbol for s in result.symbols] == ["shout", "risky", "Old", "Old.has", "survivor"]
