"""Code inside other text: each island by its own grammar, at the file's own offsets."""

from __future__ import annotations

from pathlib import Path

import pytest
from effort import grows_linearly

from ckvd.languages.detect import detect
from ckvd.model import Parsed
from ckvd.parse import parse

TEMPLATES = Path(__file__).parent / "templates"


def parsed(path: str, source: bytes) -> Parsed:
    language = detect(path, source)
    assert language is not None
    return parse(path, source, language)


def shown(source: bytes, result: Parsed) -> list[tuple[str, str, bytes]]:
    return [(s.symbol, s.kind, source[s.start : s.end]) for s in result.symbols]


def test_ruby_and_scripts_in_erb() -> None:
    source = (TEMPLATES / "rows.html.erb").read_bytes()
    result = parsed("rows.html.erb", source)
    assert (result.status, result.language) == ("ok", "erb")
    assert [(s.symbol, s.start, s.end) for s in result.symbols] == [
        ("drawRows", 204, 254),
        ("local_helper", 277, 320),
    ]


def test_code_in_a_tag_may_begin_with_a_comment() -> None:
    source = b"<% # only a comment, def fake %>\n<%\n# Doc.\ndef row\n  1\nend %>\n"
    assert [(s.symbol, s.doc) for s in parsed("a.erb", source).symbols] == [("row", "Doc.")]


def test_a_value_that_is_printed_as_it_is() -> None:
    source = b"<p><%== title %></p>\n<% def row %>\n<% end %>\n<script>\n f(<%== data %>)\n</script>\n"
    result = parsed("a.erb", source)
    assert (result.status, [s.symbol for s in result.symbols]) == ("ok", ["row"])


def test_javascript_in_ejs() -> None:
    source = (TEMPLATES / "list.ejs").read_bytes()
    result = parsed("list.ejs", source)
    assert result.status == "ok"
    assert [(s.symbol, s.start) for s in result.symbols] == [("partial", 3)]
    both = b"<% if (a) { %>x<% } else { %>y<% } %><%= a %><%- b %><script>let n = <%= n %>;\nf(n)</script>"
    assert parsed("a.ejs", both).status == "ok"


def test_what_a_template_quotes_defines_nothing() -> None:
    source = (
        b"{% raw %}{% macro no() %}{% endmacro %}{% endraw %}\n"
        b"{% verbatim a %}{% block no %}{% endverbatim a %}\n"
        b"{% macro yes() %}{% raw %}{% endmacro %}{% endraw %}y{% endmacro %}\n"
        b"{% raw %}{% block open %}{% endblock %}\n"
    )
    yes = source[source.index(b"{% macro yes") : source.index(b"\n{% raw %}{% block open")]
    opened = b"{% block open %}{% endblock %}"
    assert shown(source, parsed("a.j2", source)) == [("yes", "macro", yes), ("open", "block", opened)]


def test_scripts_and_styles_around_php() -> None:
    source = (
        b"<script>\nfunction s1() { return <?= $x ?>; }\nf(<?php echo g('?>') ?>);\n</script>\n"
        b"<style>.z { a: b }</style>\n<?php\n// it's ?>\n<?php\n$a = <<<EOT\ndon't ?>\n"
        b"<script>function no() {}</script>\nEOT;\n"
        b"function mid() { return '<script>function no() {}</script>'; } # don't\nif ($a): ?>\n"
        b"<script>function s2() {}</script>\n<?php endif; class Z {}\n"
    )
    result = parsed("a.php", source)
    assert (result.status, result.language) == ("ok", "php")
    assert [s.symbol for s in result.symbols] == ["s1", ".z", "a", "mid", "s2", "Z"]
    tagged = b"<script>\nconst m = {{ f($x) }};\nfunction g() {}\n</script>\n"
    assert parsed("a.php", tagged).status == "ok"


def test_vue_with_two_scripts() -> None:
    source = (
        b'<template><div v-if="a > 1">{{ x }}</div></template>\n'
        b'<script setup lang="ts" generic="T extends A<B>">\n'
        b"import { ref } from 'vue'\n"
        b"/** Sums. */\n"
        b"function add(a: number): number { return a }\n"
        b"const x = ref(0)\n"
        b"</script><script>\nexport function plain() {}</script>\n"
    )
    result = parsed("A.vue", source)
    assert result.status == "ok"
    assert shown(source, result) == [
        ("add", "function", b"function add(a: number): number { return a }"),
        ("x", "constant", b"const x = ref(0)"),
        ("plain", "function", b"export function plain() {}"),
    ]
    assert result.symbols[0].doc == "Sums."
    assert [source[h.start : h.end] for h in result.header] == [
        b"import { ref } from 'vue'",
        b"const x = ref(0)",
    ]


def test_html_takes_scripts_alone() -> None:
    source = (
        b"<html><!-- <script>function no(){}</script> -->\n"
        b'<script type="text/template"><div>function no(){}</div></script>\n'
        b'<script>function a(){}</script><script>function b(){ return "</div>" }\n'
        b"</script><SCRIPT type=module>export class C { m(){} }</SCRIPT>\n"
        b"<p>function no(){}<script src=x></script></p><script>function open(){ }\n"
    )
    result = parsed("i.html", source)
    assert result.status == "ok"
    assert [s.symbol for s in result.symbols] == ["a", "b", "C", "C.m", "open"]
    assert result.symbols[3].scope == 2
    assert next(source[a:b] for a, b in result.pieces(0, len(source))) == b"function a(){}"


def test_styles_are_islands() -> None:
    source = (
        b"<style>\n.a { color: red }\n</style>"
        b'<style lang="scss">\n.b {\n  // {\n  &:hover { c: d }\n}\n</style>\n'
        b'<style type="text/css"><!-- h1, h2 { e: f } --></style>'
        b'<style lang="stylus">\n.no\n  a b\n</style>\n'
    )
    result = parsed("A.vue", source)
    assert result.status == "ok"
    assert shown(source, result) == [
        (".a", "rule", b".a { color: red }"),
        (".b", "rule", b".b {\n  // {\n  &:hover { c: d }\n}"),
        (".b.&:hover", "rule", b"&:hover { c: d }"),
        ("h1", "rule", b"h1, h2 { e: f }"),
        ("h2", "rule", b"h1, h2 { e: f }"),
    ]
    assert [s.scope for s in result.symbols] == [None, None, 1, None, None]


@pytest.mark.parametrize("lang", ["css", "postcss", "scss"])
def test_styles_by_the_language_that_they_name(lang: str) -> None:
    source = f'<i/>\n<style lang="{lang}" scoped>\n.a {{\n  .b {{ color: red; }}\n}}\n</style>\n'
    given = parsed("a.vue", source.encode())
    assert [s.symbol for s in given.symbols] == [".a", ".a..b"]


def test_svelte_and_damage_in_a_script() -> None:
    source = (
        b"<script>\nexport function fine() { return 1 }\nfunction broken( {\n</script>\n"
        b"{#if a}<p>{a}</p>{/if}\n" + b"<p>text</p>\n" * 20
    )
    result = parsed("x.svelte", source)
    assert (result.status, result.reason) == ("partial", "syntax-errors")
    assert "fine" in [s.name for s in result.symbols]
    assert result.detail is not None
    assert result.detail.startswith("line 3, column ")


@pytest.mark.parametrize(
    ("path", "source", "detail"),
    [
        ("a.erb", "<% if a %>\n <% foo( %>\n<% end %>", "line 2, column 9: ')' seems to be missing"),
        ("a.vue", "<script>\nf = {\n  a: 1\n</script>\n", "line 3, column 7: '}' seems to be missing"),
        ("a.html", "<p>\n<script>\n let a = ;\n</script>\n", "line 3, column 8: cannot be parsed from '= ;'"),
        (
            "b.html",
            "<script>\n  f(1;\n</script>\n<style>\n a { b: \n</style>",
            "line 2, column 6: cannot be parsed from ';'",
        ),
    ],
)
def test_what_is_said_is_of_the_line_in_the_file(path: str, source: str, detail: str) -> None:
    result = parsed(path, source.encode())
    assert result.detail == detail
    assert result.fault is not None
    assert f"line {source.count(chr(10), 0, result.fault) + 1}, " in detail


@pytest.mark.parametrize("path", ["a.html", "a.vue", "a.erb", "a.ejs"])
@pytest.mark.parametrize(
    "text", ["<script>", "<script", "<!--", "<%", "<% end %>", "<style>a{", '<script a="']
)
def test_repetition_takes_linear_time(path: str, text: str) -> None:
    assert grows_linearly(lambda size: parsed(path, b"%>" + text.encode() * size), 20_000)


@pytest.mark.parametrize("text", ['<?="', "<?php # ?", "?><script>"])
def test_repetition_in_php_takes_linear_time(text: str) -> None:
    assert grows_linearly(lambda size: parsed("a.php", b"<script></script>" + text.encode() * size), 4_000)
