"""JSON, TOML, YAML and templates: their keys, tables and definitions."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from effort import grows_linearly
from hypothesis import given
from hypothesis import strategies as st

from ckvd.languages.detect import detect
from ckvd.model import Parsed
from ckvd.parse import parse

DATA = Path(__file__).parent / "data"


def parsed(path: str, source: bytes) -> Parsed:
    language = detect(path, source)
    assert language is not None
    return parse(path, source, language)


def rows(source: bytes, result: Parsed) -> list[tuple[str, int, int]]:
    """Each symbol with its first and last line."""
    return [
        (s.symbol, source.count(b"\n", 0, s.start) + 1, source.count(b"\n", 0, s.end - 1) + 1)
        for s in result.symbols
    ]


def from_file(name: str) -> tuple[bytes, Parsed]:
    source = (DATA / name).read_bytes()
    return source, parsed(name, source)


def test_yaml_has_the_keys_of_each_document() -> None:
    source, result = from_file("plain.yaml")
    assert (result.status, result.reason) == ("ok", None)
    assert rows(source, result) == [
        ("base", 2, 6), ("job one", 7, 13), ("job one", 15, 15), ("dup", 16, 16), ("dup", 17, 17),
    ]  # fmt: skip
    assert {(s.kind, s.chunked) for s in result.symbols} == {("property", False)}
    assert result.symbols[0].doc == "multi-document, anchors, tags, block scalars"


def test_helm_s_yaml_is_a_template_and_no_failure() -> None:
    source, result = from_file("deploy.yaml")
    assert (result.status, result.reason, result.damage) == ("ok", "template", ())
    assert rows(source, result)[:4] == [
        ("apiVersion", 2, 2),
        ("kind", 3, 3),
        ("metadata", 4, 6),
        ("spec", 7, 8),
    ]
    assert [s.name for s in result.symbols[4:]] == ["apiVersion", "kind", "metadata"]
    pieces = [source[a:b] for a, b in result.pieces(0, len(source))]
    assert b"".join(pieces) == source
    assert [piece.split(b"\n")[0] for piece in pieces[:5]] == [*source.split(b"\n")[:4], b"spec:"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("on:\n  push:\n'x y': 1\n\"q\": 2\n", ["on", "x y", "q"]),
        ("list:\n- a: 1\n- b: 2\nurl: http://x # y: z\n", ["list", "url"]),
        ("text: |\n  no: 1\n\n  # no: 2\nlast: 1", ["text", "last"]),
        ('{"a": 1,\n"b": 2}\n', []),
        ("- a: 1\n- b: 2\n", []),
        ("%YAML 1.2\n---\na: 1\n...\n---\nb: 1\n", ["a", "b"]),
        ("? complex\n: value\na: 1\n", ["a"]),
        ("a::b: 1\nc#d: 2\n", ["a::b", "c#d"]),
        ("a: 1\r\nb:\r\n  c: 2\r\n", ["a", "b"]),
        ("# only a comment\n", []),
    ],
)
def test_yaml_keys(source: str, expected: list[str]) -> None:
    result = parsed("a.yml", source.encode())
    assert result.status == "ok", result.detail
    assert [s.name for s in result.symbols] == expected


def test_yaml_that_is_none_says_where() -> None:
    result = parsed("a.yaml", b"a: 1\nb: [1,\nc: 2\n")
    assert (result.status, result.reason) == ("partial", "syntax-errors")
    assert result.detail == "line 2, column 4: this bracket has no end"
    assert {s.name: s.clean for s in result.symbols} == {"a": True, "b": False, "c": True}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('a: "b\nc: 1\n', "line 1, column 4: this quote has no end"),
        ("a: 1\nb: 'x\n\n\n", "line 2, column 4: this quote has no end"),
        ("é: {b: 1\n", "line 1, column 5: this bracket has no end"),
        ("a: 1\nb\n", "line 2, column 1: could not find expected ':'"),
        ("a:\n  b: 1\n c: 2\n", "line 3, column 2: did not find expected key"),
        ("a: [1, 2\nb: 3\nc: ]\n", "line 2, column 2: did not find expected ',' or ']'"),
        ("a:\n\tb: 1\n", "line 2, column 1: found a tab where spaces are needed"),
        ("a: @x\n", "line 1, column 4: found character that cannot start any token"),
    ],
)
def test_yaml_names_a_place_within_its_damage(source: str, said: str) -> None:
    result = parsed("a.yaml", source.encode())
    assert (result.status, result.detail) == ("partial", said)
    ((start, end),) = result.damage
    assert result.fault is not None
    assert start <= result.fault < end
    line = source.encode().count(b"\n", 0, result.fault) + 1
    assert said.startswith(f"line {line}, ")


def test_json_keys_with_their_escapes() -> None:
    source, result = from_file("dup.json")
    assert result.status == "ok"
    assert [source[s.start : s.end] for s in result.symbols] == [
        b'"a": {"b.c": [1, {"d": null}]}', b'"a": 2', b'"\\u00fc": "\\ud83d\\ude00"',
    ]  # fmt: skip
    assert [s.name for s in result.symbols] == ["a", "a", "\\u00fc"]
    assert result.header == ()


def test_json_with_comments_and_trailing_commas() -> None:
    _, result = from_file("tsconfig.json")
    assert result.status == "ok"
    assert [s.name for s in result.symbols] == ["compilerOptions"]
    assert parsed("a.json", b'{"a": [1, 2\n').status != "ok"
    assert parsed("a.json", b'{"a": ",]", "b": 1,}').status == "ok"


def test_toml_tables_end_where_the_next_one_s_comment_begins() -> None:
    source = b'a = 1\n\n[tool.ruff]\nx = 1\n\n# Doc.\n[[pkg."a.b"]]\ny = """\n# text"""\n# tail\n\n[q]\n'
    result = parsed("a.toml", source)
    assert [(s.symbol, s.kind, source[s.start : s.end]) for s in result.symbols] == [
        ("a", "property", b"a = 1"),
        ("tool.ruff", "table", b"[tool.ruff]\nx = 1"),
        ('pkg."a.b"', "table", b'[[pkg."a.b"]]\ny = """\n# text"""'),
        ("q", "table", b"[q]"),
    ]
    assert result.symbols[2].doc == "Doc."
    assert source[result.symbols[2].lead :].startswith(b"# Doc.\n[[pkg")


def test_go_templates_define() -> None:
    source, result = from_file("_helpers.tpl")
    assert rows(source, result) == [("app.labels", 1, 3), ("app.name", 4, 4)]
    nested = parsed(
        "a.tpl", b'{{ define "a" }}{{ if .x }}{{ end }}{{ block "b" . }}{{ end }}{{ end }}{{ define "c" }}'
    )
    assert [(s.name, s.scope, s.end) for s in nested.symbols] == [
        ("a", None, 71),
        ("b", 0, 62),
        ("c", None, 87),
    ]


@pytest.mark.parametrize(
    ("path", "comment", "doc"),
    [
        ("a.tpl", '{{/*\nThe name.\n\n{{ include "a" . }}{{ define "b" }}\n*/}}\n', "The name."),
        ("a.tpl", "{{- /* The name. */ -}}\n", "The name."),
        ("a.j2", "{#- The name.\n    Of it. -#}\n", "The name. Of it."),
        ("a.tpl", "{{/* Of all. */}}\n\n", ""),
        ("a.tpl", "x {{/* Of x. */}}\n", ""),
        ("a.tpl", "{{ .Values.x }}\n", ""),
    ],
)
def test_a_comment_above_a_definition_is_on_it(path: str, comment: str, doc: str) -> None:
    tag = b'{{ define "a" }}1{{ end }}' if path == "a.tpl" else b"{% macro a() %}1{% endmacro %}"
    (symbol,) = parsed(path, comment.encode() + tag).symbols
    assert (symbol.name, symbol.start, symbol.doc) == ("a", len(comment), doc)
    assert symbol.lead == (0 if doc else len(comment))


def test_expressions_that_begin_like_a_tag_open_and_close_nothing() -> None:
    result = parsed(
        "a.j2",
        b"{% block a %}{{ block.super }}{{ end_date }}{{ end.day }}{% endblock %}{% block b %}{% endblock %}",
    )
    assert [(s.name, s.scope, s.end) for s in result.symbols] == [("a", None, 71), ("b", None, 98)]


@pytest.mark.parametrize(
    ("path", "source", "said"),
    [
        ("a.j2", "{% macro m() %}\nx\n{% endmacro %}\n{{ x }\n", "line 4, column 1: this tag has no end"),
        ("a.tpl", "a\n b {{ if .x }\nc\n", "line 2, column 4: this tag has no end"),
        ("a.j2", "{% if x\n", "line 1, column 1: this tag has no end"),
        ("a.j2", "${#array} {{ x }}{% if a %}{# {{ #}{# no end", None),
        ("a.tpl", '{{ "{{" }} {{/* }} {{ */}} {{- x -}}', None),
    ],
)
def test_a_tag_of_a_template_that_nothing_closes_is_damage(path: str, source: str, said: str | None) -> None:
    result = parsed(path, source.encode())
    assert (result.reason, result.detail) == ("syntax-errors" if said else None, said)
    assert (result.status == "ok") == (said is None)


def test_jinja_macros_blocks_and_code_with_tags_in_it() -> None:
    result = parsed(
        "a.j2", b"{% macro m(a) -%}{% if a %}{% endif %}{%- endmacro %}{% block t %}{% endblock %}"
    )
    assert [(s.name, s.kind, s.end) for s in result.symbols] == [("m", "macro", 53), ("t", "block", 80)]
    source = (
        b"import os\n{% if cookiecutter.x == 'y' %}\nclass {{ cookiecutter.name }}Config(Base):\n"
        b"    def m(self):\n        return {{ x }}\n{% endif %}\n"
    )
    result = parsed("a.py", source)
    assert (result.status, result.reason) == ("ok", "template")
    assert [s.symbol for s in result.symbols] == [
        "{{ cookiecutter.name }}Config",
        "{{ cookiecutter.name }}Config.m",
    ]
    assert result.symbols[0].signature == "class {{ cookiecutter.name }}Config(Base)"
    assert (
        parsed(
            "a.html", b"{% block b %}<script>var a = {{ x|json }};function f(){}</script>{% endblock %}"
        ).status
        == "ok"
    )


LINES = st.sampled_from(
    ["a: 1", "b:", "  c: |", "    x", "- d", "---", "...", "# e", "", '"q": {', "}", "[", "\t", "{{ x }}",
     "? k", ": v", "'", "&a b: 1", "é: 1", "{% if %}"]
)  # fmt: skip


@given(st.lists(LINES).map("\n".join))
def test_yaml_symbols_lie_in_order(text: str) -> None:
    source = text.encode()
    result = parsed("a.yaml", source)
    assert (result.status == "ok") == (not result.damage)
    for symbol in result.symbols:
        assert symbol.lead <= symbol.start <= symbol.name_start < symbol.end <= len(source)
    assert all(one.end <= two.lead for one, two in pairwise(result.symbols))
    pieces = result.pieces(0, len(source))
    assert not pieces or b"".join(source[a:b] for a, b in pieces) == source


@pytest.mark.parametrize("path", ["a.yaml", "a.tpl", "a.json", "a.toml"])
@pytest.mark.parametrize(
    "text",
    ["- ", "[", "{a: ", "a: 1\n", "{{ ", '{{ define "a" }}', "{{/* }}", "? ", '"', "'", "&a ", "/*", ", "],
)
def test_repetition_takes_linear_time_and_nesting_no_stack(path: str, text: str) -> None:
    assert grows_linearly(lambda size: parsed(path, text.encode() * size), 10_000)


def test_braces_of_the_language_are_no_tags() -> None:
    source = b"def f([{{:a, 1}, x}) do\n  x\nend\ndef g, do: {{:b}, 1}}\ndef h, do: {{1, 2}, {3, 4}}\n"
    result = parsed("a.ex", source)
    assert result.reason == "syntax-errors"
    assert {"f", "g", "h"} == {s.name for s in result.symbols}
