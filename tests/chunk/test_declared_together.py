"""A type that is declared together with variables: its chunk is the whole declaration."""

from __future__ import annotations

import pytest
from chunk_toy import LIMITS, check, words

from ckvd import parse
from ckvd.chunk import cut, locate
from ckvd.languages.detect import detect
from ckvd.model import Chunk, CutOptions, Symbol

C = """\
/* All that are known. */
static struct st { int a; char *b; } table[] = {{1, "x"}}, *last;

const struct ops { int (*f)(void); } my_ops = {0};

typedef struct node { int a; } node_t, *node_p;

struct { int z; } anon = {0};
static enum color { RED, BLUE } now;
struct plain { int q; };
"""
CPP = """\
constexpr enum class Mode { A } kMode = Mode::A;
namespace n {
// Known.
static struct st { int a; void f() { go(); } } table[] = {{1}}, other;
class K {
  struct in { int a; } field;
};
}
"""


def cut_of(path: str, text: str, limit: int = 512) -> tuple[tuple[Symbol, ...], tuple[Chunk, ...]]:
    data = text.encode()
    language = detect(path, data)
    assert language is not None
    parsed = parse.parse(path, data, language)
    options = CutOptions(limit=limit)
    chunks = cut(path, data, parsed, "symbol", options, words)
    check(data, chunks, options)
    return parsed.symbols, chunks


@pytest.mark.parametrize(
    ("path", "text", "bodies"),
    [
        (
            "a.c",
            C,
            {
                "st": C[: C.index("\n\nconst")],
                "ops": "const struct ops { int (*f)(void); } my_ops = {0};",
                "node_t": "typedef struct node { int a; } node_t, *node_p;",
                "color": "static enum color { RED, BLUE } now;",
                "plain": "struct plain { int q; };",
            },
        ),
        (
            "a.cc",
            CPP,
            {
                "Mode": "constexpr enum class Mode { A } kMode = Mode::A;",
                "n.st": CPP[CPP.index("// Known") : CPP.index("\nclass")],
                "n.K.in": "struct in { int a; } field;",
            },
        ),
    ],
)
def test_the_declaration_is_one_chunk(path: str, text: str, bodies: dict[str, str]) -> None:
    found = {c.symbol: c.body.strip() for c in cut_of(path, text)[1]}
    assert {name: found[name] for name in bodies} == bodies


@pytest.mark.parametrize(("path", "text"), [("a.c", C), ("a.cc", CPP)])
def test_a_variable_is_found_in_the_chunk_that_holds_it(path: str, text: str) -> None:
    symbols, chunks = cut_of(path, text)
    held = {c.chunk_id: c for c in chunks}
    at = dict(zip((s.symbol for s in symbols), locate(symbols, chunks), strict=True))
    for symbol in symbols:
        chunk = held[at[symbol.symbol]]
        assert chunk.start <= symbol.start
        assert symbol.end <= chunk.end
    together = [("table", "st"), ("last", "st"), ("my_ops", "ops"), ("now", "color")]
    if path == "a.cc":
        together = [("kMode", "Mode"), ("n.table", "n.st"), ("n.other", "n.st"), ("n.K.field", "n.K.in")]
    assert [at[variable].rpartition("::")[2] for variable, _ in together] == [kind for _, kind in together]


def test_the_range_of_the_type_itself_stays() -> None:
    symbols, _ = cut_of("a.c", C)
    st = next(s for s in symbols if s.symbol == "st")
    assert C.encode()[st.start : st.end] == b"struct st { int a; char *b; }"


@pytest.mark.parametrize("limit", LIMITS)
def test_what_is_too_long_is_cut_within_it(limit: int) -> None:
    rows = "".join(f'  {{{n}, "row number {n} of all the rows"}},\n' for n in range(80))
    cut_of("a.c", f"static struct st {{ int a; char *b; }} table[] = {{\n{rows}}};\n\nint f(void);\n", limit)
    cut_of("a.cc", f"namespace n {{\nstatic struct st {{ int a; }} table[] = {{\n{rows}}};\n}}\n", limit)
