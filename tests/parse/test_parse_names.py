"""Names that are more than one word of their declaration, or that it takes some care to find."""

from __future__ import annotations

import pytest
from parse_support import parsed

CPP = {
    "explicit instantiations define nothing": (
        "template class K<char>;\nextern template class LIB_API K<int (*)(long)>;\n"
        "template void f<int>(int);\n"
        "template<> class K<bool> { int a; };\n",
        {"K", "K.a"},
    ),
    "conversions to pointers, operators behind a blank": (
        "struct K { operator const int*() const; operator T **() { return 0; } operator int&(); };\n"
        "K& K::operator <<(int a) { return *this; }\nint K::operator ()(int a) { return a; }\n"
        "void* K::operator new(size_t n) { return 0; }\n",
        {"K", "K.operator const int*", "K.operator T **", "K.operator int&", "K.operator<<", "K.operator()",
         "K.operator new"},
    ),
    "calls of macros in classes are no methods": (
        "template <class T> class K<T*> {\n K(int a);\n explicit K();\n ~K();\n"
        " MOCK_METHOD(void, f);\n Q_DISABLE_COPY(K);\n virtual int g();\n};\n",
        {"K", "K.K", "K.~K", "K.g"},
    ),
    "a call before a block is a function outside functions alone": (
        "SECTION(x) { int a; }\n"
        "int f() {\n  EACH(y) { g(); }\n  SECTION(\"z\") { a::g(); }\n  return 1;\n}\n",
        {"SECTION", "f"},
    ),
    "types within functions": ("int f() { using A = int; typedef int B; return 1; }\n", {"f", "f.A", "f.B"}),
    "attributes and alignment": (
        "class [[x]] alignas(8) K { int f() { return 1; } };\n"
        "enum class [[x(\"]]\")]] E { A [[old]] = 1, B };\n"
        "struct alignas(sizeof(T) * (2 + 1)) [[x]] S { };\nenum __attribute__((packed)) F { C };\n"
        "void g() [[x]] {}\n",
        {"K", "K.f", "E", "S", "F", "g"},
    ),
    "pointers to members": (
        "int f(int K::*p);\nint N::K<int>::*h() { return nullptr; }\nint (K::*i())(int) { return 0; }\n"
        "int K::*v;\nvoid K::m(int (K::*p)() const) {}\ntypedef int (K::*PM)(int) const noexcept;\n"
        "using T = int K::*;\nclass L { int K::*n; void (K::*o)() = nullptr; };\n"
        "int q(K *k) { return (k->*o)() + k->*n; }\n",
        {"f", "h", "i", "v", "K.m", "PM", "T", "L", "L.n", "L.o", "q"},
    ),
    "tests by suite and case": (
        "namespace n {\nTEST(Pool, Grows) {\n  int x;\n}\nTEST_F(PoolTest,\n       Shrinks) { }\n}\n"
        "TEST_P(A, B) {}\n"
        "TYPED_TEST(C, D) {}\nBENCHMARK_F(E, F)(benchmark::State& state) { }\nTEST() { }\n",
        {"n", "n.Pool.Grows", "n.PoolTest.Shrinks", "A.B", "C.D", "E.F", "TEST"},
    ),
    "tests by title": (
        'TEST_CASE("it grows, (and shrinks)", "[pool]") { int y; }\nSCENARIO("a \\"scenario\\"") { }\n'
        'TEST_CASE_METHOD(Fixture, "in a fixture") { }\nBOOST_FIXTURE_TEST_CASE(one, Fixture) { }\n'
        'MATCHER_P(IsAbove, n, "is above " + name(n)) { return arg > n; }\n',
        {"it grows, (and shrinks)", 'a \\"scenario\\"', "Fixture.in a fixture", "one", "IsAbove"},
    ),
}  # fmt: skip
C = {
    "tests": (
        "TEST_IMPL(pool) {\n  return 1;\n}\nTest(suite, name) {\n}\nTEST(a) { }\nOTHER(a, b) { }\n",
        {"pool", "suite.name", "a", "OTHER"},
    ),
    "a function in capitals": ("int\nMAX (int a, int b)\n{\n  return a > b ? a : b;\n}\n", {"MAX"}),
    "calls of the system": ("SYSCALL_DEFINE2(read, int, fd, char __user *, to)\n{\n}\n", {"read"}),
}
CSHARP = (
    "class K { ~K() { } public static implicit operator int(K k) => 1; "
    "public static K operator +(K a, K b) => a;\n"
    "public static explicit operator List<string>(K k) => null; "
    "public static K operator checked ++(K k) => k;\n"
    "public static bool operator true(K k) => true; }\n"
)
GO = "package p\n\n" + "\n".join(
    f"func ({receiver}) M{i}() {{}}"
    for i, receiver in enumerate(
        [
            "(*B)",
            "b (*B)",
            "b *(B)",
            "(B)",
            "B",
            "*B",
            "b *B[T, U],",
            "_ B[_]",
            "b /* of */ *B",
            "\n\tb *B,\n",
        ]
    )
)
PYTHON = (
    "a, (b, *c) = 1, (2, 3)\nx = y = 3\n(f, [g]), h.i, j[0], k = 1, 2, 3, 4\nl = m, n = 1, 2\nc.d = e = 1\n"
    "class K:\n    p, (q, r) = 1, (2, 3)\n    S = T = 4\ndef z():\n    no = never = 1\n"
)
RUBY = (
    "module M\n  class ::Top::Deep < Base\n    def x; end\n  end\n  module ::Other\n    def y; end\n  end\n"
    "  class A::B\n    def z; end\n  end\nend\n"
)
CLASSES = (
    "class A extends class B { m() {} } { n() {} }\nclass C extends mix(class D { o() {} }) {}\n"
    "class E extends class { p() {} } {}\nconst F = class G { q() {} };\n"
    "function r(X) { return class H extends X { s() {} } }\n"
)
NAMED_CLASSES = {
    "A", "A.B", "A.B.m", "A.n", "C", "C.D", "C.D.o", "E", "E.p", "F", "F.q", "r", "r.H", "r.H.s",
}  # fmt: skip


def names(language: str, source: str) -> set[str]:
    result = parsed(language, source.encode())
    assert result.status == "ok", result.detail
    return {s.symbol for s in result.symbols}


@pytest.mark.parametrize("case", CPP)
def test_cpp(case: str) -> None:
    source, wanted = CPP[case]
    assert names("cpp", source) == wanted


@pytest.mark.parametrize("case", C)
def test_c(case: str) -> None:
    source, wanted = C[case]
    assert names("c", source) == wanted


def test_the_name_of_a_test_stands_where_its_case_is_named() -> None:
    source = b'TEST(Pool, Grows) {}\nTEST_CASE("it shrinks") {}\n'
    rows = [(s.name, s.parents, s.name_start, s.signature) for s in parsed("cpp", source).symbols]
    assert rows == [
        ("Grows", ("Pool",), source.index(b"Grows"), "TEST(Pool, Grows)"),
        ("it shrinks", (), source.index(b"it shrinks"), 'TEST_CASE("it shrinks")'),
    ]


def test_csharp_operators_and_destructors() -> None:
    wanted = {
        "~K",
        "operator int",
        "operator +",
        "operator List<string>",
        "operator checked ++",
        "operator true",
    }
    assert names("csharp", CSHARP) == {"K", *(f"K.{name}" for name in wanted)}


def test_go_receivers() -> None:
    assert names("go", GO) == {f"B.M{i}" for i in range(10)}


def test_all_that_a_python_assignment_binds() -> None:
    wanted = {*"abcxyfgklmneKz", "K.p", "K.q", "K.r", "K.S", "K.T"}
    assert names("python", PYTHON) == wanted
    source = b"x = y = 3\n"
    assert [(s.name, s.start, s.end, s.name_start) for s in parsed("python", source).symbols] == [
        ("x", 0, 9, 0),
        ("y", 0, 9, 4),
    ]


def test_what_begins_with_two_colons_is_not_inside_a_ruby_module() -> None:
    assert names("ruby", RUBY) == {"M", "Top.Deep", "Top.Deep.x", "Other", "Other.y", "M.A.B", "M.A.B.z"}


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
def test_classes_that_are_expressions(language: str) -> None:
    assert names(language, CLASSES) == NAMED_CLASSES


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
@pytest.mark.parametrize(
    "exported", ["{ fetch() {} }", "({ fetch() {} })", "{ fetch() {} } satisfies T", "{ fetch() {} } as T"]
)
def test_what_an_object_is_exported_as_is_no_matter(language: str, exported: str) -> None:
    if language == "javascript" and exported.endswith("T"):
        exported = "(/** @type {T} */ { fetch() {} })"
    source = f"export default {exported};\n".encode()
    result = parsed(language, source)
    assert result.status == "ok"
    assert [s.symbol for s in result.symbols] == ["default", "default.fetch"]
    assert source[result.symbols[0].start : result.symbols[0].end] == source.strip()


def test_constructors_that_share_a_signature_are_each_found() -> None:
    result = parsed("haskell", b"data G where\n  A, B :: G\n  C :: G\n")
    assert [s.symbol for s in result.symbols] == ["G", "G.A", "G.B", "G.C"]
