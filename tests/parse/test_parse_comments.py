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
