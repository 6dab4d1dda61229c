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


@pytest.mark.parametrize(
    ("first", "names"),
    [
        ("%%time", ["f"]),
        ("%%timeit -n 10", ["f"]),
        ("%%capture out\n%%time", ["f"]),
        ("\n%%prun", ["f"]),
        ("%%bash", []),
        ("%%writefile a.py", []),
        ("%%cython", []),
        ("%%timeseries", []),
    ],
)
def test_a_cell_that_is_timed_or_captured_is_python(first: str, names: list[str]) -> None:
    result = parsed(json.dumps(notebook(cell("code", f"{first}\ndef f():\n    return 1\n"))).encode())
    assert result.status == "ok"
    assert [s.name for s in result.symbols if s.kind == "function"] == names


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
    assert parsed(b"").status == parsed(b" \n").status == "ok"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("this is not json\n", "line 1, column 1: this is no JSON"),
        ("<html>not json</html>", "line 1, column 1: this is no JSON"),
        ("hello {{{", "line 1, column 1: this is no JSON"),
        ('\n{"a": 1}', "line 2, column 1: a notebook has 'cells', and there are none in this JSON"),
        ('[{"cells": []}]', "line 1, column 1: a notebook has 'cells', and there are none in this JSON"),
        ('{"cells": []} x', "line 1, column 15: this is no JSON"),
        ('{"cells": [],\n }', "line 2, column 2: the notebook stops being JSON here"),
        ('{"cells": [],\n "a": 01}', "line 2, column 7: the notebook stops being JSON here"),
        ('{"cells": [],\n "a": "\n"}', "line 2, column 7: the notebook stops being JSON here"),
        ('{"cells": [], "a": ["\\d"]}', "line 1, column 21: the notebook stops being JSON here"),
        ('{"cells": [] "a": 1}', "line 1, column 14: the notebook stops being JSON here"),
    ],
)
def test_what_is_no_notebook_says_where_and_why(source: str, said: str) -> None:
    result = parsed(source.encode())
    assert (result.status, result.reason, result.detail) == ("failed", "syntax-errors", said)
    assert result.fault == result.damage[0][0]


@pytest.mark.parametrize(
    "source",
    [
        '{"worksheets": [], "nbformat": 3}',
        '{"cells": [], "a": [-1.5e+3, 0, NaN, -Infinity, true, null, {}, "\\u00e9\\/"]}',
    ],
)
def test_old_and_odd_notebooks_are_notebooks(source: str) -> None:
    assert parsed(source.encode()).status == "ok"


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(JSON, st.integers(0, 200), st.sampled_from(list('{}[]:,"\\0ax\n ')), st.booleans())
def test_what_the_standard_library_reads_is_json(value: Any, at: int, mark: str, put: bool) -> None:
    text = json.dumps({"cells": [], "metadata": value})
    if put:
        text = text[:at] + mark + text[at + 1 :]
    try:
        read = json.loads(text)
    except json.JSONDecodeError:
        read = None
    ok = isinstance(read, dict) and "cells" in read
    assert (parsed(text.encode()).status == "ok") == ok


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
