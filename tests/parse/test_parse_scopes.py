"""What qualifies what: rows of (symbol, kind) for sources in which names are easily lost or made too long."""

from __future__ import annotations

import pytest
from parse_support import parsed

JAVASCRIPT = {
    "chain.find('x', { get() { return 1 } }).then(function () { function inner() {} })": {"get", "inner"},
    "const page = `${list.map(() => { function cell() {} })}`": {"page", "page.cell"},
    "run(() => { const x = { m() {} }; const y = 1 })": {"x.m"},
    "function f() { const handlers = { click() {} } }": {"f", "f.handlers.click"},
    "A.prototype = { m: function () {} }": {"A.m"},
    "module.exports = { m() {} }; exports.api = { n() {} }": {"m", "api.n"},
    "const f = (function named() { const g = () => 1 })": {"f", "f.g"},
}
TYPESCRIPT = {
    "function f(x: { m(): void }): x is A & { n(): void } {}": {"f"},
    "type T = A & { m(): void }": {"T", "T.m"},
    "interface I { m(): void }": {"I", "I.m"},
}
OTHERS = {
    ("go", "package p\n\nvar v = x.(interface{ M() })\n\ntype I interface{ M() }\n"): {"v", "I", "I.M"},
    ("go", "package p\n\nvar a, b = func() { const c = 1 }, 2\n"): {"a", "b"},
    ("lua", "pcall(function() x = 1 end)\nfunction f() end\n"): {"f"},
    ("kotlin", 'tasks.register("x") { val y = 1 }\nval z = 1\n'): {"z"},
    ("scala", "object O { run { val y = 1 } }\n"): {"O"},
    ("cpp", "void g();\nauto f = [] { int x = 1; return x; };\n"): {"g", "f"},
}
OTHERS[("rust", 'fn a() { check(str![["x"]], false) }\nfn b() {}\n')] = {"a", "b"}
CASES = [
    *(("javascript", source, names) for source, names in JAVASCRIPT.items()),
    *(("typescript", source, names) for source, names in (*JAVASCRIPT.items(), *TYPESCRIPT.items())),
    *((language, source, names) for (language, source), names in OTHERS.items()),
]


@pytest.mark.parametrize(("language", "source", "names"), CASES)
def test_symbols_and_what_qualifies_them(language: str, source: str, names: set[str]) -> None:
    result = parsed(language, source.encode())
    assert result.status == "ok"
    assert {s.symbol for s in result.symbols} == names


def test_an_attribute_before_a_trailing_comment_belongs_to_its_declaration() -> None:
    source = b"/// Doc.\n#[a] // why\n#[b] /* so */\nstruct S;\n\nconst X: u8 = 1; // not its\nfn f() {}\n"
    ranges = {s.name: (s.lead, s.start) for s in parsed("rust", source).symbols}
    assert ranges == {
        "S": (0, source.index(b"#[a]")),
        "X": (source.index(b"const"), source.index(b"const")),
        "f": (source.index(b"fn"), source.index(b"fn")),
    }


def test_a_component_is_a_function_in_what_wraps_it() -> None:
    source = b"""\
export const Row = React.memo(function Inner(props) { const f = () => 1; return f(); });
const Cell = memo(forwardRef((props, ref) => { return props.x; }));
const list = items.map((x) => x);
"""
    for language in ("javascript", "typescript", "tsx"):
        kinds = {s.symbol: s.kind for s in parsed(language, source).symbols}
        assert kinds == {"Row": "function", "Row.f": "function", "Cell": "function", "list": "constant"}
