"""Headers are of the file's own lines also where several declarations share one."""

from __future__ import annotations

import pytest
from chunk_toy import LIMITS, assert_subsequence, words

from ckvd import parse
from ckvd.chunk import cut
from ckvd.languages.detect import detect
from ckvd.model import Chunk, CutOptions

FILES = {
    "a.ts": "import { a } from 'a'; export const K = 1, L = 2; function f() { return K + L + a; }\n",
    "b.ts": "export namespace A { export namespace B { class C { n = 1; m() { return this.n; } } } }\n",
    "a.js": "const a = 1; class A { m() { return a; } }; const b = { go() { return a; } };\n",
    "a.tsx": "const K = 1; export default class A { m = () => <b>{K}</b>; n() { return K; } }\n",
    "A.java": "import a.B; class A { int n = 0; int m() { return n; } B k() {\n  return m();\n} }\n",
    "a.kt": "import a.B; class A { val n = 1; fun m(): B { return n } }\n",
    "a.scala": "import a.B; object A { val n = 1; class C { def m(): B = { n } } }\n",
    "a.cs": "using B; namespace N { class A { const int K = 1; int M() { return K; } } }\n",
    "a.cpp": "namespace a { namespace b { const int k = 1;\nclass C { int m() {\n  return k;\n} }; } }\n",
    "a.c": "static int k = 1; int f(void) { return k; } int g(void) { return k; }\n",
    "a.rs": "use a::B; const K: u8 = 1; impl A { fn m() -> B { K } } mod n { fn f() { L } }\n",
    "a.go": 'package a; import "fmt"; const K = 1; func F() { fmt.Print(K) }; type ( A struct{}; B int )\n',
    "a.php": "<?php namespace N; use A\\B; class C { use T; const K = 1; function m() { B::f(); } }\n",
    "a.rb": "module M; class A; include B; K = 1; def m; K; end; class << self; def n; end; end; end; end\n",
    "a.py": "import os; K = 1; L = 2\nclass A: n = K; f = lambda: os\ndef g(): return K + L\n",
    "a.swift": "import A; struct B { let n = 1; func m() -> Int { return n } }\n",
    "a.dart": "import 'a'; class A { final n = 1; int m() { return n; } }\n",
    "a.lua": "local k = 1; local A = {}; function A.m() return k end\n",
    "a.proto": 'syntax = "proto3"; import "a.proto"; service S { rpc M(A) returns (B) {} }\n',
    "a.sol": "import 'a'; contract A { using B for uint; uint constant K = 1; function f() { return K; } }\n",
}


def chunks_of(path: str, limit: int) -> tuple[bytes, tuple[Chunk, ...]]:
    data = FILES[path].encode()
    language = detect(path, data)
    assert language is not None
    parsed = parse.parse(path, data, language)
    assert parsed.status == "ok"
    return data, cut(path, data, parsed, "symbol", CutOptions(limit=limit), words)


@pytest.mark.parametrize("path", FILES)
def test_header_lines_are_the_file_s_own(path: str) -> None:
    for limit in LIMITS:
        data, chunks = chunks_of(path, limit)
        assert any(c.symbol and c.header_text for c in chunks)
        for chunk in chunks:
            assert_subsequence(chunk.header_text, data)


def test_what_is_exported_is_told_so() -> None:
    text = "export const K = 1, L = 2;\n\nfunction f() {\n  return L;\n}\n"
    language = detect("a.ts", b"")
    assert language is not None
    parsed = parse.parse("a.ts", text.encode(), language)
    (*_, chunk) = cut("a.ts", text.encode(), parsed, "symbol", CutOptions(), words)
    assert chunk.header_text == "export const K = 1, L = 2;"
