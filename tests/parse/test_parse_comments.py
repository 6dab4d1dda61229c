"""A comment without its end is damage, and costs no more than itself."""

from __future__ import annotations

import pytest
from parse_support import parsed


@pytest.mark.parametrize(
    ("language", "source", "kept"),
    [
        ("ocaml", "let first x = x\n\n(* torn\nlet second x = x\n\nlet third x =\n  x\n", ["first", "third"]),
        ("ocaml_interface", "val first : int\n\n(* torn\nval second : int\n", ["first"]),
        ("haskell", "first x = x\n\n{- torn\nsecond x = x\n\nthird x =\n  x\n", ["first", "third"]),
        ("powershell", "function first { 1 }\n<# torn\nfunction second { 1 }\n", ["first"]),
        ("objc", "int first(void) { return 1; }\n/* torn\nint second(void) { return 1; }\n", ["first"]),
    ],
)
def test_a_comment_without_its_end(language: str, source: str, kept: list[str]) -> None:
    result = parsed(language, source.encode())
    assert result.status in ("partial", "failed")
    assert result.damage
    assert {*kept} <= {s.symbol for s in result.symbols}


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("ocaml", "let a = 1\n(* the end *)"),
        ("ocaml", '(* "*)" *)\nlet a = 1\n(**)\n'),
        ("haskell", "a = 1\n{- {- nested -} -}\n"),
        ("powershell", "function a { 1 }\n<# the end #>"),
    ],
)
def test_a_comment_at_the_end(language: str, source: str) -> None:
    assert parsed(language, source.encode()).status == "ok"


@pytest.mark.parametrize(
    ("language", "comment", "code"),
    [
        ("ruby", "# frozen_string_literal: true", "module A\nend"),
        ("ruby", "# encoding: utf-8", "class A\nend"),
        ("ruby", "# rubocop:disable Style/Documentation", "class A\nend"),
        ("shell", "# shellcheck disable=SC2034", "a() { :; }"),
        ("javascript", "/* eslint-disable no-alert */", "function a() {}"),
        ("typescript", '/// <reference types="node" />', "function a() {}"),
        ("typescript", "// prettier-ignore", "function a() {}"),
        ("go", "//export a", "func a() {}"),
    ],
)
def test_what_speaks_to_a_tool_is_no_doc(language: str, comment: str, code: str) -> None:
    mark = comment[:2] if comment.startswith("//") else comment[0] if comment[0] == "#" else "//"
    assert parsed(language, f"{comment}\n{code}\n".encode()).symbols[0].doc == ""
    (first, *_) = parsed(language, f"{comment}\n{mark} What it does.\n{code}\n".encode()).symbols
    assert first.doc == "What it does."


TORN = ("/* torn", "/*torn", "/** torn\n * more")
READ_AS_DIVISION = {
    "c": "int a = 1 {}\n;\nint b = 2;\n",
    "cpp": "int a = 1\n{}\n;\nint b = 2;\n",
    "csharp": "class A {{ int a = 1 {}\n;\nint b = 2; }}\n",
    "go": "package p\n\nvar a = 1 {}\nvar b = 2\n",
    "kotlin": "class A {{\n  val a = 1\n{}\n  val b = 2\n}}\n",
    "objc": "int a = 1 {}\n;\nint b = 2;\n",
    "swift": "let a = 1\n{}\nlet b = 2\n",
}


@pytest.mark.parametrize("comment", TORN)
@pytest.mark.parametrize("language", READ_AS_DIVISION)
def test_a_torn_comment_that_reads_as_a_division_is_no_sound_file(language: str, comment: str) -> None:
    source = READ_AS_DIVISION[language].format(comment)
    result = parsed(language, source.encode())
    line = source[: source.index("/*")].count("\n") + 1
    assert result.status in ("partial", "failed")
    assert result.detail is not None
    if "\n" not in comment:
        assert result.detail.startswith(f"line {line}, ")
        assert "this comment has no end" in result.detail


@pytest.mark.parametrize(
    ("language", "before", "opener", "closer"),
    [
        ("dart", "a() {}\n", "/*", "*/"),
        ("haskell", "a = 1\n", "{-", "-}"),
        ("kotlin", "fun a() {}\n", "/*", "*/"),
        ("ocaml", "let a = 1\n", "(*", "*)"),
        ("rust", "fn a() {}\n", "/*", "*/"),
        ("scala", "def a() = 1\n", "/*", "*/"),
        ("swift", "func a() {}\n", "/*", "*/"),
    ],
)
def test_the_end_of_a_comment_within_a_comment_is_not_its_own(
    language: str, before: str, opener: str, closer: str
) -> None:
    torn = f"{before}{opener} b {opener} c {closer}"
    for end in ("", "\n", f"\n{before}"):
        assert parsed(language, (torn + end).encode()).status != "ok"
    assert parsed(language, f"{torn} {closer}\n".encode()).status == "ok"


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("c", 'char *a = "/*"; char *b = "x/* y"; // /* z\nint c = 4 / *p;\n'),
        ("cpp", 'auto a = R"(/*)"; /* /* */ char b[] = "/*";\n'),
        ("go", 'package p\n\nvar a, b = "/*", `/*`\n\nfunc f(c string) bool { return c == "/*" }\n'),
        ("javascript", "const a = '/*', b = `/*`, c = /[/*]/; // /*\n"),
        ("kotlin", 'val a = "/*"\nval b = "${c}/*"\n'),
        ("swift", 'let a = "/*"\nlet b = "\\(c)/*"\n'),
        ("tsx", 'const a = <Route path="/*">/* text</Route>;\n'),
        ("java", 'class A { @Get("/*") String a = "/*"; char b = \'/\'; }\n'),
    ],
)
def test_what_only_looks_like_the_beginning_of_a_comment(language: str, source: str) -> None:
    assert parsed(language, source.encode()).status == "ok"


@pytest.mark.parametrize(
    ("language", "source", "docs"),
    [
        ("typescript", b"class Z { /** Hold. */ run() { return 1; } }\n", {"Z": "", "run": "Hold."}),
        (
            "java",
            b"class Q { int a; /** Tail. */ int r() { return 2; } }\n",
            {"Q": "", "a": "", "r": "Tail."},
        ),
        ("java", b"class Q { int a; /* of a */ int r() { return 2; } }\n", {"Q": "", "a": "", "r": ""}),
        ("cpp", b"class K { int a; /**< of a */ int r() { return 1; } };\n", {"K": "", "a": "", "r": ""}),
        ("java", b"class Q { int a; /** of a */\n  int r() { return 2; } }\n", {"Q": "", "a": "", "r": ""}),
    ],
)
def test_a_doc_comment_may_share_its_declarations_line(
    language: str, source: bytes, docs: dict[str, str]
) -> None:
    assert {s.name: s.doc for s in parsed(language, source).symbols} == docs


def test_long_brackets_of_lua_are_no_part_of_what_they_say() -> None:
    source = b"--[==[\n  x ]] y\n]==]\nfunction f() end\n--[[ z ]]\nfunction g() end\n"
    source += b"--- [[a]]\nfunction h() end\n"
    assert {s.name: s.doc for s in parsed("lua", source).symbols} == {"f": "x ]] y", "g": "z", "h": "[[a]]"}
