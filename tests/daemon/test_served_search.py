"""A search that the daemon answers is the one that the command makes by itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import Ckvd, Tree
from waiting import wait_until

from ckvd import Index
from ckvd.control import Places, ask
from ckvd.errors import CkvdError
from ckvd.served import ask_daemon

FILES = {
    "cache.py": """class Cache:
    \"\"\"Keeps what was read.\"\"\"

    def evict_oldest(self, most):
        while len(self.kept) > most:
            self.kept.pop(0)

    def clear(self):
        self.kept = []
""",
    "notes.md": "# Eviction\n\nThe oldest goes first.\n",
}
pytestmark = pytest.mark.slow

QUERIES = (
    ["evict the oldest entry"],
    ["Cache", "-k", "1"],
    ["clear", "--budget", "200"],
    ["x", "--mode", "vector"],
)


def test_the_daemon_answers_as_the_command_does(tree: Tree, ckvd: Ckvd) -> None:
    tree.write(FILES)

    def searched() -> list[list[dict[str, Any]]]:
        root = ["--root", str(tree.root), "--json"]
        found = [json.loads(ckvd("search", *query, *root).stdout)["results"] for query in QUERIES]
        return [[hit | {"id": 0} for hit in hits] for hits in found]

    with ckvd.daemon(tree.root):
        ckvd("sync", str(tree.root), "--vectors")
        asked = {"query": "evict the oldest entry", "k": 3}
        wait_until(lambda: ask_daemon(str(tree.root), asked), "an answer in time", 60)
        found = ask_daemon(str(tree.root), asked)
        with Index(tree.root) as index:
            assert found in (index.search(**asked), None)  # None: it took too long
        assert ask_daemon(str(tree.root), {"query": " "}) is None
        served = searched()
        wait_until(lambda: "onnxruntime" not in imported(tree.root), "a command that need not search", 60)
        other = {"op": "search", "for": ["another", str(tree.root)], "asked": asked}
        with pytest.raises(CkvdError, match="another ckvd"):
            ask(Places(str(tree.db)), other, 10)
        tree.write({"cache.py": FILES["cache.py"].replace("clear", "forget_all")})
        ckvd("sync", str(tree.root))
        hits = json.loads(ckvd("search", "forget_all", "--root", str(tree.root), "--json").stdout)["results"]
        assert hits[0]["symbol"] == "Cache.forget_all"
        tree.write(FILES)
    assert ask_daemon(str(tree.root), asked) is None
    ckvd("index", str(tree.root))
    assert searched() == served


def imported(root: Path) -> str:
    """All modules that a search by the command imports."""
    program = "import sys; from ckvd.cli import main; sys.argv = ['ckvd', *sys.argv[1:]]; main()"
    command = [sys.executable, "-X", "importtime", "-c", program, "search", "evict", "--root", str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr
