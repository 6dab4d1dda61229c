"""Where a chunk that is split holds others: any two are disjoint, or one lies in the other."""

from __future__ import annotations

import pytest
from chunk_toy import LIMITS, check, wholes, words

from ckvd import languages, parse
from ckvd.chunk import cut
from ckvd.chunk.source import Source
from ckvd.chunk.split import Splitter
from ckvd.chunk.view import Elision, View
from ckvd.model import Chunk, CutOptions, no_pieces

PYTHON = (
    "def outer(rows):\n    total = 0\n"
    + "".join(
        f"\n    def inner_{name}(row):\n"
        + "".join(f"        # Step {n} of it.\n        total = combine(row, total, {n})\n" for n in range(30))
        + "        return total\n"
        + "".join(f"    rows = inner_{name}(rows, {n})\n" for n in range(9))
        for name in ("one", "two", "three")
    )
    + "    return rows\n"
)


def chunks_of(language: str, text: str, options: CutOptions) -> tuple[Chunk, ...]:
    data = text.encode()
    chunks = cut("a", data, parse.parse("a", data, languages.get(language)), "symbol", options, words)
    check(data, chunks, options)
    return chunks


@pytest.mark.parametrize("limit", [*LIMITS, 1024])
def test_parts_of_a_function_and_of_those_in_it(limit: int) -> None:
    chunks = chunks_of("python", PYTHON, CutOptions(limit=limit))
    parts = {w[0].symbol: w for w in wholes(chunks) if w[0].symbol}
    assert len(parts["outer"]) > 2
    for name in ("one", "two", "three"):
        inner = parts[f"outer.inner_{name}"]
        edges = {inner[0].start, *(c.end for c in inner)}
        begun = [c.start for c in parts["outer"] if inner[0].start < c.start < inner[-1].end]
        assert edges.issuperset(begun)
    assert all(c.body.lstrip(" ").startswith(("def", "#", "rows", "return")) for c in parts["outer"])


@pytest.mark.parametrize("limit", LIMITS)
def test_parts_of_an_outline_and_of_the_methods_in_it(limit: int) -> None:
    """The class's header is long, so that what fits beneath a method's does not beneath it."""
    imports = "".join(f"import module_{n}\n" for n in range(40))
    methods = "".join(
        f'\n    def method_{n}(self):\n        """Does it.\n\n'
        + "".join(f"        Rule {k} of what this does and why.\n" for k in range(3 * n))
        + f'        """\n        return module_{n}.call(self, {n})\n'
        for n in range(20)
    )
    options = CutOptions(limit=limit, embed_header=True)
    chunks = chunks_of("python", f"{imports}\n\nclass A:\n    x = 1\n{methods}", options)
    parts = [c for c in chunks if c.symbol == "A"]
    assert len(parts) > 1
    assert {c.rendering for c in parts} == {"outline"}


def test_no_part_is_closing_brackets_alone() -> None:
    for n in range(30, 110):
        lines = "  word (1)\n" * n
        chunks = chunks_of(
            "javascript", f"function f() {{\n  return `\n{lines}`;\n}}\n", CutOptions(limit=128)
        )
        assert all("word" in c.body for c in chunks)
        assert chunks[-1].body.endswith("`;\n}")


def test_no_part_is_an_opening_bracket_alone() -> None:
    for n in range(60, 90):
        inner = "word " * n
        text = f"fn f() {{\n  {{\n    {{\n      // {inner}\n      {inner};\n    }}\n  }}\n}}\n"
        chunks = chunks_of("rust", text, CutOptions(limit=128))
        assert all("word" in c.body for c in chunks)


def test_what_follows_a_chunk_that_is_left_out_and_is_itself_in_parts() -> None:
    left_out = b"def f():\n" + b"    one = two\n" * 90
    data = left_out + b"three = four\n" * 90
    end, middle = len(left_out), len(left_out) // 2
    view = View(Source(data), [Elision(9, end, "...", (0, end))], [(0, middle), (middle, end)])
    splitter = Splitter(view, no_pieces, "#", lambda a, b: words(view.render(a, b)), 0, 64)
    spans = splitter.split(0, len(data), (), words(view.render(0, len(data))))
    assert [a for a, _ in spans] == [0, *(b for _, b in spans[:-1])]
    assert spans[-1][1] == len(data)
    assert all(words(view.render(*span)) <= 64 for span in spans)


def test_a_chunk_that_fits_is_not_cut_because_it_seemed_too_big() -> None:
    """Behind a chunk that is cut: its part takes what stands between the two."""
    first, between, second = b"x y\n" * 200, b"\n\n", b"x\n" * 60 + b"y y y\n" * 400
    data = first + between + second
    begin, end = len(first) + len(between), len(data)
    view = View(Source(data), (), [(0, len(first)), (begin, end)])
    splitter = Splitter(view, no_pieces, "#", lambda a, b: data.count(b"x", a, b), 0, 64)
    spans = splitter.split(0, end, (), 260)
    assert (len(first), end) in spans
    assert [a for a, _ in spans] == [0, *(b for _, b in spans[:-1])]
