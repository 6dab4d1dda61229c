"""Where the head of a scope ends: the comment on the first thing inside is no part of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from chunk_toy import words
from test_golden_headers import GOLDEN, SCOPED, SOURCES
from test_real_headers import chunks_of

from ckvd import parse
from ckvd.chunk import cut
from ckvd.languages.detect import detect
from ckvd.model import CutOptions

RUBY = """\
module Shop
  # On lists.
  module Lists
    # Keeps few.
    class LRU < Base # of a fixed size
      # Evicts the oldest.
      #
      # Gives it.
      def evict
        1
      end

      # Its own methods.
      class << self
        # One of them.
        def open
          1
        end
      end
    end
  end
end
"""
LISTS = ["module Shop", "  # On lists.", "  module Lists"]
PYTHON = """\
class Stack:  # of plates
    # Puts one on.
    @check
    def push(self, k):
        # Says it.
        def say():
            return k

        return say()


class Named:
    # Why it is.
    \"\"\"Doc.\"\"\"

    def name(self):
        return 1
"""
HASKELL = "class Shape a where\n  -- | Its area.\n  area :: a -> Int\n  area _ = 0\n"
OBJC = "@implementation Foo\n\n// First.\n- (void)first {\n  go();\n}\n- (void)second { }\n@end\n"
TYPED = "@interface Foo : NSObject\n\n/// A block.\ntypedef void (^Block)(\n  int);\n- (void)go;\n@end\n"
BRACE = "class A\n// On its own line.\n{\n  // Gets it.\n  int get() {\n    return 1;\n  }\n}\n"


@pytest.mark.parametrize(
    ("path", "text", "name", "told"),
    [
        ("a.rb", RUBY, "Shop.Lists", ["module Shop"]),
        ("a.rb", RUBY, "Shop.Lists.LRU", LISTS),
        (
            "a.rb",
            RUBY,
            "Shop.Lists.LRU.evict",
            [*LISTS, "    # Keeps few.", "    class LRU < Base # of a fixed size"],
        ),
        (
            "a.rb",
            RUBY,
            "Shop.Lists.LRU.open",
            [
                *(*LISTS, "    # Keeps few.", "    class LRU < Base # of a fixed size"),
                *("      # Its own methods.", "      class << self"),
            ],
        ),
        ("a.py", PYTHON, "Stack.push", ["class Stack:  # of plates"]),
        (
            "a.py",
            PYTHON,
            "Stack.push.say",
            ["class Stack:  # of plates", "    # Puts one on.", "    @check", "    def push(self, k):"],
        ),
        ("a.py", PYTHON, "Named.name", ["class Named:", '    """Doc."""']),
        ("a.jl", "module A\n# Of x.\nfunction f(x)\n  x\nend\nend\n", "A.f", ["module A"]),
        ("a.jl", '@testset "t" begin\n    # Of it.\n    h() = 2\nend\n', "t.h", ['@testset "t" begin']),
        ("A.hs", HASKELL, "Shape.area", ["class Shape a where"]),
        ("a.m", OBJC, "Foo.first", ["@implementation Foo"]),
        ("a.m", OBJC, "Foo.second", ["@implementation Foo"]),
        ("a.m", TYPED, "Foo.Block", ["@interface Foo : NSObject"]),
        ("A.java", BRACE, "A.get", ["class A", "// On its own line.", "{"]),
    ],
)
def test_a_head_ends_before_the_comment_on_what_is_inside(
    path: str, text: str, name: str, told: list[str]
) -> None:
    assert chunks_of(path, text)[name].header_text.splitlines() == told


def test_a_signature_ends_with_the_head() -> None:
    language = detect("a.rb", b"")
    assert language is not None
    parsed = parse.parse("a.rb", RUBY.encode(), language)
    assert {s.symbol: s.signature for s in parsed.symbols}["Shop.Lists"] == "module Lists"


FILES = [
    path
    for folder in (GOLDEN, SOURCES, SCOPED)
    for path in sorted(folder.rglob("*"))
    if path.is_file() and path.suffix != ".txt"
]


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_a_scope_is_told_to_all_chunks_inside(path: Path) -> None:
    """Where its first line is not in the chunk itself."""
    data = path.read_bytes()
    language = detect(path.name, data)
    if language is None or not language.parses or language.sections:
        return
    parsed = parse.parse(path.name, data, language)
    symbols = {(s.symbol, s.lead): s for s in reversed(parsed.symbols)}
    for chunk in cut(path.name, data, parsed, "symbol", CutOptions(), words):
        symbol = symbols.get((chunk.symbol or "", chunk.start))
        if symbol is None or symbol.scope is None or chunk.part > 1:
            continue
        scope = parsed.symbols[symbol.scope].name_start
        first, last = data.rfind(b"\n", 0, scope) + 1, data.find(b"\n", scope)
        if last <= chunk.start or chunk.end <= first:
            assert data[first:last].decode().rstrip("\r") in chunk.header_text.splitlines(), chunk.chunk_id
