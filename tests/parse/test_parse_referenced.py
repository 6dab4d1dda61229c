"""Names that other languages' own parsers have and ckvd once had not, or had otherwise."""

from __future__ import annotations

import pytest
from parse_support import parsed

KOTLIN_HEADS = """class Rule
  @JvmOverloads
  constructor(
    val name: String? = null,
    @get:JvmName("it") val platform: Platform? = null,
  ) : Before,
    After {
  fun apply() {}
}
class Log<T>
  internal constructor(val out: T = NONE) {
  fun interface Sink { fun log(message: String) }
  private val last: Int
  constructor(x: Int) : this(NONE)
}
"""
KOTLIN_CHAIN = """class C {
  fun f() {
    client.newBuilder().listener(wrap(object : Listener() {
      override fun acquired(call: Call) {}
    })).build()
  }
}
"""
LUA_INDEXES = """M["a b"] = function() end
M[k] = function() end
M.x[1].z = function() end
local t = { [k] = function() end, ["q r"] = function() end, [1] = function() end, f = function() end }
local u = { [function(e) return e end] = function() end }
"""
ZIG_HELD = """const P = struct { Ast.Index, u8 };
const E = enum { a, @"b c", f16, void };
fn f(o: struct { t: u8 }) struct { Q, R } { return .{}; }
const S = struct { in: struct { deep: u8 } };
test { const inner = 1; }
"""
OCAML_LOCALS = """module _ = struct let z = 1 end
let () = let buf = 1 in let show x = x in print (show buf)
let%expect_test _ = let s = 1 in print s
"""
SQL_KINDS = """CREATE TEXT SEARCH DICTIONARY my_dict (template = snowball);
CREATE FOREIGN DATA WRAPPER fake_fdw HANDLER h;
CREATE COLLATION ci (provider = icu);
CREATE TRUSTED PROCEDURAL LANGUAGE pl HANDLER h;
CREATE ACCESS METHOD am TYPE INDEX HANDLER h;
CREATE FOREIGN TABLE ft (a int) SERVER s;
"""


@pytest.mark.parametrize(
    ("language", "source", "wanted"),
    [
        (
            "kotlin",
            KOTLIN_HEADS,
            ["Log", "Log.Sink", "Log.Sink.log", "Log.constructor", "Log.last", "Rule", "Rule.apply"],
        ),
        ("kotlin", KOTLIN_CHAIN, ["C", "C.f", "C.f.acquired"]),
        ("lua", LUA_INDEXES, ['M["a b"]', "t", "t.f", "t.q r", "u"]),
        ("ocaml", OCAML_LOCALS, ["show", "z"]),
        ("sql", SQL_KINDS, ["am", "ci", "fake_fdw", "ft", "my_dict", "pl"]),
        ("zig", ZIG_HELD, ["E", 'E.@"b c"', "E.a", "E.f16", "E.void", "P", "S", "S.in", "S.in.deep", "f"]),
    ],
)
def test_names(language: str, source: str, wanted: list[str]) -> None:
    given = parsed(language, source.encode(), f"x.{language}")
    assert sorted(s.symbol for s in given.symbols) == wanted
    assert given.status == "ok"


def test_an_attribute_of_ocaml_belongs_to_what_it_stands_behind() -> None:
    source = b"let f t =\n  map t\n  [@nontail]\nlet g = 1\nlet[@inline] h x = x\n"
    given = parsed("ocaml", source)
    assert [source[s.start : s.end].count(b"\n") for s in given.symbols] == [2, 0, 0]
    assert [source[s.start : s.start + 4] for s in given.symbols] == [b"let ", b"let ", b"let["]
