"""Model, prefix or header change in `ckv.yaml`: the old vectors answer until the new are in."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
from pathlib import Path

import pytest
from equality import differences, faults
from support import Ckvd, Tree

pytestmark = pytest.mark.slow

HASH = "embedding:\n  model: hash\n"
CHANGES = {
    "the model": (HASH, "embedding:\n  model: static-code-256\n"),
    "the prefix": (HASH, HASH + "  prefix: raw\n"),
    "a header": (HASH + "  header: false\n", HASH + "  header: true\n"),
    "no header": (HASH + "  header: true\n", HASH + "  header: false\n"),
    "the limit": (HASH, HASH + "chunking:\n  max_input_tokens: 128\n"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_every_chunk_has_an_answer_all_the_while(tree: Tree, ckvd: Ckvd, tmp_path: Path, what: str) -> None:
    tree.write(
        {"ckv.yaml": CHANGES[what][0]}
        | {
            f"m{n}.py": f"import os\n\nLIMIT = {n}\n\n\nclass C{n}:\n"
            + "\n".join(f"    def f{j}(self):\n        return os.sep * LIMIT + '{j}'\n" for j in range(40))
            for n in range(40)
        }
    )
    looks = (
        "SELECT (SELECT count(*) FROM chunks WHERE NOT embedded AND path <> 'ckv.yaml'),"
        " count(DISTINCT model) FROM vectors"
    )
    with ckvd.daemon(tree.root):
        ckvd("sync", str(tree.root), "--vectors")
        before = set(tree.rows("SELECT chunk_id, model, hex(int8) FROM vectors JOIN chunks USING (id)"))
        tree.write({"ckv.yaml": CHANGES[what][1]})
        command = [ckvd.executable, "sync", str(tree.root), "--vectors"]
        seen = set()
        with (
            subprocess.Popen(command, stdout=subprocess.DEVNULL) as sync,
            contextlib.closing(sqlite3.connect(f"file:{tree.db}?mode=ro", uri=True, timeout=10)) as reader,
        ):
            while sync.poll() is None:
                seen.add(tuple(reader.execute(looks).fetchone()))
        assert sync.returncode == 0
        # Where cutting depends on it, what is new has no vector for a moment, as after any edit.
        assert {models for _, models in seen} == {1}
        if what != "the limit":
            assert {without for without, _ in seen} == {0}
        after = set(tree.rows("SELECT chunk_id, model, hex(int8) FROM vectors JOIN chunks USING (id)"))
        assert len(before & after) < len(before) / 2 or what == "the limit"
        ckvd("index", str(tree.root), "--db", str(tmp_path / "fresh.db"))
        assert differences(tree.db, tmp_path / "fresh.db") == []
        assert faults(tree.db) == []
