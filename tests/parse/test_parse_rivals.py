"""A suffix that languages share: the one that fits the text best reads it."""

from __future__ import annotations

import pytest

from ckvd import parse
from ckvd.languages import get

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


def test_macros_alone_do_not_make_a_header_objective_c() -> None:
    assert parse.parse("depot.h", b"API(int) move(int) MACRO }\n", get("c")).language != "objc"
