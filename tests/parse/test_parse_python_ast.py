"""Python's symbols against the language's own parser, on its standard library."""

from __future__ import annotations

import ast
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from parse_support import parsed

STDLIB = Path(sysconfig.get_path("stdlib"))
Row = tuple[str, int, int, int]
"""A qualified name, the first and the last line, and the byte of that at which it ends."""


def by_ast(tree: ast.Module) -> Iterator[Row]:
    pending: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while pending:
        node, parents = pending.pop()
        for child in ast.iter_child_nodes(node):
            inside = parents
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inside = (*parents, child.name)
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                assert child.end_lineno is not None
                assert child.end_col_offset is not None
                yield ".".join(inside), first, child.end_lineno, child.end_col_offset
            pending.append((child, inside))


def by_ckvd(source: bytes) -> Iterator[Row]:
    for s in parsed("python", source).symbols:
        if s.kind in ("function", "method", "constructor", "class"):
            first, last = source.count(b"\n", 0, s.start) + 1, source.count(b"\n", 0, s.end - 1) + 1
            yield s.symbol, first, last, s.end - source.rfind(b"\n", 0, s.end - 1) - 1


def compare(files: list[Path]) -> tuple[int, list[tuple[str, Row]]]:
    """How many symbols `ast` has, and those that only one of the two has."""
    total, differ = 0, []
    for file in files:
        source = file.read_bytes()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        if b"\r" in source.replace(b"\r\n", b"\n") or source.startswith(b"\xef\xbb\xbf"):
            continue  # ast ends a line at a lone CR; a BOM is stripped before a parse
        wanted = sorted(by_ast(tree))
        total += len(wanted)
        differ += [(file.name, row) for row in set(wanted) ^ set(by_ckvd(source))]
    return total, differ


def test_some_modules_of_the_standard_library() -> None:
    names = ("ast", "dataclasses", "enum", "typing", "functools", "inspect", "argparse", "difflib", "tarfile")
    total, differ = compare([STDLIB / f"{name}.py" for name in names])
    assert total > 1_000
    assert differ == []


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 15), reason="its ast knows syntax that the grammar does not")
def test_the_whole_standard_library() -> None:
    files = [f for f in STDLIB.rglob("*.py") if "site-packages" not in f.parts]
    unread = {f for f in files if parsed("python", f.read_bytes()).status != "ok"}
    total, differ = compare([f for f in files if f not in unread])
    assert total > 15_000  # some distributions leave the library's own tests out, which are as much again
    assert differ == []
    # What the grammar itself cannot read: a bracket's content that is indented less than its statement. From
    # 3.12 on such a one stands in the largest class of the file, and costs its methods the class's name.
    total, differ = compare(sorted(unread))
    if sys.version_info < (3, 12):
        assert len(differ) <= total // 10
    assert {name for name, _ in differ} <= {"test_compile.py"}
