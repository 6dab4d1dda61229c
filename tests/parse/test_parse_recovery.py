"""One missing character costs what it is missing from: all other names and ranges stay as they were."""

from __future__ import annotations

from itertools import pairwise

import pytest
from parse_support import parsed

from ckvd.model import Parsed

HEADS = {
    "the brace of a class": (
        "typescript",
        "class A ¦{\n  a = 1;\n  f() {\n    return 1;\n  }\n}\n\nclass B {}\n",
    ),
    "the colon of a class": (
        "python",
        "class A(B)¦:\n    a = 1\n\n    def f(self):\n        pass\n\n\ndef g(): pass\n",
    ),
    "a parenthesis of a suite": (
        "javascript",
        "describe('a', function(¦) {\n  it('b', () => {\n    x();\n  });\n});\n",
    ),
    "a quote of a suite": (
        "javascript",
        "describe(¦'a', () => {\n  const f = () => 1;\n  it('b', () => {});\n});\n",
    ),
    "the parenthesis of a group": ("go", "package p\n\nconst ¦(\n\ta = 1\n\tb = 2\n)\n\nfunc f() {}\n"),
    "the brace of an implementation": ("rust", "impl A ¦{\n    fn f() {}\n\n    fn g() {}\n}\n\nfn h() {}\n"),
    "the brace of a namespace": (
        "csharp",
        "namespace N\n¦{\n    class A\n    {\n        void F() { }\n    }\n}\n",
    ),
    "the semicolon before a namespace": ("csharp", "using A¦;\n\nnamespace N;\n\nclass B { void F() { } }\n"),
    "a quote of an include": (
        "cpp",
        '#include "a.h¦"\n\nnamespace n {\n\nint f() { return 1; }\n\n}  // namespace n\n',
    ),
}
LAYOUTS = {
    "the end of a group": ("go", "package p\n\nconst (\n\ta = 1\n\tb = 2\n¦)\n\nfunc f() {}\n"),
    "an initialiser opens the body": (
        "cpp",
        "namespace n {\n\nA::A(int a)\n    : a_(a) {\n  g();\n}\n\nint f() {\n  if (a) {\n    b();\n"
        "  ¦}\n}\n\n"
        "int h() {\n  return 1;\n}\n\n}  // namespace n\n",
    ),
    "a comment with a brace": (
        "cpp",
        "namespace n {\n\n// void g() {\n//   x\nclass A {\n  int f() {\n    return 1;\n  ¦}\n\n"
        "  int h();\n};\n\n"
        "}  // namespace n\n",
    ),
    "tabs and blanks": (
        "java",
        "class A {\n    class B {\n\t\tvoid f() {\n\t\t\tg¦();\n\t\t}\n    }\n\n    class C {\n"
        "        void h() {\n        }\n    }\n}\n",
    ),
    "a directive at the margin": (
        "csharp",
        "class A\n{\n    void F()\n    {\n#pragma warning disable X\n        g¦();\n    }\n\n"
        "    void H()\n    {\n    }\n}\n",
    ),
    "a text at the margin": (
        "csharp",
        'class A\n{\n    void F()\n    {\n        x = @"\n}\nclass\n";\n    }\n\n    void G()\n    {\n'
        '        g¦();\n    }\n\n'
        "    void H()\n    {\n    }\n}\n",
    ),
    "a remark at the margin": (
        "python",
        "class A:\n    def f(self):\n# old()\n        g¦()\n\n    def h(self):\n        pass\n",
    ),
    "a third quote": (
        "python",
        'class A:\n    def f(self):\n        """¦"Says\n        what it does.\n        """\n\n'
        '    def g(self):\n'
        '        """Says it."""\n\n    def h(self):\n        pass\n'.replace('"""¦"', '""¦"'),
    ),
}  # fmt: skip


def rows(result: Parsed, without: int, back: int) -> set[tuple[str, int, int]]:
    """The symbols that do not hold a place, as they lie without the character there."""
    return {
        (s.symbol, s.start - back * (s.start > without), s.end - back * (s.end > without))
        for s in result.symbols
        if not s.start <= without < s.end
    }


@pytest.mark.parametrize("case", [*HEADS, *LAYOUTS])
def test_what_does_not_hold_the_place_is_untouched(case: str) -> None:
    language, marked = (HEADS | LAYOUTS)[case]
    before, after = marked.encode().split("¦".encode())
    whole = parsed(language, before + after)
    assert whole.status == "ok"
    broken = parsed(language, before + after[1:])
    assert broken.status == "partial"
    assert rows(whole, len(before), 1) <= {(s.symbol, s.start, s.end) for s in broken.symbols}
    assert not any(s.clean and s.start <= len(before) < s.end - 1 for s in broken.symbols)


@pytest.mark.parametrize("case", HEADS)
def test_what_is_missing_is_said(case: str) -> None:
    language, marked = HEADS[case]
    before, after = marked.encode().split("¦".encode())
    result = parsed(language, before + after[1:])
    assert result.detail is not None
    assert result.detail.endswith(f"{chr(after[0])!r} seems to be missing")
    assert result.error_bytes == 1
    assert len(result.damage) == 1


@pytest.mark.parametrize("case", HEADS)
def test_the_pieces_of_what_was_mended_lie_in_the_source(case: str) -> None:
    language, marked = HEADS[case]
    before, after = marked.encode().split("¦".encode())
    source = before + after[1:]
    pieces = parsed(language, source).pieces(0, len(source))
    assert pieces
    assert all(0 <= a < b <= len(source) for a, b in pieces)
    assert all(a[1] <= b[0] for a, b in pairwise(pieces))


def test_of_two_readings_that_both_leave_errors_the_one_that_keeps_more_is_taken() -> None:
    source = (
        b"[Serializable]\npublic partial class Basket<T>\n{\n    public int Size { get; set  = 3;\n"
        b"    public int Sum\n    {\n    [Obsolete] int Map<U>int x) => x;\n"
        b"    void Run() { int Local(int y) { return y; } }\n}\n"
    )
    found = {s.symbol: s.clean for s in parsed("csharp", source).symbols}
    assert found == {"Basket": False, "Basket.Run": True, "Basket.Run.Local": True}


def test_errors_in_several_places_are_not_mended() -> None:
    source = b"class A {\n  f( {\n  }\n\n  g() {\n    return [1;\n  }\n\n  h() {\n    return 1;\n  }\n}\n"
    result = parsed("typescript", source)
    assert result.status in ("partial", "failed")
    assert "seems to be missing" not in (result.detail or "")
    assert "A.h" in {s.symbol for s in result.symbols}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_is_said_is_of_the_damage_that_is_listed(end: str) -> None:
    source = end.join(["def a():", "    x = 1", "    y = (2 +", "", "def b():", "    return 1", ""]).encode()
    result = parsed("python", source)
    at = result.damage[0][0] if result.fault is None else result.fault
    assert any(start <= at < stop for start, stop in result.damage)
    line, column = source.count(b"\n", 0, at) + 1, at - source.rfind(b"\n", 0, at)
    assert result.detail is not None
    assert result.detail.startswith(f"line {line}, column {column}: ")


@pytest.mark.parametrize("inside", ["return 1 +", "# 日 a\n        x = ([1", "é = [é, (1 2"])
def test_a_function_reaches_to_the_end_of_a_body_that_cannot_be_read(inside: str) -> None:
    source = f"class A:\n    def f(self):\n        {inside}\n\n\ndef g():\n    pass\n".encode()
    result = parsed("python", source)
    end = source.index(b"\n\n\ndef g")
    found = {s.symbol: (s.end, s.clean) for s in result.symbols}
    assert found["A"] == found["A.f"] == (end, False)
    assert found["g"][1]
    assert all(source[start:stop].decode() for start, stop in result.damage)


@pytest.mark.parametrize(
    ("language", "source", "line", "seen", "what"),
    [
        ("python", "x = 1\n\nclass A:\n    def f(self, a int):\n        pass\n", 4, "a int", "cannot be"),
        ("ruby", "module M\n  class < self\n    def a\n    end\n  end\nend\n", 2, "< self", "cannot be"),
        ("python", "def f():\n    # 日 a\n    x = ([1\n", 3, "x = (", "cannot be"),
        ("python", "def f():\n    return 1 +\n\ndef g():\n    pass\n", 2, "return 1", "cannot be"),
        ("go", "package a\n\n\tfunc (\n\nvar b = 1\n", 3, "func (", "cannot be parsed from 'func ('"),
        ("c", "int twin(void) { return 2 }\n\nint other;\n", 1, " }", "';' is missing"),
    ],
)
def test_what_is_said_points_at_what_a_reader_sees(
    language: str, source: str, line: int, seen: str, what: str
) -> None:
    result = parsed(language, source.encode())
    column = len(source.split("\n")[line - 1].split(seen)[0].encode()) + 1
    assert result.detail is not None
    assert result.detail.startswith(f"line {line}, column {column}: {what}")
    at = result.damage[0][0] if result.fault is None else result.fault
    assert source.encode()[at:].decode().startswith(seen)


@pytest.mark.parametrize(("language", "source"), [("elixir", "def a do\n"), ("shell", "if a; then\n  b\n")])
def test_a_file_that_ends_too_early_says_so(language: str, source: str) -> None:
    result = parsed(language, source.encode())
    last = source.count("\n")
    assert result.detail is not None
    assert result.detail.startswith(f"line {last}, column ")
    assert result.detail.endswith("the file ends where more is expected")
