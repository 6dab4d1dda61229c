"""Which language a file is taken for."""

from __future__ import annotations

import pytest

from ckvd import languages
from ckvd.languages.detect import detect
from ckvd.parse import parse


def name_of(path: str, head: bytes = b"", override: str | None = None) -> str | None:
    language = detect(path, head, override)
    return language.name if language else None


@pytest.mark.parametrize(
    ("path", "source", "language", "symbols"),
    [
        ("a.mjs", b'export const fromMjs = () => "mjs";\n', "javascript", ["fromMjs"]),
        ("b.cjs", b'exports.fromCjs = function fromCjs() { return "cjs"; };\n', "javascript", ["fromCjs"]),
        ("c.mts", b"export function fromMts(x: number): number { return x; }\n", "typescript", ["fromMts"]),
        ("e.jsx", b"export const Hi = () => <p>hi</p>;\n", "javascript", ["Hi"]),
        ("f.pyi", b"def stub(a: int, /, *, b: str = ...) -> None: ...\n", "python", ["stub"]),
        ("g.hpp", b"struct G { int g() const; };\n", "cpp", ["G", "G.g"]),
        ("i.cxx", b"int cxx() { return 1; }\n", "cpp", ["cxx"]),
        ("Rakefile", b"task(:x) { }\ndef helper; end\n", "ruby", ["helper"]),
        ("run", b"#!/usr/bin/env bash\nmain() { echo hi; }\n", "shell", ["main"]),
        ("tool", b"#!/usr/bin/env python3\ndef tool_main(): pass\n", "python", ["tool_main"]),
        ("J.JAVA", b"class J {}\n", "java", ["J"]),
    ],
)
def test_suffixes_names_and_shebangs(path: str, source: bytes, language: str, symbols: list[str]) -> None:
    found = detect(path, source)
    assert found is not None
    assert found.name == language
    assert {s.symbol for s in parse(path, source, found).symbols} >= set(symbols)


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("src/d.cts", b"", "typescript"),
        ("h.hh", b"", "cpp"),
        ("rows.html.RB", b"", "ruby"),
        ("a.b/c", b"", None),
        ("a.b/.rb", b"", None),
        ("sub/gemfile", b"", "ruby"),
        ("Gemfile.next", b"", "ruby"),
        ("Gemfile.java", b"", "java"),
        ("app.wsgi", b"", "python"),
        ("a/BUILD.bazel", b"", "python"),
        ("defs.bzl", b"", "python"),
        ("SConstruct", b"", "python"),
        ("noise", b"#! /usr/bin/env -S VAR=1 python3.12 -u\n", "python"),
        ("noise", b"#!/usr/bin/ruby2.7\n", "ruby"),
        ("noise", b"#!/bin/sh\r\n", "shell"),
        ("noise", b"#!/usr/bin/env bats\n", "shell"),
        ("noise", b"#!/usr/bin/env -S uv run --script\n", "python"),
        ("noise", b"#!/usr/bin/env\n", None),
        ("noise", b"#!", None),
        ("noise", b"#!/bin/zsh\n", None),
        (".zshrc", b"", None),
        ("a.zsh", b"#!/bin/zsh\n", None),
        ("hooks/pre-commit", b"\xef\xbb\xbf#!/bin/bash\n", "shell"),
        ("strings_de.ts", b"<?xml version='1.0'?>\n<!DOCTYPE TS>\n", None),
        ("deploy.yaml.j2", b"", "yaml"),
        ("index.html.tmpl", b"", "html"),
        ("nginx.conf.j2", b"", "jinja"),
        ("templates/_helpers.tpl", b"", "gotemplate"),
        ("theme.scss", b"", "scss"),
        ("a.module.css", b"", "css"),
        ("Dockerfile", b"", "dockerfile"),
        ("Dockerfile.dev", b"", "dockerfile"),
        ("prod.Dockerfile", b"", "dockerfile"),
        ("Containerfile", b"", "dockerfile"),
        ("makefile", b"", "make"),
        ("GNUmakefile", b"", "make"),
        ("Makefile.am", b"", "make"),
        ("rules.mk", b"", "make"),
        ("debian/rules", b"#!/usr/bin/make -f\n", "make"),
        ("Makefile.PL", b"", "perl"),
        ("sub/CMakeLists.txt", b"", "cmake"),
        ("FindX.cmake", b"", "cmake"),
        ("main.dart", b"", "dart"),
        ("schema.graphqls", b"", "graphql"),
        ("build.zig", b"", "zig"),
        ("flake.nix", b"", "nix"),
        ("LICENSE", b"MIT License", None),
        ("view.m", b'// A view.\n#import "view.h"\n', "objc"),
        ("view.m", b"% A view.\nfunction y = view(x)\n", None),
        ("view.mm", b"", "objc"),
        ("Deploy.PS1", b"", "powershell"),
        ("mix.exs", b"", "elixir"),
        ("depot.R", b"move <- function(x) x\n", "r"),
        ("depot.r", b"REBOL [Title: 1]\n", None),
        (".Rprofile", b"", "r"),
        ("Depot.pm", b"package Depot;\n", "perl"),
        ("crate.pm", b"/* XPM */\nstatic char *crate[] = {\n", None),
        ("depot.pl", b"use strict;\nmy $x = $y ? 1 :-1;\n", "perl"),
        ("depot.pl", b"move(X) :- crate(X).\n", None),
        ("depot.pl", b"use v6;\nsub move { }\n", None),
        ("depot.t", b"#!perl\nuse Test::More;\n", "perl"),
        ("depot.t", b"% A turing file\nput 1\n", None),
        ("run", b"#!/usr/bin/env elixir\n", "elixir"),
        ("deploy", b"#!/usr/bin/env pwsh\n", "powershell"),
        ("", b"", None),
    ],
)
def test_the_less_usual(path: str, head: bytes, language: str | None) -> None:
    assert name_of(path, head) == language


def test_the_repository_decides() -> None:
    assert name_of("x.inc", override="C++") == "cpp"
    assert name_of("x.py", override="SQL") == "sql"
    assert name_of("x.foo", override="python") == "python"
    assert name_of("x.py", override="C#") == "csharp"
    assert name_of("x.py", override="Brainfuck") is None


def test_every_suffix_and_name_leads_to_its_language() -> None:
    for name in languages.names():
        language = languages.get(name)
        for suffix in language.suffixes:
            assert name_of(f"some/file.{suffix}") == name
        for filename in language.filenames:
            assert name_of(f"some/{filename}") == name
        for interpreter in language.interpreters:
            assert name_of("some/tool", f"#!/usr/bin/env {interpreter}\n".encode()) == name
        for label in (name, *language.aliases):
            assert name_of("some/tool", b"", label) == name
