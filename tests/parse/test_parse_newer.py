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
