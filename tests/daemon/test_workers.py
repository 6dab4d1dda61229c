"""A file that costs too much: it alone is given up, and no process is left that works for nobody."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from support import Ckvd, Tree
from waiting import wait_until

from ckvd.analyze import Job
from ckvd.embed import registry
from ckvd.model import CutOptions
from ckvd.passing import Progress
from ckvd.place import place
from ckvd.report import status
from ckvd.report.state import STALLED_S
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
            [sys.executable, "-c", f"from ckvd.worker import serve; serve({theirs.fileno()})"],
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


def workers(pid: int) -> list[int]:
    """Those that a process has; other children may be git's."""
    found = (n for path in Path(f"/proc/{pid}/task").glob("*/children") for n in path.read_text().split())
    return [int(n) for n in found if b"ckvd.worker" in Path(f"/proc/{n}/cmdline").read_bytes()]


@pytest.mark.slow
def test_a_worker_that_was_stopped_is_replaced_before_a_verdict() -> None:
    with Pool(1, registry.resolve("hash"), Limits(cpu_s=6.0, wall_factor=1.0)) as pool:
        assert [r.verdict.parse_status for r in pool.run([job("a.kt", b"fun a() {}\n")])] == ["ok"]
        (worker,) = workers(os.getpid())
        os.kill(worker, signal.SIGSTOP)
        (result,) = pool.run([job("b.kt", b"fun b() {}\n")])
        assert (result.verdict.parse_status, [s.symbol for s in result.symbols]) == ("ok", ["b"])
        assert workers(os.getpid()) != [worker]


def test_files_that_a_worker_holds_are_pending(tree: Tree, ckvd: Ckvd) -> None:
    with ckvd.daemon(tree.root) as running:
        tree.write({"a.py": "def a(): pass\n"})
        ckvd("sync", cwd=tree.root)
        (worker,) = workers(running.pid)
        os.kill(worker, signal.SIGSTOP)
        try:
            tree.write({f"b{n}.py": f"def b{n}(): pass\n" for n in range(4)})
            wait_until(
                lambda: status.collect(place(str(tree.root), None)).pending_files == 4,
                "four files that are pending",
            )
            shown = ckvd("status", cwd=tree.root).stdout
            assert "4 files behind" in shown
            assert "up to date" not in shown
            assert "4 behind" in ckvd("status", "--short", cwd=tree.root).stdout
        finally:
            os.kill(worker, signal.SIGCONT)
        ckvd("sync", cwd=tree.root)
        told = status.collect(place(str(tree.root), None))
        assert (told.pending_files, told.data.files) == (0, 5)


def test_a_pass_after_a_quiet_hour_is_not_stuck() -> None:
    progress = Progress()
    assert progress.idle_s(3600.0) == 0.0
    progress.scan(1)
    assert progress.idle_s(3600.0) < STALLED_S
    progress.began -= 2 * STALLED_S
    assert progress.idle_s(3600.0) > STALLED_S
    assert progress.idle_s(1.0) == 1.0
