"""Syntax that the grammars do not know or know otherwise: each declaration a row, of all of its text."""

from __future__ import annotations

import pytest
from parse_support import parsed

Rows = list[tuple[str, str, str]]
"""Symbol, kind and text of the rows, in file order; `…` stands for what is left out of a text."""

CASES: dict[str, tuple[str, Rows]] = {
    "swift macros": (
        "/// Doc.\n@attached(member, names: named(init))\npublic macro Mem<T>(_ a: T) =\n"
        '  #externalMacro(module: "M", type: "S")\n@freestanding(expression) macro one() -> Int\n',
        [
            ("Mem", "macro", '@attached(…type: "S")'),
            ("one", "macro", "@freestanding(expression) macro one() -> Int"),
        ],
    ),
    "swift throws": (
        "struct S {\n  init() throws(E) {}\n  func f() async throws(any E) -> sending Int { 1 }\n}\n",
        [
            ("S", "struct", "struct S {…}"),
            ("S.init", "constructor", "init() throws(E) {}"),
            ("S.f", "method", "func f() … { 1 }"),
        ],
    ),
    "swift isolation": (
        "class S {\n  nonisolated(unsafe) static var z = 1\n  isolated deinit {}\n"
        "  private nonisolated(unsafe) var w: W\n  func t<let N: Int>() {}\n}\n",
        [
            ("S", "class", "class S {…}"),
            ("S.z", "property", "nonisolated(unsafe) static var z = 1"),
            ("S.deinit", "method", "isolated deinit {}"),
            ("S.w", "property", "private nonisolated(unsafe) var w: W"),
            ("S.t", "method", "func t<let N: Int>() {}"),
        ],
    ),
    "swift complaints": (
        'final class P {\n    #if canImport(Darwin)\n    let a = 1\n    #else\n    #error("no")\n    #endif\n'
        "    nonisolated(unsafe) var v: V\n    init() {}\n}\n",
        [
            ("P", "class", "final class P {…}"),
            ("P.a", "property", "let a = 1"),
            ("P.v", "property", "nonisolated(unsafe) var v: V"),
            ("P.init", "constructor", "init() {}"),
        ],
    ),
    "swift tuples": (
        "let (a, b) = (1, 2)\nstruct S { var (c, (_, d)) = (1, (2, 3)) }\n",
        [
            ("a", "property", "let (a, b) = (1, 2)"),
            ("b", "property", "let (a, b) = (1, 2)"),
            ("S", "struct", "struct S {…}"),
            ("S.c", "property", "var (c, (_, d)) = (1, (2, 3))"),
            ("S.d", "property", "var (c, (_, d)) = (1, (2, 3))"),
        ],
    ),
    "kotlin newer": (
        "fun w(x: Any) = when (x) {\n    is Int if x > 1 -> 1\n    in 1..<3 -> 2\n    else if (f(x)) -> 3\n"
        '    else -> if (x) 1 else 2\n}\nval s = $$"""{ "$a": $$x }"""\nval t = 1\n',
        [
            ("w", "function", "fun w(…}"),
            ("s", "property", 'val s = $$"""{ "$a": $$x }"""'),
            ("t", "property", "val t = 1"),
        ],
    ),
    "csharp extensions": (
        "static class E {\n"
        "    extension(string s) { public int Len => 1; public bool M() { return true; } }\n"
        "    /// Doc.\n    extension<T>(IEnumerable<T>) where T : X\n    {\n"
        "        public static void N() {}\n    }\n"
        "    void F() { var extension = 1; extension(x); }\n}\nclass extension_ {}\n",
        [
            ("E", "class", "static class E {…}"),
            ("E.Len", "property", "public int Len => 1;"),
            ("E.M", "method", "public bool M() { return true; }"),
            ("E.N", "method", "public static void N() {}"),
            ("E.F", "method", "void F() {…}"),
            ("extension_", "class", "class extension_ {}"),
        ],
    ),
    "cpp export": (
        "export module m;\nexport int f() { return 1; }\nexport namespace n { int g(); }\n"
        "export template <class T> void t(T) {}\nexport class K {};\n"
        "export { int h() { return 1; } int i() {} }\n",
        [
            ("f", "function", "export int f() { return 1; }"),
            ("n", "namespace", "export namespace n { int g(); }"),
            ("n.g", "function", "int g();"),
            ("t", "function", "export template <class T> void t(T) {}"),
            ("K", "class", "export class K {};"),
            ("h", "function", "int h() { return 1; }"),
            ("i", "function", "int i() {}"),
        ],
    ),
    "proto groups": (
        'syntax = "proto2";\nmessage S {\n  // { "group X = 1 {"\n  repeated group Result = 1 {\n'
        "    required string url = 2;\n"
        "    message In {}\n  }\n  oneof o {\n    string s = 3;\n"
        "    group G = 4 [deprecated = true] { optional int32 b = 5; }\n"
        "  }\n  oneof p { string t = 6; }\n  message After {}\n}\n",
        [
            ("S", "message", "message S {…}"),
            ("S.Result", "message", "repeated group Result = 1 {…}"),
            ("S.Result.In", "message", "message In {}"),
            ("S.G", "message", "group G = 4 [deprecated = true] { optional int32 b = 5; }"),
            ("S.After", "message", "message After {}"),
        ],
    ),
    "scala patterns": (
        "val Some(r) = o: @unchecked\ndef after = 1\nobject O {\n  val p, q = 1\n  @x @y\n"
        "  val (a, b) = (1, 2)\n"
        "  @x\n  def e = 1\n}\n",
        [
            ("r", "constant", "val Some(r) = o: @unchecked"),
            ("after", "function", "def after = 1"),
            ("O", "object", "object O {…}"),
            ("O.p", "constant", "val p, q = 1"),
            ("O.q", "constant", "val p, q = 1"),
            ("O.a", "constant", "@x @y\n  val (a, b) = (1, 2)"),
            ("O.b", "constant", "@x @y\n  val (a, b) = (1, 2)"),
            ("O.e", "method", "@x\n  def e = 1"),
        ],
    ),
    "php halted": (
        "<?php\n// __halt_compiler();\nf(<<<X\n__halt_compiler();\nX);\nfunction a() {}\n"
        '__halt_compiler();\nfunction no() {} "\n',
        [("a", "function", "function a() {}")],
    ),
    "dart fields": (
        "abstract class A {\n  abstract int ab;\n  external int x;\n  external int f();\n}\n",
        [
            ("A", "class", "abstract class A {…}"),
            ("A.ab", "field", "abstract int ab;"),
            ("A.x", "field", "external int x;"),
            ("A.f", "method", "external int f();"),
        ],
    ),
    "ocaml patterns": (
        "let (a, b) = (1, 2)\nlet { x = y; _ }, Some q = t\nlet () = f ()\nlet (c : int) = 3\n"
        'let (_ : int) = 3\nlet (A d | B d) = t\nlet [%name e "x"] = u\n',
        [
            ("a", "constant", "let (a, b) = (1, 2)"),
            ("b", "constant", "let (a, b) = (1, 2)"),
            ("y", "constant", "let { x = y; _ }, Some q = t"),
            ("q", "constant", "let { x = y; _ }, Some q = t"),
            ("c", "constant", "let (c : int) = 3"),
            ("d", "constant", "let (A d | B d) = t"),
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_rows(case: str) -> None:
    source, rows = CASES[case]
    result = parsed(case.split()[0], source.encode())
    assert result.status == "ok"
    assert [(s.symbol, s.kind) for s in result.symbols] == [row[:2] for row in rows]
    for symbol, (_, _, text) in zip(result.symbols, rows, strict=True):
        first, _, last = text.partition("…")
        found = source.encode()[symbol.start : symbol.end].decode()
        assert found == text or (last and found.startswith(first) and found.endswith(last))
        assert source.encode()[symbol.name_start :].decode().startswith(symbol.name)


DAMAGED = {
    "swift": "class A {\n  func f() {\n    x(\n    nonisolated(unsafe) var v: V\n  }\n\n  func g() {}\n}\n",
    "kotlin": (
        "class A {\n    fun f() {\n        x(\n        @B\n        @C\n        fun v() {}\n    }\n\n"
        "    fun g() {}\n}\n"
    ),
}


@pytest.mark.parametrize("language", DAMAGED)
def test_a_block_that_is_read_alone_is_read_alike(language: str) -> None:
    names = [s.symbol for s in parsed(language, DAMAGED[language].encode()).symbols]
    assert {"A", "A.f", "A.g"} <= set(names) <= {"A", "A.f", "A.f.v", "A.g"}
