"""From a save to its row, and to its vector, as another process sees them; then idle CPU and memory.

    python tests/bench/latency.py SOURCE [--saves 200]

Works on a copy of SOURCE (a folder with Python files) under the installed `ckvd run`. The reader is the
standard library's sqlite3, polling every millisecond. Baselines of the same run: a bare write, and one
`lstat` and read of the whole tree, which is what any tool without a daemon pays before it can answer.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from support import Tree, find_ckvd

GIVE_UP_S = 10.0
IDLE_S = 10.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--saves", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ckvd-bench-") as folder:
        tree = Tree(Path(shutil.copytree(given.source, Path(folder) / "tree")))
        tree.git("init", "--quiet")
        tree.git("add", "--all")
        tree.git("-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "--quiet", "-m", "one")
        with find_ckvd().daemon(tree.root) as process:
            rows, vectors = measure(tree, given.saves, random.Random(given.seed))
            report(tree, rows, vectors)
            report_idle(process.pid)


def measure(tree: Tree, saves: int, chance: random.Random) -> tuple[list[float], list[float]]:
    """Seconds from the write to the row, and to its vector, for each save."""
    files = sorted(p for p in tree.root.rglob("*.py") if p.stat().st_size > 3000)
    rows, vectors = [], []
    with contextlib.closing(sqlite3.connect(f"{tree.db.as_uri()}?mode=ro", uri=True, timeout=10)) as db:
        for n in range(saves):
            name = f"probe_symbol_{n}"
            began = time.perf_counter()
            with chance.choice(files).open("a") as file:
                file.write(f"\n\ndef {name}(a, b):\n    return a + b * {n}\n")
            row: float | None = None
            while True:
                now = time.perf_counter() - began
                seen = db.execute("SELECT embedded FROM chunks WHERE symbol = ?", (name,)).fetchone()
                if seen and row is None:
                    row = now
                if (seen and seen[0]) or now > GIVE_UP_S:
                    break
                time.sleep(0.001)
            rows.append(GIVE_UP_S if row is None else row)
            vectors.append(now)
            time.sleep(chance.random() * 0.15)
    return rows, vectors


def report(tree: Tree, rows: list[float], vectors: list[float]) -> None:
    began = time.perf_counter()
    for path in tree.root.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            path.read_bytes()
    whole = time.perf_counter() - began
    for name, taken in (("row", rows), ("vector", vectors)):
        p50, p99 = quantile(taken, 0.5), quantile(taken, 0.99)
        print(f"save to {name}: p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms")
        print(f"  p50/reading the whole tree: {p50 / whole:.2f}")


def report_idle(pid: int) -> None:
    pids = family(pid)
    resident = sum(int(line.split()[1]) for p in pids for line in status(p) if line.startswith("VmRSS"))
    before = cpu(pids)
    time.sleep(IDLE_S)
    share = (cpu(pids) - before) / os.sysconf("SC_CLK_TCK") / IDLE_S
    print(f"idle CPU {share:.2%}; resident {resident / 1024:.0f} MB in {len(pids)} processes")


def family(pid: int) -> list[int]:
    """The process and all that it started."""
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        for task in Path(f"/proc/{found[-1]}/task").iterdir():
            todo += map(int, (task / "children").read_text().split())
    return found


def status(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/status").read_text().splitlines()


def cpu(pids: list[int]) -> int:
    """Clock ticks, user and system."""
    return sum(
        sum(map(int, Path(f"/proc/{p}/stat").read_text().rpartition(")")[2].split()[11:13])) for p in pids
    )


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


if __name__ == "__main__":
    main()
