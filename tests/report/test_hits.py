"""Search results and chunks as text, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from ckvd.hit import Hit, OnDisk, Results
from ckvd.report import hits, hits_view, terminal

HIT = Hit(
    id=1,
    chunk_id="billing/cache.py::ShardedLRUCache._evict",
    path="billing/cache.py",
    language="python",
    unit="symbol",
    kind="method",
    grain="fine",
    symbol="ShardedLRUCache._evict",
    start_line=10,
    end_line=12,
    start_byte=100,
    end_byte=160,
    part=1,
    parts=1,
    rendering="source",
    tokens=40,
    score=0.8731,
    exact=True,
    header="class ShardedLRUCache:\n    '''Cache.'''",
    body="    def _evict(self):\n\treturn 1\n",
)
FOUND = Results((HIT,), total=7, revision=3, mode="hybrid")
CHUNK: dict[str, Any] = {
    "chunk_id": "a.py::f",
    "path": "a.py",
    "unit": "symbol",
    "kind": "function",
    "symbol": "f",
    "start_line": 9,
    "end_line": 10,
    "tokens": 12,
    "rendering": "source",
    "header": "import x",
    "body": "def f():\n    return x\n",
}


def text_of(results: Results, width: int = 80) -> str:
    return terminal.rendered(Console(width=width, color_system=None), [hits_view.screen(results)])


def test_json_has_all_that_the_contract_names() -> None:
    told = hits.as_json(FOUND)
    assert json.loads(json.dumps(told)) == told
    (row,) = told["results"]
    names = "chunk_id path symbol kind start_line end_line score header body"
    assert {name: row[name] for name in names.split()} == {name: getattr(HIT, name) for name in names.split()}
    assert (told["total"], told["revision"], told["mode"], told["note"]) == (7, 3, "hybrid", "")


def test_excerpts_show_rank_place_name_kind_and_score_then_context_apart() -> None:
    assert text_of(FOUND).split("\n") == [
        "1  billing/cache.py:10-12  ShardedLRUCache._evict  method  0.873 exact",
        "   ┆ class ShardedLRUCache:",
        "   ┆     '''Cache.'''",
        "       def _evict(self):",
        "       return 1",
        "",
        "7 in all",
        "",
    ]


def test_long_texts_are_cut_and_say_so() -> None:
    long = replace(HIT, header="\n".join("abcdef"), body="\n".join(f"line {i}" for i in range(1, 21)))
    shown = text_of(Results((long,), 1, 1, "keyword"))
    assert "┆ d\n   ┆ … 2 more lines\n" in shown
    assert "line 8\n   … 12 more lines\n" in shown
    wide = replace(HIT, body="x" * 500)
    assert max(map(len, text_of(Results((wide,), 1, 1, "keyword"), 60).split("\n"))) <= 71


def test_parts_notes_and_nothing_are_said() -> None:
    part = replace(HIT, part=2, parts=3, symbol=None, unit="window", exact=False)
    shown = text_of(Results((part,), 1, 1, "keyword", "the model is missing"))
    assert shown.startswith("keyword search: the model is missing\n")
    assert "<window>  method part 2 of 3  0.873\n" in shown
    assert text_of(Results((), 0, 1, "keyword")) == "Nothing was found.\n"


def test_control_characters_of_the_source_stay_in_the_index() -> None:
    evil = replace(
        HIT, path="a\x1b[2J.py", symbol="f\x07", header="\x1b]0;x\x07", body="a\x1b[31m\u202eb\r\n"
    )
    found = Results((evil,), 1, 1, "keyword", "\x1bnote")
    for shown in (text_of(found), hits.text(found), hits.markdown(found)):
        assert not set(shown) & set("\x1b\x07\u202e\r")
        assert "a\\x1b[31m\\u202eb" in shown


def test_markdown_is_whole_with_the_context_apart() -> None:
    assert hits.markdown(FOUND).split("\n") == [
        "## 1. `billing/cache.py:10-12` `ShardedLRUCache._evict` (method)",
        "",
        "Context:",
        "",
        "```python",
        "class ShardedLRUCache:",
        "    '''Cache.'''",
        "```",
        "",
        "Code:",
        "",
        "```python",
        "    def _evict(self):",
        "\treturn 1",
        "```",
        "",
    ]


def test_no_code_breaks_out_of_its_block() -> None:
    fenced = replace(HIT, header="", symbol="a`b", body="```\nrm -rf\n````\n")
    shown = hits.markdown(Results((fenced,), 1, 1, "keyword"))
    assert "`````python\n```\nrm -rf\n````\n`````\n" in shown
    assert "``a`b``" in shown


def test_text_is_whole_with_the_context_apart() -> None:
    other = replace(
        HIT, chunk_id="x", symbol="ShardedLRUCache.get", header="", header_of=HIT.chunk_id, body="b\n"
    )
    assert hits.text(Results((HIT, other), 7, 3, "keyword", "no model")).split("\n") == [
        "Note: keyword search; no model",
        "",
        "billing/cache.py:10-12  ShardedLRUCache._evict  method",
        "┆ class ShardedLRUCache:",
        "┆     '''Cache.'''",
        "    def _evict(self):",
        "\treturn 1",
        "",
        "billing/cache.py:10-12  ShardedLRUCache.get  method",
        "┆ that of billing/cache.py::ShardedLRUCache._evict above",
        "b",
        "",
        "7 in all",
        "",
    ]


@pytest.mark.parametrize("form", [hits.text, hits.markdown])
def test_a_context_told_above_is_named(form: Callable[[Results], str]) -> None:
    told = replace(HIT, header="", header_of="a.py::C.first")
    assert "a.py::C.first" in form(Results((told,), 1, 1, "keyword"))


@pytest.mark.parametrize("form", [hits.text, hits.markdown])
def test_nothing_is_said_to_be_nothing(form: Callable[[Results], str]) -> None:
    assert form(Results((), 0, 1, "keyword")) == "Nothing was found.\n"
    none = form(Results((), 3, 1, "keyword", "no hit has room in 5 tokens", 0))
    assert "no hit has room in 5 tokens" in none
    assert none.endswith("Nothing is shown.\n")


def test_a_chunk_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    hits_view.show_chunk(CHUNK | {"body": "def f():\n    return '" + "x" * 300 + "'\n"})
    assert capsys.readouterr().out.split("\n") == [
        "a.py:9-10  f  function  12 tokens",
        "",
        "┆ import x",
        "",
        "def f():",
        "    return '" + "x" * 300 + "'",
        "",
    ]


def drawn(chunk: dict[str, Any], *, numbered: bool) -> list[str]:
    console = Console(width=80, color_system=None)
    return terminal.rendered(console, [hits_view.chunk_screen(chunk, numbered=numbered)]).split("\n")


def test_lines_are_numbered_for_people() -> None:
    assert drawn(CHUNK, numbered=True)[4:6] == [" 9 def f():", "10     return x"]
    assert drawn(CHUNK | {"rendering": "outline"}, numbered=True)[4:6] == ["def f():", "    return x"]


def test_the_whole_file_marks_the_chunk() -> None:
    chunk = CHUNK | {"start_line": 2, "end_line": 2, "file": "a\nb\x1b\nc\n"}
    assert drawn(chunk, numbered=False)[2:5] == ["1   a", "2 ▌ b\\x1b", "3   c"]


@pytest.mark.parametrize("form", [hits.text, hits.markdown, text_of])
def test_a_body_begins_as_deep_as_it_stands_in_its_file(form: Callable[[Results], str]) -> None:
    cut = replace(HIT, header="", body="@cached\n    def f(self): ...\n", indent="    ")
    lines = form(Results((cut,), 1, 1, "keyword")).split("\n")
    first, second = (next(line for line in lines if word in line) for word in ("@cached", "def f"))
    assert first.index("@") == second.index("d")


@pytest.mark.parametrize("form", [hits.text, hits.markdown, lambda found: text_of(found, 120)])
@pytest.mark.parametrize(
    ("state", "said"), [("changed", "has changed since it was indexed"), ("gone", "is gone")]
)
def test_a_file_that_is_another_now_is_said_to_be(
    form: Callable[[Results], str], state: OnDisk, said: str
) -> None:
    now = replace(HIT, on_disk=state)
    assert f"(the file {said})" in form(Results((now,), 1, 1, "keyword"))
    assert "(the file" not in form(FOUND)
