"""Style sheets: selectors, at-rules, mixins and variables, whatever stands around them."""

from __future__ import annotations

import pytest
from effort import grows_linearly
from hypothesis import given
from hypothesis import strategies as st

from ckvd import languages
from ckvd.model import Parsed
from ckvd.parse import parse


def parsed(source: bytes, language: str = "css") -> Parsed:
    return parse(f"a.{language}", source, languages.get(language))


def symbols(source: bytes, language: str = "css") -> list[tuple[str, str, int, int]]:
    return [(s.kind, s.symbol, s.start, s.end) for s in parsed(source, language).symbols]


def test_each_selector_of_a_list_is_a_row_of_the_same_range() -> None:
    source = b'a:is(b, c),\n.d[x="1,2"]::before{e:f}'
    assert symbols(source) == [
        ("rule", "a:is(b, c)", 0, 36),
        ("rule", '.d[x="1,2"]::before', 0, 36),
    ]
    assert [s.name_start for s in parsed(source).symbols] == [0, 12]
    assert parsed(source).status == "ok"


_DOCUMENT = "@-moz-document url(http://a{b)"


def test_the_first_selector_qualifies_what_is_nested() -> None:
    source = b".a, .b {\n  &__c {\n    d: e;\n  }\n}\n"
    result = parsed(source, "scss")
    assert [(s.symbol, s.scope, s.chunked) for s in result.symbols] == [
        (".a", None, True),
        (".b", None, False),
        (".a.&__c", 0, True),
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("@media print { a { b: c } }", ["@media print", "@media print.a"]),
        ("@keyframes x { from { a: b } }", ["x"]),
        ("@-moz-document url(http://a{b) { c { d: e } }", [_DOCUMENT, f"{_DOCUMENT}.c"]),
        ("@page :first { a: b }", ["@page :first"]),
        ("@property --x { syntax: '*' }", ["@property --x"]),
        ("a { b: url(//x.y/;{) }", ["a"]),
        ("a { b: 'it\\'s }'; c: \"{\" }", ["a"]),
        ("a/*{*/b { c: d }", ["a b"]),
        ("<!-- a { b: c } -->", ["a"]),
        ("a { --x: { y: z } }", ["a"]),
        (".\\{ { a: b }", [".\\{"]),
        ("", []),
        ("a { b: c", ["a"]),
    ],
)
def test_names_in_css(source: str, expected: list[str]) -> None:
    assert [s.symbol for s in parsed(source.encode()).symbols] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("@mixin m($a: (b: c), $d...) { e: $a }", ["m"]),
        ("@function f($a) { @return $a; }", ["f"]),
        ("$a-b: 1px !default; $m: (a: b, c: d);", ["$a-b", "$m"]),
        ("@function f($a) { $b: $a; @return $b; }", ["f"]),
        ("@each $k, $v in $m { .a-#{$k} { b: $v } }", [".a-#{$k}"]),
        ("@include m { .a { b: c } }", [".a"]),
        (".a { font: { size: 1px } // } {\n &:hover { b: c } }", [".a", ".a.&:hover"]),
        (".a { @at-root .b & { c: d } }", [".a", ".a..b &"]),
        ("%p { a: b } .c { @extend %p; }", ["%p", ".c"]),
        (".a { --#{$prefix}b: c }", [".a", ".a.--#{$prefix}b"]),
    ],
)
def test_names_in_scss(source: str, expected: list[str]) -> None:
    result = parsed(source.encode(), "scss")
    assert [s.symbol for s in result.symbols] == expected
    assert result.status == "ok"


@pytest.mark.parametrize(
    ("source", "line", "what"),
    [
        (b"a {\n  b: c;\n\nd {\n  e: f;\n}\n", 1, "this { has no }"),
        (b"a { b: c }\n}\n", 2, "this } closes nothing"),
        (b"a { b: c(d; }\n", 1, "this ( is not closed"),
        (b"a { b c; d: e }\n", 1, "this is neither a declaration nor a rule"),
        (b"a { b: 'c\n; }\n", 1, "what is quoted here has no end"),
        (b"a { b: c }\n/* d", 2, "this comment has no end"),
        (b"{ a: b }", 1, "this block belongs to no rule"),
    ],
)
def test_damage_is_named(source: bytes, line: int, what: str) -> None:
    result = parsed(b" " * 40 + source + b"\nlast { a: b }\n" * (b"/*" not in source))
    assert result.status == "partial"
    assert result.detail is not None
    assert result.detail.startswith(f"line {line}, column ")
    assert result.detail.endswith(what)


def test_a_rule_without_its_brace_spares_those_behind_it() -> None:
    source = b"a {\n  b: c;\n}\n\nd {\n  e: f;\n\n@media x {\n.g {\n  h: i;\n}\n}\n\nj {\n  k: l;\n}\n"
    result = parsed(source)
    assert [(s.symbol, s.clean) for s in result.symbols] == [
        ("a", True),
        ("d", False),
        ("@media x", True),
        ("@media x..g", True),
        ("j", True),
    ]


def test_a_name_of_several_words_is_used_where_all_of_them_are() -> None:
    result = parsed(b"$main-color: red;\n$main-size: 1px;\n", "scss")
    assert [h.names for h in result.header] == [{"$main-color"}, {"$main-size"}]


def test_template_tags_are_no_blocks() -> None:
    result = parsed(
        b"a { b: {{ c }}; d: {% if e %}f{% endif %}; }\n{% for x in y %}.g { h: i }{% endfor %}\n"
    )
    assert result.status == "ok"
    assert [s.symbol for s in result.symbols] == ["a", ".g"]


@pytest.mark.parametrize("language", ["css", "scss"])
@pytest.mark.parametrize(
    "text",
    [
        *"{}()[];:,'\"\\/#@*&",
        "a{",
        '"#{',
        "'\\",
        "url(",
        "url(\\",
        'url(#{"',
        "/*",
        "//",
        "a,",
        "a{b(}",
        "@media{",
    ],
)
def test_repetition_takes_linear_time(text: str, language: str) -> None:
    assert grows_linearly(lambda size: parsed(text.encode() * size, language), 20_000)


@given(st.text("a-b#$@{}()[];:,.'\"\\/*&\n ", max_size=60), st.sampled_from(["css", "scss"]))
def test_any_text_gives_ordered_symbols_inside_it(text: str, language: str) -> None:
    source = text.encode()
    result = parsed(source, language)
    places = [(s.start, -s.end) for s in result.symbols]
    assert places == sorted(places)
    for symbol in result.symbols:
        assert 0 <= symbol.lead <= symbol.start <= symbol.name_start < symbol.end <= len(source)
        if symbol.scope is not None:
            outer = result.symbols[symbol.scope]
            assert outer.start <= symbol.start
            assert symbol.end <= outer.end
    for start, end in result.pieces(0, len(source)):
        assert 0 <= start < end <= len(source)
    assert (result.status == "ok") == (not result.damage)
