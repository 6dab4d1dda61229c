"""How a file is divided by each strategy, on parses written by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from chunk_toy import Toy, check, wholes, words

from ckvd.chunk import assign_ids, cut, locate
from ckvd.model import Chunk, CutOptions, HeaderItem, Parsed, Symbol


def names(chunks: tuple[Chunk, ...]) -> list[str]:
    return [c.chunk_id.partition("::")[2] for c in chunks]


def by_name(chunks: tuple[Chunk, ...]) -> dict[str, Chunk]:
    return dict(zip(names(chunks), chunks, strict=True))


def small_file() -> Toy:
    toy = Toy()
    toy.imports("use io", "io")
    toy.constant("K1", "const K1 = 3")
    toy.blank()
    toy.open("Store", "class", doc="Keeps things.")
    toy.field("size = K1", "size")
    toy.open("put", "func")
    toy.statement("io write value")
    toy.close()
    toy.close()
    toy.statement("print Store")
    toy.blank()
    toy.statement("print io")
    return toy


def test_symbols_header_and_what_is_between() -> None:
    source, parsed = small_file().done()
    chunks = cut("a.toy", source, parsed, "symbol", CutOptions(), words)
    assert names(chunks) == ["<file_header>", "Store", "Store.put", "<module>"]
    found = by_name(chunks)
    assert found["<file_header>"].body == "use io\nconst K1 = 3"
    assert found["<module>"].body == "print Store\n\nprint io"
    assert found["<module>"].header_text == "use io"
    assert found["Store"].body.startswith("# Keeps things.\nclass Store")
    assert found["Store"].header_text == "use io\nconst K1 = 3"
    assert found["Store.put"].header_text.split("\n") == [
        "use io",
        "const K1 = 3",
        "# Keeps things.",
        "class Store() {",
        "    size = K1",
    ]
    assert [(c.unit, c.kind, c.grain) for c in chunks] == [
        ("file_header", "module", "fine"),
        ("symbol", "class", "coarse"),
        ("symbol", "func", "fine"),
        ("module", "module", "fine"),
    ]


def test_a_constant_counts_as_used_by_the_scope_above() -> None:
    toy = Toy()
    toy.constant("K1", "const K1 = 3")
    toy.constant("K2", "const K2 = 3")
    toy.open("A", "class")
    toy.field("size = K1", "size")
    toy.open("f", "func")
    toy.statement("nothing")
    source, parsed = toy.done()
    chunks = by_name(cut("a.toy", source, parsed, "symbol", CutOptions(), words))
    assert chunks["A.f"].header_text == "const K1 = 3\nclass A() {\n    size = K1"


def test_only_the_members_used_of_a_scope_with_many() -> None:
    toy = Toy()
    toy.open("A", "class")
    for n in range(300):
        toy.field(f"member_{n} = some value", f"member_{n}")
    toy.open("f", "func")
    toy.statement("member_7 + member_9")
    source, parsed = toy.done()
    header = by_name(cut("a.toy", source, parsed, "symbol", CutOptions(), words))["A.f"].header_text
    assert header.split("\n") == ["class A() {", "    member_7 = some value", "    member_9 = some value"]


def user_of_table(rows: int) -> tuple[Chunk, str]:
    """A function that uses a constant of so many rows, and the constant."""
    table = "const TABLE = (\n" + "\n".join(f"row {n} of many" for n in range(rows)) + ")"
    toy = Toy()
    toy.constant("TABLE", table)
    toy.open("f", "func")
    toy.statement("TABLE")
    source, parsed = toy.done()
    chunks = cut("a.toy", source, parsed, "symbol", CutOptions(embed_header=True), words)
    return by_name(chunks)["f"], table


def test_a_long_constant_is_told_whole_and_left_out_of_the_embedded_text() -> None:
    chunk, table = user_of_table(2000)
    assert chunk.header_text == table
    assert chunk.header_trimmed
    assert chunk.tokens <= 512


def test_a_constant_that_is_data_gives_its_first_lines() -> None:
    header = user_of_table(6000)[0].header_text
    assert header.startswith("const TABLE = (\nrow 0 of many\n")
    assert header.endswith("\n...")
    assert len(header) < 600


@pytest.mark.parametrize(
    ("lines", "head", "rest"),
    [
        (50, "use a\n  on two lines\nuse b\n# On c.\nuse c\nuse d", None),
        (4, "use a\n  on two lines\nuse b", "# On c.\nuse c\nuse d"),
        (2, "use a\n  on two lines", "use b\n# On c.\nuse c\nuse d"),
        (1, None, "use a\n  on two lines\nuse b\n# On c.\nuse c\nuse d"),
    ],
)
def test_file_header_ends_between_statements(lines: int, head: str | None, rest: str | None) -> None:
    toy = Toy()
    toy.imports("use a\n  on two lines")
    toy.imports("use b")
    toy.statement("# On c.")
    for name in "cd":
        toy.imports(f"use {name}")
    toy.open("f", "func")
    source, parsed = toy.done()
    chunks = by_name(cut("a.toy", source, parsed, "symbol", CutOptions(file_header_lines=lines), words))
    found = [chunks[name].body if name in chunks else None for name in ("<file_header>", "<module>")]
    assert found == [head, rest]


def test_file_header_can_be_switched_off() -> None:
    source, parsed = small_file().done()
    chunks = cut("a.toy", source, parsed, "symbol", CutOptions(include_file_header=False), words)
    assert names(chunks) == ["<module>", "Store", "Store.put", "<module>#2"]


def test_punctuation_between_symbols_joins_the_one_before() -> None:
    toy = Toy(tail=";")
    toy.open("f", "func")
    toy.close()
    toy.open("g", "func")
    source, parsed = toy.done()
    chunks = cut("a.toy", source, parsed, "symbol", CutOptions(), words)
    assert [(c.symbol, c.body[-2:]) for c in chunks] == [("f", "};"), ("g", "};")]


def test_punctuation_alone_is_a_chunk() -> None:
    (chunk,) = cut("a.toy", b" ;;\n", Parsed("toy", "ok"), "symbol", CutOptions(), words)
    assert (chunk.unit, chunk.body) == ("file_header", " ;;")


@pytest.mark.parametrize("source", [b"", b" \n\t\r\n\f"])
@pytest.mark.parametrize("strategy", ["symbol", "section", "window", "names", "skipped"])
def test_nothing_in_nothing_out(source: bytes, strategy) -> None:
    assert cut("a", source, None, strategy, CutOptions(include_file_full=True), words) == ()


def test_twins_and_names_that_look_like_ordinals() -> None:
    assert assign_ids([("a", 1), ("a#2", 1), ("a", 1), ("a", 2), ("a", 1), ("a#4[1]", 1)]) == [
        ("a",),
        ("a#2",),
        ("a#3",),
        ("a#4[1]", "a#4[2]"),
        ("a#5",),
        ("a#4[1]#2",),
    ]
    assert assign_ids([("x[1]", 1), ("x", 2), ("x", 1)]) == [("x[1]",), ("x#2[1]", "x#2[2]"), ("x#3",)]


def test_parts_name_the_symbol_and_repeat_the_header() -> None:
    toy = Toy()
    toy.imports("use io", "io")
    toy.open("f", "func")
    for n in range(200):
        toy.statement(f"io write line {n}")
    source, parsed = toy.done()
    option = CutOptions(limit=128, embed_header=True)
    chunks = cut("a.toy", source, parsed, "symbol", option, words)
    check(source, chunks, option)
    parts = [c for c in chunks if c.symbol == "f"]
    assert [c.chunk_id for c in parts[:2]] == ["a.toy::f[1]", "a.toy::f[2]"]
    assert {c.header_text for c in parts} == {"use io\nfunc f() {"}
    assert all(c.body.startswith(("func f", "    io write line")) for c in parts)
    assert locate(parsed.symbols, chunks) == ("a.toy::f[1]",)


def test_a_comment_stays_with_the_statement_below_it() -> None:
    toy = Toy()
    toy.open("f", "func")
    for n in range(100):
        toy.statement(f"# note on {n}")
        toy.statement(f"call {n}")
    source, parsed = toy.done()
    parts = cut("a.toy", source, parsed, "symbol", CutOptions(limit=128), words)
    assert len(parts) > 3
    assert all(c.body.startswith("    # note") for c in parts[1:])


def test_a_symbol_without_a_chunk_lies_in_the_one_around_it() -> None:
    toy = Toy()
    toy.open("A", "class")
    toy.open("hidden", "func", chunked=False)
    toy.open("deep", "func")
    source, parsed = toy.done()
    chunks = cut("a.toy", source, parsed, "symbol", CutOptions(), words)
    assert names(chunks) == ["A", "A.hidden.deep"]
    assert locate(parsed.symbols, chunks) == ("a.toy::A", "a.toy::A", "a.toy::A.hidden.deep")


def test_a_constant_lies_in_the_part_that_holds_it() -> None:
    lines = [f"const C{n} = {n}" for n in range(200)]
    source = "\n".join(lines).encode()
    spots = [source.index(f"const C{n} =".encode()) for n in range(200)]
    symbols = tuple(
        Symbol(f"C{n}", (), "constant", at, at + len(lines[n]), at + 6, at, chunked=False)
        for n, at in enumerate(spots)
    )
    parsed = Parsed("toy", "ok", symbols=symbols, pieces=lambda s, e: [(x.start, x.end) for x in symbols])
    chunks = cut("a.toy", source, parsed, "symbol", CutOptions(limit=128), words)
    check(source, chunks, CutOptions(limit=128))
    held = {c.chunk_id: c.body for c in chunks}
    for n, chunk_id in enumerate(locate(symbols, chunks)):
        assert lines[n] in held[chunk_id].split("\n")


def test_a_symbol_lies_in_the_part_of_what_is_around_where_that_is_finer() -> None:
    source = b"x" * 100
    (one,) = cut("a.toy", source, Parsed("toy", "ok"), "symbol", CutOptions(include_file_header=False), words)
    around = (
        replace(one, chunk_id="f[1]", unit="symbol", symbol="f", end=60, parts=2),
        replace(one, chunk_id="f[2]", unit="symbol", symbol="f", start=60, part=2, parts=2),
        replace(one, chunk_id="g", unit="symbol", symbol="f.g", start=10, end=90),
    )
    symbols = [
        Symbol("g", ("f",), "function", 10, 90, 10, 10),
        Symbol("a", ("f", "g"), "constant", 62, 64, 62, 62, chunked=False),
        Symbol("b", ("f", "g"), "constant", 59, 64, 59, 59, chunked=False),
        Symbol("f", (), "function", 0, 100, 0, 0),
    ]
    assert locate(symbols, around) == ("g", "f[2]", "g", "f[1]")


def test_nesting_ends_somewhere() -> None:
    toy = Toy()
    for n in range(100):
        toy.open(f"f{n}", "func")
    source, parsed = toy.done()
    chunks = cut("a.toy", source, parsed, "symbol", CutOptions(), words)
    check(source, chunks, CutOptions())
    assert sum(len(c.body) for c in chunks) < 13 * len(source)
    assert all(locate(parsed.symbols, chunks))


def test_damage_becomes_windows_and_clean_symbols_stay() -> None:
    toy = Toy()
    toy.open("broken", "class", clean=False)
    toy.damage("func oops( {")
    toy.open("fine", "func")
    toy.statement("all well")
    toy.close()
    toy.close()
    toy.damage("} } what is this")
    source, parsed = toy.done("partial")
    chunks = cut("a.toy", source, parsed, "symbol", CutOptions(), words)
    assert names(chunks) == ["broken", "<window>", "broken.fine", "<window>#2"]
    assert [c.body.strip() for c in chunks if c.unit == "window"] == ["func oops( {", "} } what is this"]


def test_a_failed_file_keeps_its_clean_symbols() -> None:
    toy = Toy()
    toy.statement("broken from the start {{{")
    toy.open("bad", "class", clean=False)
    toy.open("good", "func")
    toy.close()
    source, parsed = toy.done("failed")
    chunks = cut("a.toy", source, parsed, "window", CutOptions(), words)
    assert [(c.unit, c.symbol) for c in chunks] == [("window", None), ("symbol", "bad.good")]
    assert names(chunks) == ["<window>", "bad.good"]
    assert locate(parsed.symbols, chunks) == ("a.toy::<window>", "a.toy::bad.good")


def test_names_alone() -> None:
    toy = Toy()
    for n in range(300):
        toy.open(f"name{n % 290}", "func")
        toy.close()
    source, parsed = toy.done()
    option = CutOptions(limit=128)
    chunks = cut("a.toy", source, parsed, "names", option, words)
    assert "".join(c.body for c in chunks).split("\n") == [f"name{n}" for n in range(290)]
    assert all(c.tokens <= 128 for c in chunks)
    assert {(c.unit, c.rendering) for c in chunks} == {("names", "outline")}
    assert (chunks[0].chunk_id, chunks[0].start, chunks[-1].end) == ("a.toy::<names>[1]", 0, len(source))
    assert all(a.end == b.start for a, b in pairwise(chunks))
    assert len(set(locate(parsed.symbols, chunks))) == len(chunks)
    assert cut("a.toy", source, None, "names", option, words) == ()


def test_the_whole_file_on_request() -> None:
    source, parsed = small_file().done()
    whole = cut("a.toy", source, parsed, "symbol", CutOptions(include_file_full=True), words)[-1]
    assert (whole.chunk_id, whole.unit, whole.grain) == ("a.toy::<file>", "file", "coarse")
    assert whole.body == source.decode().rstrip()
    toy = small_file()
    toy.open("long", "func")
    for n in range(300):
        toy.statement(f"call {n}")
    source, parsed = toy.done()
    option = CutOptions(include_file_full=True, limit=128)
    outline = cut("a.toy", source, parsed, "symbol", option, words)[-1]
    assert (outline.rendering, outline.parts) == ("outline", 1)
    assert outline.body.endswith("func long() { ... }")
    assert locate(parsed.symbols, cut("a.toy", source, parsed, "symbol", option, words))[0] == "a.toy::Store"


def test_a_huge_class_is_cut_between_its_members() -> None:
    toy = Toy()
    toy.open("A", "class")
    for n in range(120):
        toy.open(f"method{n}", "func", doc=f"Does the thing number {n}.")
        toy.statement("one two three four five six seven eight nine ten")
        toy.close()
    source, parsed = toy.done()
    option = CutOptions(limit=128)
    chunks = cut("a.toy", source, parsed, "symbol", option, words)
    check(source, chunks, option)
    parts = next(w for w in wholes(chunks) if w[0].symbol == "A")
    assert len(parts) > 5
    assert {c.rendering for c in parts} == {"outline"}
    assert all(c.body.startswith("    # Does the thing") for c in parts[1:])
    assert "seven" not in "".join(c.body for c in parts)


def test_no_header_piece_twice() -> None:
    source = b"use a\nclass A {\n f {}\n}\n"
    item = HeaderItem("import", 0, 5)
    outer = Symbol("A", (), "class", 6, 23, 12, 6, coarse=True, head=(item, HeaderItem("signature", 6, 13)))
    inner = Symbol("f", ("A",), "func", 17, 21, 17, 17, scope=0)
    parsed = Parsed("toy", "ok", symbols=(outer, inner), header=(item, item))
    chunks = by_name(cut("a.toy", source, parsed, "symbol", CutOptions(), words))
    assert chunks["A.f"].header_text == "use a\nclass A {"


def test_a_name_bound_again_and_again_says_nothing() -> None:
    toy = Toy()
    for n in range(500):
        toy.constant("void", f"API void call{n}")
    toy.constant("K1", "const K1 = 3")
    toy.open("f", "func")
    toy.statement("void K1")
    source, parsed = toy.done()
    chunks = by_name(cut("a.toy", source, parsed, "symbol", CutOptions(), words))
    assert chunks["f"].header_text == "const K1 = 3"


def test_texts_are_counted_about_once() -> None:
    calls = 0

    def count(text: str) -> int:
        nonlocal calls
        calls += 1
        return words(text)

    many = Toy()
    for n in range(1000):
        many.open(f"f{n}", "func")
        many.statement("return it")
        many.close()
    source, parsed = many.done()
    chunks = cut("a.toy", source, parsed, "symbol", CutOptions(), count)
    assert calls == len(chunks) == 1000
    calls = 0
    long = Toy()
    long.open("f", "func")
    for n in range(5000):
        long.statement(f"call_{n} with {n}")
    source, parsed = long.done()
    parts = cut("a.toy", source, parsed, "symbol", CutOptions(limit=128), count)
    assert len(parts) > 150
    assert calls < 2 * len(parts)
