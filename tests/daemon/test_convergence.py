"""The first property: an index kept up to date equals one built from nothing.

Random work on a real git tree; after each step the indexer is told of the touched paths alone, or of nothing
in particular, and its rows must be those of a fresh index.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from equality import differences, faults
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import Tree

from ckvd.indexer import Indexer
from ckvd.place import place
from ckvd.session import indexing

SOURCES = {
    ".py": """import os

LIMIT{n} = {n}


class K{n}:
    '''Holds ünïcödé {n}.'''

    limit = LIMIT{n}

    @property
    def a{n}(self):
        return os.sep * {n}


def top{n}(y):
    def inner(z):
        return z

    return inner(y) + {n}
""",
    ".go": """package p{n}

import "errors"

// T{n} is a thing.
type T{n} struct{{ A int }}

// Do does it.
func (t *T{n}) Do() error {{
\treturn errors.New("{n}")
}}
""",
    ".ts": """import {{ x }} from "./y";

export class C{n} {{
  /** doc */
  m(a: number): number {{ return a + {n}; }}
}}
""",
    ".md": "# Títle {n}\n\ntext {n}\n\n## Sub\n\nmore\n",
    ".tf": 'resource "aws_x" "r{n}" {{\n  a = {n}\n}}\n',
    ".sql": "CREATE TABLE t{n} (id int);\n",
    ".txt": "some words {n}\n\nother words\n",
}
BYTES = (b"x", b"\n", "é".encode(), b"(", b"# note\n", b"}", b"def late(): pass\n", b"\x00", b"\xff")
ODD = (
    b"",
    b"\x00\x01",
    b"\xff\xfea\x00b\x00",
    b"a" * 5000,
    b"\r\n\r\ndef z():\r\n    pass\r\n",
    b"\xef\xbb\xbfx = 1\n",
)
RULES = (b"*.tf\n", b"!*.tf\n", b"f1*\n", b"/d1/\n", b"!f1*\n")


class Work:
    """Random work on a tree, by a seed; remembers which paths it touched."""

    def __init__(self, tree: Tree, seed: int) -> None:
        self.tree, self.random = tree, random.Random(seed)
        self.touched: set[bytes] = set()
        self.whole = False
        self.log: list[str] = []

    def files(self) -> list[Path]:
        found = (p for p in self.tree.root.rglob("*") if p.is_file() and not p.is_symlink())
        return sorted(p for p in found if not {".git", ".ckvd"} & set(p.relative_to(self.tree.root).parts))

    def folders(self) -> list[Path]:
        return [self.tree.root, *sorted({p.parent for p in self.files()} - {self.tree.root})]

    def touch(self, *paths: Path) -> None:
        self.touched |= {os.fsencode(p.relative_to(self.tree.root)) for p in paths}

    def create(self) -> None:
        suffix, text = self.random.choice(sorted(SOURCES.items()))
        folder = self.random.choice(self.folders())
        if self.random.random() < 0.3:
            folder = folder / f"d{self.random.randrange(4)}"
            folder.mkdir(exist_ok=True)
        path = folder / f"f{self.random.randrange(200)}{suffix}"
        path.write_text(text.format(n=self.random.randrange(1000)))
        self.touch(path)

    def edit(self) -> None:
        path = self.random.choice(self.files())
        data = path.read_bytes()
        at = self.random.randrange(len(data) + 1)
        path.write_bytes(data[:at] + self.random.choice(BYTES) + data[at:])
        self.touch(path)

    def same_size(self) -> None:
        path = self.random.choice(self.files())
        data = bytearray(path.read_bytes())
        if data:
            before = path.stat()
            data[self.random.randrange(len(data))] = self.random.randrange(97, 123)
            path.write_bytes(data)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            self.touch(path)

    def replace(self) -> None:
        path = self.random.choice(self.files())
        path.write_bytes(self.random.choice(ODD))
        self.touch(path)

    def rename(self) -> None:
        path = self.random.choice(self.files())
        target = self.random.choice(self.folders()) / f"r{self.random.randrange(50)}{path.suffix}"
        path.replace(target)
        self.touch(path, target)

    def move_folder(self) -> None:
        folder = self.random.choice(self.folders())
        if folder != self.tree.root:
            target = self.tree.root / f"moved{self.random.randrange(1000)}"
            folder.rename(target)
            self.touch(folder, target)

    def remove(self) -> None:
        path = self.random.choice(self.files())
        path.unlink()
        self.touch(path)

    def rules(self) -> None:
        with (self.random.choice(self.folders()) / ".gitignore").open("ab") as file:
            file.write(self.random.choice(RULES))
        self.whole = True

    def link(self) -> None:
        path = self.tree.root / f"link{self.random.randrange(50)}.py"
        if not os.path.lexists(path):
            path.symlink_to(self.random.choice(self.files()))
            self.touch(path)

    def commit(self) -> None:
        self.tree.commit()

    def switch(self) -> None:
        self.tree.commit()
        self.tree.git("checkout", "--quiet", "-B", f"b{self.random.randrange(3)}", "HEAD")
        branches = self.tree.git("branch", "--format=%(refname:short)").split()
        self.tree.git("checkout", "--quiet", self.random.choice(branches))
        self.whole = True

    def step(self) -> None:
        do = self.random.choice(self.OPERATIONS)
        self.log.append(do.__name__)
        if self.files() or do is Work.create:
            do(self)

    OPERATIONS: tuple[Callable[[Work], None], ...] = (
        *(create, create, create, edit, edit, edit, edit, same_size, replace, rename, rename),
        *(move_folder, remove, remove, rules, link, commit, switch),
    )


def _bring_up_to_date(ix: Indexer, dirty: frozenset[bytes] | None) -> None:
    ix.bring_up_to_date(dirty)
    while ix.vectors.make(1.0):
        pass


def _check(seed: int, steps: int, where: Path) -> None:
    root = where / "tree"
    root.mkdir()
    tree = Tree(root)
    tree.git("init", "--quiet")
    work = Work(tree, seed)
    for _ in range(6):
        work.create()
    tree.commit()
    at = place(str(root), None)
    with indexing(at) as ix:
        _bring_up_to_date(ix, None)
        for n in range(steps):
            work.touched, work.whole, work.log = set(), False, []
            for _ in range(work.random.randrange(1, 6)):
                work.step()
            whole = work.whole or work.random.random() < 0.3
            _bring_up_to_date(ix, None if whole else frozenset(work.touched))
            fresh = where / f"fresh{n}.db"
            with indexing(place(str(root), str(fresh))) as other:
                _bring_up_to_date(other, None)
            wrong = differences(tree.db, fresh) + faults(tree.db)
            assert not wrong, f"seed {seed}, step {n}, after {' '.join(work.log)}:\n" + "\n".join(wrong)


@pytest.fixture
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="ckvd-"))
    yield folder
    shutil.rmtree(folder)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_kept_up_to_date_equals_built_from_nothing(seed: int) -> None:
    with tempfile.TemporaryDirectory(prefix="ckvd-") as folder:
        _check(seed, steps=3, where=Path(folder))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_kept_up_to_date_equals_built_from_nothing_over_long_histories(seed: int, scratch: Path) -> None:
    _check(seed, steps=30, where=scratch)
