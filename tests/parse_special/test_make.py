"""Makefiles: targets, defines and variables, read line by line."""

from __future__ import annotations

import pytest
from effort import grows_linearly
from hypothesis import given
from hypothesis import strategies as st

from ckvd import languages
from ckvd.model import Parsed
from ckvd.parse import parse


def parsed(source: bytes) -> Parsed:
    return parse("Makefile", source, languages.get("make"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a: b\n\tc\n", ["target a"]),
        ("a b:: c\n", ["target a", "target b"]),
        ("a b &: c\n", ["target a", "target b"]),
        (".PHONY: a\n.gitignore: b\n", ["target .gitignore"]),
        ("%.o: %.c\n\tcc\n", ["target %.o"]),
        ("$(call f,a:b): c\n", ["target $(call f,a:b)"]),
        ("a: ; b=c d: e\n", ["target a"]),
        ("a: B = c\na: private B := c\n", []),
        ("a: b=c\n", []),
        ("A=b\nC := d\nE ?= f\nG != h\nI ::= j\nA += k\n", [f"variable {name}" for name in "ACEGI"]),
        ("export A = b\noverride C = d\nexport E\n", ["variable A", "variable C"]),
        ("A = b \\\n  c: d \\\n  e\nf:\n", ["variable A", "target f"]),
        ("$(A)_b = c\n${A}.d = e\n", ["variable $(A)_b", "variable ${A}.d"]),
        ("define a\nb: c\ndefine d\nendef\nendef\ne:\n", ["macro a", "target e"]),
        ("# a: b\ninclude c.mk\n-include d\nvpath %.c e\n", []),
        ("ifeq (a,b)\nc:\nelse ifdef d\ne:\nendif\n", ["target c", "target e"]),
        ("a:\n\tb: c\n\td = e\n", ["target a"]),
        ("a: # b = c\n", ["target a"]),
        ("", []),
    ],
)
def test_names(source: str, expected: list[str]) -> None:
    result = parsed(source.encode())
    assert [f"{s.kind} {s.symbol}" for s in result.symbols] == expected
    assert result.status == "ok"


def test_a_rule_ends_with_its_recipe() -> None:
    source = b"a: b\n\n\tc \\\n  d\n# e\n\tf\n\nifdef g\nh:\n\ti\nendif\n"
    found = {s.symbol: source[s.start : s.end] for s in parsed(source).symbols}
    assert found == {"a": b"a: b\n\n\tc \\\n  d\n# e\n\tf", "h": b"h:\n\ti"}


@pytest.mark.parametrize(
    ("source", "doc"),
    [
        (b"# Does a.\n#\n# At length.\na:\n\tb\n", "Does a."),
        (b"# apart\n\na:\n\tb\n", ""),
        (b"a: c ## Does a.\n\tb\n", "Does a."),
    ],
)
def test_documentation(source: bytes, doc: str) -> None:
    assert parsed(source).symbols[0].doc == doc


@pytest.mark.parametrize(
    ("source", "line", "what"),
    [
        (b"a: b\nthis is wrong\n", 2, "this line has no separator"),
        (b"a: b\ndefine c\nd\n", 2, "this define has no endef"),
        (b"a: b\nifdef c\nd: e\n", 2, "this condition has no endif"),
        (b"a: b\nendif\n", 2, "this endif belongs to no condition"),
    ],
)
def test_damage_is_named(source: bytes, line: int, what: str) -> None:
    result = parsed(source + b"\nmore: again\n" * (b"define" not in source) * 9 + b"# " * 30)
    assert result.status == "partial"
    assert result.detail == f"line {line}, column 1: {what}"
    assert result.symbols[0].clean


@pytest.mark.parametrize(
    "text",
    [
        *"$(){}:;=#\\ &",
        "a ",
        "$(",
        "${a",
        "a:",
        "\\\n",
        "a\\\n",
        "define a\n",
        "ifdef a\n",
        "\t",
        "a:\n\tb\n",
    ],
)
def test_repetition_takes_linear_time(text: str) -> None:
    assert grows_linearly(lambda size: parsed(text.encode() * size), 20_000)


@given(st.text("ab$(){}:;=#\\\t+?!&\n .", max_size=60) | st.text("define\nabc\t: =#", max_size=80))
def test_any_text_gives_ordered_symbols_inside_it(text: str) -> None:
    source = text.encode()
    result = parsed(source)
    places = [(s.start, -s.end) for s in result.symbols]
    assert places == sorted(places)
    for symbol in result.symbols:
        assert 0 <= symbol.lead <= symbol.start <= symbol.name_start < symbol.end <= len(source)
    for start, end in result.pieces(0, len(source)):
        assert 0 <= start < end <= len(source)
    assert (result.status == "ok") == (not result.damage)
