"""The core is pure: what decides imports nothing that touches the outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ckvd

PACKAGE = Path(ckvd.__file__).parent
PURE = (
    "model",
    "errors",
    "config",
    "config_edit",
    "plan",
    "query",
    "rank",
    "closeness",
    "nearest",
    "hit",
    "budget",
    "words",
    "languages",
    "parse",
    "chunk",
)
OUTSIDE = {
    *("apsw", "asyncio", "fcntl", "glob", "io", "multiprocessing", "onnxruntime", "os", "pathlib", "pygit2"),
    *(
        "random",
        "select",
        "shutil",
        "signal",
        "socket",
        "sqlite3",
        "sqlite_vec",
        "subprocess",
        "sys",
        "tempfile",
    ),
    *("threading", "time", "tokenizers", "watchdog"),
}


def sources() -> list[Path]:
    """The files of the pure modules that exist."""
    flat = [PACKAGE / f"{name}.py" for name in PURE]
    return [path for path in flat if path.exists()] + [
        path for name in PURE for path in sorted((PACKAGE / name).rglob("*.py"))
    ]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of each import, also those inside functions."""
    package = [PACKAGE.name, *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) + 1 - node.level]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"


def fault(name: str) -> bool:
    first, *rest = name.split(".")
    if first != PACKAGE.name:
        return first in OUTSIDE
    return (
        bool(rest)
        and rest[0] not in PURE
        and (PACKAGE / rest[0]).exists() | (PACKAGE / f"{rest[0]}.py").exists()
    )


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_pure_module_imports_nothing_of_the_outside(path: Path) -> None:
    assert [f"line {line}: {name}" for line, name in imports(path) if fault(name)] == []


def test_the_walk_sees_every_form_of_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("test_layers.PACKAGE", tmp_path / "ckvd")
    (tmp_path / "ckvd" / "chunk").mkdir(parents=True)
    (tmp_path / "ckvd" / "store").mkdir()
    path = tmp_path / "ckvd" / "chunk" / "a.py"
    path.write_text(
        "import os.path\nfrom time import sleep\nimport re\nfrom ckvd import store\n"
        "from ckvd.store import x\nfrom .. import store\nfrom . import b\n"
        "from ckvd.model import Chunk\ndef f():\n    import apsw\n"
    )
    found = [(line, name) for line, name in imports(path) if fault(name)]
    assert found == [
        (1, "os.path"),
        (2, "time.sleep"),
        (4, "ckvd.store"),
        (5, "ckvd.store.x"),
        (6, "ckvd.store"),
        (10, "apsw"),
    ]
