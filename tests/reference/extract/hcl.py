"""Blocks and values by python-hcl2, by the address that Terraform has for them: paths on
standard input, one JSON line a file on standard output.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import hcl2
from lark import Token, Tree
from lark.exceptions import LarkError

Row = dict[str, str | int]


def lines(tree: Tree[Token]) -> tuple[int, int]:
    tokens = list(tree.scan_values(lambda token: isinstance(token, Token) and token.strip()))
    return min(t.line for t in tokens), max(t.end_line for t in tokens)


def text(tree: Tree[Token]) -> str:
    return "".join(tree.scan_values(lambda token: isinstance(token, Token))).strip('"').strip()


def row(names: list[str], tree: Tree[Token]) -> Row:
    start, end = lines(tree)
    return {"symbol": ".".join(names), "start": start, "end": end}


def attributes(body: Tree[Token]) -> Iterator[Tree[Token]]:
    return (child for child in body.children if isinstance(child, Tree) and child.data == "attribute")


def rows(body: Tree[Token]) -> Iterator[Row]:
    for attribute in attributes(body):
        yield row([text(attribute.children[0])], attribute)
    for block in body.children:
        if not isinstance(block, Tree) or block.data != "block":
            continue
        parts = [child for child in block.children if isinstance(child, Tree)]
        kind, *labels = [text(part) for part in parts if part.data in ("identifier", "string")]
        first = {"resource": [], "variable": ["var"]}.get(kind, [kind])
        yield row([*first, *filter(None, labels)] if any(labels) else [kind], block)
        if kind == "locals":
            inner = next(part for part in parts if part.data == "body")
            yield from (row(["local", text(a.children[0])], a) for a in attributes(inner))


def read(path: str) -> dict[str, object]:
    try:
        source = Path(path).read_text("utf-8-sig")
        tree = hcl2.parses_to_tree(source if source.endswith("\n") else source + "\n")
        body = next((c for c in tree.children if isinstance(c, Tree) and c.data == "body"), tree)
        return {"path": path, "rows": list(rows(body))}
    except (LarkError, UnicodeDecodeError) as error:
        return {"path": path, "error": str(error)}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(read(line.rstrip("\n"))))
