"""Functions and classes by `ast`: paths on standard input, one JSON line a file on standard output."""

from __future__ import annotations

import ast
import json
import sys
import warnings
from collections.abc import Iterator

Row = dict[str, str | int]


def rows(tree: ast.Module) -> Iterator[Row]:
    pending: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while pending:
        node, parents = pending.pop()
        for child in ast.iter_child_nodes(node):
            inside = parents
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inside = (*parents, child.name)
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                assert child.end_lineno is not None
                yield {"symbol": ".".join(inside), "start": first, "end": child.end_lineno}
            pending.append((child, inside))


def read(path: str) -> dict[str, object]:
    with open(path, "rb") as file:
        source = file.read()
    if b"\r" in source.replace(b"\r\n", b"\n") or b"\f" in source:
        source = source.replace(b"\r\n", b"\n").replace(b"\r", b" ").replace(b"\f", b" ")  # they end no line
    try:
        return {"path": path, "rows": list(rows(ast.parse(source)))}
    except (SyntaxError, ValueError, RecursionError) as error:
        return {"path": path, "error": str(error)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(read(line.rstrip("\n"))))
