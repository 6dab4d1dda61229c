"""What stands before a declaration belongs to it: annotations, contexts, modifiers, on whatever lines."""

from __future__ import annotations

from itertools import product

import pytest
from parse_support import parsed

ANNOTATIONS = [
    "@A\n",
    "@A(1)\n",
    "@A\n@B\n",
    "@A(1)\n@B(2)\n",
    "@A\n@B(2)\n",
    "@A(1)\n@B\n",
    "@A @B ",
    '@A(")", f = [B::class], c = \')\') // note (\n@get:B /* ( */ @[C D(1)]\n\n@x.y.E<F>("""")""")\n',
    "context(Logger)\n",
    "context(l: Logger, m: M) ",
    "@A\ncontext(L)\n@B\n",
]
MODIFIERS = ["", "private ", "@C internal @D\n"]
DECLARATIONS = [
    "class K { fun m() {} }",
    "interface K {\n    fun m()\n}",
    "object K { val m = 1 }",
    "enum class K { m }",
    "sealed class K { class m }",
    "data class K(@A val a: Int) { fun m() {} }",
    "annotation class K",
    "public class K",
    "fun K() {}",
    "fun K(): Int = 1",
    "val K = 1",
    "const val K = 1",
    "typealias K = Int",
]


@pytest.mark.parametrize("declaration", DECLARATIONS)
@pytest.mark.parametrize("inside", [False, True], ids=["", "inside"])
def test_kotlin(declaration: str, inside: bool) -> None:
    for before, modifiers in product(ANNOTATIONS, MODIFIERS):
        if inside and declaration.startswith("typealias"):
            continue
        whole = before + modifiers + declaration
        text = f"package p\n\n/** Doc of it. */\n{whole}\n\nfun after() {{}}\n"
        if inside:
            text = f"package p\n\nclass O {{\n/** Doc of it. */\n{whole}\n\nfun after() {{}}\n}}\n"
        result = parsed("kotlin", text.encode())
        rows = {s.symbol.removeprefix("O."): s for s in result.symbols}
        assert result.status == "ok"
        assert [*rows] == [
            *(["O"] if inside else []),
            "K",
            *(["K.m"] if " m" in declaration else []),
            "after",
        ]
        row = rows["K"]
        assert text[row.start : row.end] == whole
        assert text[row.name_start :].startswith("K")
        assert text[row.lead :].startswith("/** Doc")
        assert row.doc == "Doc of it."
        if row.head:
            assert row.head[1].kind == "signature"
            assert text[row.head[1].start : row.head[1].end].startswith(before)


STRINGS_AND_COMMENTS = [
    'val x = """\n@A("\n@B\nclass No\n"""\n',
    "/*\n@A\nclass No\n*/\nval x = 1\n",
    "val x = f(\n@A(1\n, class)\n",
    "@file:A\n@file:B(1)\nval x = 1\n",
    "val x =\n@Suppress(1)\nf()\n",
]


@pytest.mark.parametrize("source", STRINGS_AND_COMMENTS)
def test_what_is_no_annotation_of_a_declaration(source: str) -> None:
    result = parsed("kotlin", (source + "@A\n@B\ninterface After\n").encode())
    assert [s.symbol for s in result.symbols if s.symbol != "x"] == ["After"]
