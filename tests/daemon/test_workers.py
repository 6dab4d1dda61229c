"""A file that costs too much: it alone is given up, and no process is left that works for nobody."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from typing import Any

import pytest
from support import Ckvd, Tree

from ckvd.analyze import Job
from ckvd.embed import registry
from ckvd.model import CutOptions
from ckvd.workers import Limits, Pool

ENDLESS = b"/*" * 20_000
"""Comments that are opened and never closed: seconds for this grammar."""
TIGHT = Limits(cpu_s=2.0, cpu_s_per_mb=0.0)


def job(path: str, data: bytes) -> Job:
    return Job(path.encode(), data, "0" * 40, CutOptions())


def test_a_file_that_takes_too_long_costs_itself_alone() -> None:
    with Pool(1, registry.resolve("hash"), TIGHT) as pool:
        results = {r.path: r for r in pool.run([job("a.kt", ENDLESS), job("b.kt", b"fun b() {}\n")])}
    slow, quick = results[b"a.kt"], results[b"b.kt"]
    assert (slow.verdict.strategy, slow.verdict.parse_status, slow.verdict.reason) == (
        "window",
        "failed",
        "timeout",
    )
    assert slow.chunks
    assert (quick.verdict.parse_status, [s.symbol for s in quick.symbols]) == ("ok", ["b"])


def test_who_waits_for_a_slow_file_can_end_the_wait() -> None:
    class Enough(Exception):
        pass

    def enough() -> None:
        raise Enough

    with Pool(1, registry.resolve("hash"), TIGHT) as pool, pytest.raises(Enough):
        list(pool.run([job("a.kt", ENDLESS)], enough))


def test_a_worker_whose_parent_was_killed_ends_by_itself() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        worker = subprocess.Popen(
            [sys.executable, "-c", f"from ckvd.workers import serve; serve({theirs.fileno()})"],
            pass_fds=[theirs.fileno()],
        )
    connection: Connection[Any, Any] = Connection(ours.detach())
    connection.send((registry.resolve("hash"), TIGHT))
    connection.send(job("a.kt", ENDLESS))
    connection.close()
    assert worker.wait(timeout=60) == -signal.SIGPROF


def test_no_module_of_the_tree_is_imported(tree: Tree, ckvd: Ckvd) -> None:
    names = ("json", "socket", "signal", "threading", "tree_sitter", "ckvd", "regex", "numpy")
    tree.write({f"{name}.py": f"raise SystemExit({name!r})\n" for name in names})
    ckvd("index", cwd=tree.root)
    assert tree.rows("SELECT DISTINCT parse_status FROM files WHERE language = 'python'") == [("ok",)]
