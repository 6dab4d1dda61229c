"""A suffix that languages share: the one that fits the text best reads it."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from equality import differences
from support import Ckvd, Tree

from ckvd import parse
from ckvd.languages import get, version

OBJC = b"""#import "Base.h"
NS_ASSUME_NONNULL_BEGIN
@interface Depot : NSObject
- (void)move:(int)crate to:(int)shelf;
@end
NS_ASSUME_NONNULL_END
"""
CPP = b"namespace depot { template <class T> class Crate { T t; public: void move(int shelf); }; }\n"
C = b"#define MOST 3\nstruct crate { int shelf; };\nvoid move(struct crate *c);\n"


@pytest.mark.parametrize(
    ("source", "language", "symbol"),
    [(OBJC, "objc", "Depot.move:to:"), (CPP, "cpp", "depot.Crate.move"), (C, "c", "move")],
)
def test_a_header_is_read_as_what_it_is(source: bytes, language: str, symbol: str) -> None:
    parsed = parse.parse("depot.h", source, get("c"))
    assert (parsed.language, parsed.status) == (language, "ok")
    assert symbol in {s.symbol for s in parsed.symbols}


@pytest.mark.parametrize(
    ("source", "symbols"),
    [
        (b"#pragma once\nclass B {\npublic:\n  void m();\n};\n", ["B", "B.m"]),
        (b"namespace a { class B { void m(); }; }\n", ["a", "a.B", "a.B.m"]),
        (b"#ifndef A_H_\n#define A_H_\nnamespace a {\nint f(int);\n}\n#endif\n", ["a", "a.f"]),
    ],
)
def test_what_the_grammar_of_c_takes_for_a_function_is_a_class(source: bytes, symbols: list[str]) -> None:
    parsed = parse.parse("depot.h", source, get("c"))
    assert (parsed.language, parsed.status) == ("cpp", "ok")
    assert [s.symbol for s in parsed.symbols if s.kind != "macro"] == symbols


@pytest.mark.parametrize(
    "source",
    [
        b"/* A template <for x> and\n * class B { public: };\n */\nint class_of(struct b *class);\n",
        b"struct a { struct b *class; int namespace; };\nvoid template(int private);\n",
        b"/*\nclass B;\n*/\nstruct b { int class, new; };\n",
    ],
)
def test_words_of_cpp_are_names_in_c(source: bytes) -> None:
    parsed = parse.parse("depot.h", source, get("c"))
    assert (parsed.language, parsed.status) == ("c", "ok")


def test_macros_alone_do_not_make_a_header_objective_c() -> None:
    assert parse.parse("depot.h", b"API(int) move(int) MACRO }\n", get("c")).language != "objc"


def languages_of(db: Path) -> set[tuple[str | None, ...]]:
    """Of each table, which languages its rows name."""
    with contextlib.closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
        return {
            (table, language)
            for table in ("files", "symbols", "chunks")
            for (language,) in connection.execute(f"SELECT language FROM {table} WHERE path = 'depot.h'")
        }


def test_rows_name_the_language_that_a_header_was_read_as(tree: Tree, ckvd: Ckvd, tmp_path: Path) -> None:
    for source, language in [(C, "c"), (CPP, "cpp")]:
        tree.write({"depot.h": source, "ckv.yaml": "embedding:\n  model: hash\n"})
        ckvd("index", tree.root)
        assert languages_of(tree.db) == {(table, language) for table in ("files", "symbols", "chunks")}
    ckvd("index", tree.root, "--db", tmp_path / "fresh.db")
    assert differences(tree.db, tmp_path / "fresh.db") == []


def test_what_a_row_rests_on_covers_all_languages_that_were_tried() -> None:
    """The row of a `.h` names one of them, and must be made anew when the data of another change."""
    kin = {"c", "cpp", "objc"}
    assert version._kin("c") >= kin
    assert version._kin("cpp") >= kin
    assert version._kin("objc") >= kin
