"""What a grammar cannot read, and a mask lets it read, is no damage and costs no symbol."""

from __future__ import annotations

import pytest
from parse_support import parsed

AFTER_A_NOWDOC = """\
<?php
function first() {
    return [<<<'X'
        it's { no code
        X];
}
function second() {
    return <<<X
        class No {}
        X . 'a';
}
"""
CASES = {
    "kotlin": ("class K { val x = 1 }", ["K", "K.x"]),
    "kotlin interface": ("interface I { fun f() }", ["I", "I.f"]),
    "kotlin companion": (
        "class K { val a = 1; companion object { fun of() = l.map { it } } }\nclass After",
        ["K", "K.a", "K.Companion", "K.Companion.of", "After"],
    ),
    "kotlin delegate": (
        "class K(x: B = f()) : C(1), B by x {\n  fun a() {}\n  val v: T by lazy(1) { 2 }\n}\n"
        "object O : B by f<Int>(g(1)) { fun b() {} }\nval p: T by lazy(x) {\n  1\n}\n",
        ["K", "K.a", "K.v", "O", "O.b", "p"],
    ),
    "php": (AFTER_A_NOWDOC, ["first", "second"]),
    "tsx": ("const A = () => <li>{i as X} & more's {g & 1}</li>;\ntype T = X & Y;\n", ["A", "T"]),
    "tsx attribute": ('const A = () => <p title="a &amp b & c">d&e</p>;\n', ["A"]),
    "python defaults of type parameters": (
        "class A[T = int, *Ts = *tuple[int, ...]]:\n    x: T\n\ndef f[T: int = int](x: T = 1) -> T:\n"
        "    return x\n\ntype B[T = dict[str, int]] = list[T]\n",
        ["A", "A.x", "f", "B"],
    ),
    "python remark at the margin": (
        "class A:\n    @dec\n# why\n    def f(self):\n        return 1\n\n    def g(self):\n        pass\n",
        ["A", "A.f", "A.g"],
    ),
    "ruby endless": (
        'class A\n  def f = puts "a"\n  private def g(x) = puts x, 1\n  def h = 1\n'
        "  def i = raise A, 'no' if x\nend\n",
        ["A", "A.f", "A.g", "A.h", "A.i"],
    ),
    "javascript accessors": (
        "class A {\n  static accessor x = 1;\n  accessor y = 2;\n  accessor() { return 3 }\n}\n",
        ["A", "A.x", "A.y", "A.accessor"],
    ),
    "typescript accessors": (
        "abstract class A {\n  static accessor x = 1;\n  override accessor y;\n"
        "  abstract accessor z: number;\n  readonly accessor w = 2;\n"
        "  accessor v = 3;\n  accessor() { return 4 }\n}\n",
        ["A", "A.x", "A.y", "A.z", "A.w", "A.v", "A.accessor"],
    ),
    "tsx accessors": ("class A {\n  static accessor x = <b/>;\n}\n", ["A", "A.x"]),
    "typescript exported types": (
        "export type * from './a';\nexport type * as b from './b';\nexport function f() {}\n",
        ["f"],
    ),
    "tsx tags": (
        "const B = styled.div<{ a: number }>`x: ${p => p.a}`;\nconst C = css<Map<string, () => void>>`a`;\n"
        "export function F() { return <div>a</div>; }\n",
        ["B", "C", "F"],
    ),
    "javascript": ("const A = () => <p>q?a=1&b=2 &lt; {f(x) && <b/>} & d</p>;\n", ["A"]),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_mask_lets_the_grammar_read(case: str) -> None:
    source, names = CASES[case]
    result = parsed(case.split()[0], source.encode())
    assert result.status == "ok"
    assert [s.symbol for s in result.symbols] == names


def test_a_symbol_ends_where_it_did() -> None:
    source = b"class K { val x = 1 }"
    assert [source[s.start : s.end] for s in parsed("kotlin", source).symbols] == [source, b"val x = 1"]
