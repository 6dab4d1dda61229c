"""Jupyter notebooks: cells and their code, at offsets of the `.ipynb` file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from effort import grows_linearly
from hypothesis import given
from hypothesis import strategies as st

from ckvd import languages
from ckvd.model import Parsed, Symbol
from ckvd.parse import parse


def parsed(source: bytes) -> Parsed:
    return parse("a.ipynb", source, languages.get("jupyter"))


def cell(kind: str, source: str | list[str], **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {"source": "no"}, "source": source, **more}


def notebook(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4}


NOTEBOOK = notebook(
    cell("markdown", ["# Load “data”\n", "text"]),
    cell(
        "code",
        [
            "%matplotlib inline\n",
            "import os\n",
            "\n",
            "def f(a):\n",
            '    """Doc 😀 é."""\n',
            "    return '\\t' + a\n",
        ],
        outputs=[{"data": {"image/png": "AAAA\n", "source": ["def no(): pass"]}}],
    ),
    cell("code", "class A:\n    def m(self): return 'x'\n!ls"),
    cell("code", ["%%bash\n", "ls | x"]),
    cell("markdown", "no heading"),
    cell("code", []),
)


def text_of(source: bytes, symbol: Symbol) -> str:
    """What the range of a symbol in a cell means, its JSON strings put together."""
    raw = source[symbol.start : symbol.end].decode()
    strings = [line.strip().rstrip(",") for line in raw.split("\n")]
    return "".join(str(json.loads(f'"{s.strip(chr(34)) if len(strings) > 1 else s}"')) for s in strings)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_cells_and_the_symbols_in_them(ascii_only: bool) -> None:
    source = json.dumps(NOTEBOOK, indent=1, ensure_ascii=ascii_only).encode()
    result = parsed(source)
    assert result.status == "ok", result.detail
    assert [(s.symbol, s.kind, s.scope, s.chunked) for s in result.symbols] == [
        ("Load “data”", "section", None, True),
        ("cell 2", "cell", None, True),
        ("f", "function", 1, False),
        ("cell 3", "cell", None, True),
        ("A", "class", 3, False),
        ("A.m", "method", 4, False),
        ("cell 4", "cell", None, True),
        ("cell 5", "cell", None, True),
    ]
    function, method = result.symbols[2], result.symbols[5]
    assert source[function.start :].startswith(b'def f(a):\\n",\n')
    assert source[: function.end].endswith(b"    return '\\\\t' + a")
    assert (function.signature, function.doc) == ("def f(a)", "Doc 😀 é.")
    assert source[function.name_start : function.name_start + 2] == b"f("
    assert text_of(source, method) == "def m(self): return 'x'"
    assert [source[h.start : h.end] for h in result.header] == [b"import os"]


def test_the_pieces_are_cells_and_their_lines() -> None:
    source = json.dumps(NOTEBOOK, indent=1).encode()
    result = parsed(source)
    cells = [(s.start, s.end) for s in result.symbols if s.scope is None]
    assert result.pieces(0, len(source)) == cells
    assert [json.loads(source[a:b]) for a, b in result.pieces(*cells[1])] == NOTEBOOK["cells"][1]["source"]


def test_errors_in_the_code_and_in_the_file() -> None:
    source = json.dumps(
        notebook(cell("code", "def ok():\n    pass\n"), cell("code", ["def (:\n", "x = 1\n"]))
    ).encode()
    result = parsed(source)
    assert (result.status, result.reason) in (("partial", "syntax-errors"), ("failed", "syntax-errors"))
    assert "ok" in [s.name for s in result.symbols]
    assert all(b"def (" in source[max(0, a - 10) : b + 10] for a, b in result.damage)
    assert result.detail == f"line 1, column {source.index(b'def (') + 1}: cannot be parsed from 'def (:'"
    cut = parsed(source[:-30])
    assert cut.fault is not None
    assert cut.reason == "syntax-errors"
    assert cut.detail == f"line 1, column {cut.fault + 1}: the notebook stops being JSON here"
    assert parsed(b"").status == "ok"


CELLS = st.lists(
    st.tuples(st.sampled_from(["code", "markdown", "raw"]), st.lists(st.text(max_size=8), max_size=4)),
    max_size=4,
)


@given(CELLS, st.booleans())
def test_every_cell_is_found(cells: list[tuple[str, list[str]]], ascii_only: bool) -> None:
    built = notebook(*(cell(kind, lines) for kind, lines in cells))
    source = json.dumps(built, indent=1, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    result = parsed(source)
    shown = [lines for _, lines in cells if "".join(lines).encode("utf-8", "replace").strip()]
    found = [s for s in result.symbols if s.kind in ("cell", "section")]
    assert len(found) == len(shown)
    for symbol, lines in zip(found, shown, strict=True):
        end = source.index(b"]", symbol.end)
        assert json.loads(b"[" + source[symbol.start : end] + b"]") == lines


@pytest.mark.parametrize("text", ["[", "{", '"', '"a":', '{"cells": [', "\\", ",", '{"a": "b", "c": '])
def test_repetition_takes_linear_time(text: str) -> None:
    assert grows_linearly(lambda size: parsed(text.encode() * size), 20_000)
