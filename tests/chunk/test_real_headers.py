"""Headers and cuts on real grammars: whole lines, groups, docs of what is split, trailing comments."""

from __future__ import annotations

from chunk_toy import words

from ckvd import parse
from ckvd.chunk import cut
from ckvd.languages.detect import detect
from ckvd.model import Chunk, CutOptions


def chunks_of(path: str, text: str, **options: int) -> dict[str, Chunk]:
    data = text.encode()
    language = detect(path, data)
    assert language is not None
    chunks = cut(path, data, parse.parse(path, data, language), "symbol", CutOptions(**options), words)
    return {c.chunk_id.partition("::")[2]: c for c in chunks}


GO = """\
package store

import (
\t"fmt"
\tstr "strings"

\t"github.com/x/rows/v2" // the rows
\t"unused"
)

import "os"

const (
\tCap = 3 // entries
\tMin = 1
)

func Put(x string) error {
\treturn fmt.Errorf("%s", str.ToLower(x), rows.All(os.Args[Cap]))
}

func Bare() {}
"""


def test_imports_of_a_group_stand_in_it() -> None:
    chunks = chunks_of("a.go", GO)
    assert chunks["Put"].header_text == (
        'package store\nimport (\n\t"fmt"\n\tstr "strings"\n\t"github.com/x/rows/v2" // the rows\n)\n'
        'import "os"\nconst (\n\tCap = 3 // entries\n\tMin = 1\n)'
    )
    assert chunks["Bare"].header_text == "package store"


def test_a_header_is_of_whole_lines() -> None:
    chunks = chunks_of(
        "A.java",
        "package a; // where\n\nimport b.C; /* used */\n\nclass A extends B { // why\n"
        "    int n = 0; // so many\n\n    C get() {\n        return null;\n    }\n}\n",
    )
    assert chunks["A.get"].header_text.split("\n") == [
        "package a; // where",
        "import b.C; /* used */",
        "class A extends B { // why",
        "    int n = 0; // so many",
    ]


def test_a_declaration_is_told_with_what_its_line_says_of_it() -> None:
    ruby = chunks_of("a.rb", "require 'set' if RUBY_VERSION < '3.5'\n\ndef f\n  Set.new\nend\n")
    assert ruby["f"].header_text == "require 'set' if RUBY_VERSION < '3.5'"
    python = chunks_of("a.py", "import os; import sys\nA = 1; B = 2\n\n\ndef f():\n    return os, A\n")
    assert python["f"].header_text == "import os; import sys\nA = 1; B = 2"


def test_what_calls_around_an_object_is_told_to_its_methods() -> None:
    chunks = chunks_of(
        "a.ts", "export const Box = Node.create<Options>({\n  load() {\n    go();\n  },\n});\n"
    )
    assert chunks["Box.load"].header_text == "export const Box = Node.create<Options>({"


def test_a_line_that_is_shared_with_a_body_is_shown_whole() -> None:
    chunks = chunks_of("a.js", "class A { m() { return 1; } }\n")
    assert chunks["A.m"].header_text == "class A { m() { return 1; } }"


def test_of_a_very_long_line_the_declaration_alone_is_shown() -> None:
    beside = "go();" * 210
    chunks = chunks_of("a.js", f"{beside} class A {{ m() {{ {beside} }} }}\n", limit=2048)
    assert chunks["A.m"].header_text == "class A {"


def test_parts_of_a_function_are_told_its_whole_doc() -> None:
    doc = "".join(f"    Rule {n} holds for all that this does.\n" for n in range(60))
    body = "".join(f"    step_{n} = combine(step, {n}, rows)\n" for n in range(200))
    chunks = chunks_of(
        "a.py", f'@wraps(rows)\ndef run(step, rows):\n    """Runs.\n\n{doc}    """\n{body}', limit=256
    )
    parts = [c for c in chunks.values() if c.symbol == "run"]
    assert len(parts) > 3
    assert {c.header_text for c in parts} == {
        f'@wraps(rows)\ndef run(step, rows):\n    """Runs.\n\n{doc}    """'
    }


def test_parts_of_a_function_are_told_the_comment_above_it() -> None:
    body = "".join(f"  let step{n} = combine(step, {n}, rows);\n" for n in range(200))
    chunks = chunks_of("a.rs", f"/// Runs.\n///\n/// In order.\nfn run(step: u8) {{\n{body}}}\n", limit=256)
    parts = [c for c in chunks.values() if c.symbol == "run"]
    assert len(parts) > 3
    assert {c.header_text for c in parts} == {"/// Runs.\n///\n/// In order.\nfn run(step: u8) {"}


def test_a_comment_behind_a_block_belongs_to_what_follows() -> None:
    chunks = chunks_of(
        "A.scala",
        "object A {\n  /** One. */\n  def one: Int =\n    f(1)\n\n"
        "  /** Two. */\n  def two: Int =\n    f(2)\n}\n",
    )
    assert chunks["A.one"].body == "/** One. */\n  def one: Int =\n    f(1)"
    assert chunks["A.two"].body == "/** Two. */\n  def two: Int =\n    f(2)"


def test_a_guard_around_a_file_is_no_piece_of_its_own() -> None:
    includes = "".join(f"#include <a{n}.h>\n" for n in range(30))
    values = "".join(f"#define B{n} {n}\n" for n in range(30))
    chunks = chunks_of(
        "a.h",
        f"/* About. */\n#ifndef A_H\n#define A_H\n\n{includes}\n{values}\nint f(void)\n{{\n}}\n#endif\n",
    )
    head = chunks["<file_header>"]
    assert head.body.startswith("/* About. */\n#ifndef A_H\n")
    assert head.end_line == 50
    assert chunks["<module>"].start_line == 51


def test_a_long_first_piece_is_not_torn_for_a_file_header() -> None:
    text = (
        "TABLE = [\n"
        + "".join(f"    ({n}, {n * n}),\n" for n in range(300))
        + "]\n\n\ndef f():\n    return TABLE\n"
    )
    chunks = chunks_of("a.py", text)
    assert "<file_header>" not in chunks
    parts = [c for c in chunks.values() if c.unit == "module"]
    assert "".join(c.body for c in parts) == text[: text.index("\n\n\ndef")]


def test_a_file_of_one_long_key_has_no_torn_file_header() -> None:
    text = "app:\n" + "".join(f"  key{n}: {n}\n" for n in range(80))
    chunks = chunks_of("a.yaml", text)
    assert "<file_header>" not in chunks
    assert "".join(c.body for c in chunks.values()) == text.rstrip()
