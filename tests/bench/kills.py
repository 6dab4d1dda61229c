"""kill -9 inside commits, embedding and migration: nothing but time is lost.

    python tests/bench/kills.py SOURCE [--kills 100] [--seed 1] [--compare 10]

Works on a copy of SOURCE under the installed `ckvd run`. Each round all files are written anew, a daemon is
started and killed at a random moment of the work aimed at. Where a kill fell is read from what it left:
frames in the WAL behind the last commit, words of an older splitting, chunks without their vector. After each
kill SQLite's own check must pass; every `--compare` rounds, and at the end, a restarted daemon's file must
equal a fresh index row for row. Ends with 1 where anything did not hold.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from equality import differences, faults
from support import Tree, find_ckvd

GIVE_UP_S = 60.0
SPREAD_S = 0.08
"""Within this time of the first sign of the work aimed at."""

AIMS = ("commit", "embedding", "migration")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compare", type=int, default=10)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    fell: Counter[str] = Counter()
    wrong: list[str] = []
    restarts: list[float] = []
    with tempfile.TemporaryDirectory(prefix="ckvd-bench-") as folder:
        tree = Tree(Path(shutil.copytree(given.source, Path(folder) / "tree")))
        tree.git("init", "--quiet")
        find_ckvd()("index", str(tree.root), timeout=600)
        for n in range(given.kills):
            aim = AIMS[n % len(AIMS)]
            epoch = meta(tree, "epoch")
            kill(tree, aim, n, chance)
            fell[where_it_fell(tree)] += 1
            wrong += [f"kill {n}, aimed at {aim}: {fault}" for fault in damage(tree, epoch)]
            if (n + 1) % given.compare == 0 or n + 1 == given.kills:
                seconds, different = restart(tree, Path(folder) / "fresh.db")
                restarts.append(seconds)
                wrong += [f"after kill {n}: {row}" for row in different]
    where = ", ".join(f"{n} in {what}" for what, n in fell.most_common())
    print(f"{given.kills} kills, seed {given.seed}: {where}")
    median = sorted(restarts)[len(restarts) // 2]
    print(f"restart to a daemon that answers: median {median:.1f} s, most {max(restarts):.1f} s")
    print("\n".join(wrong) or f"{len(restarts)} comparisons with a fresh index: equal, and every file sound")
    return bool(wrong)


def kill(tree: Tree, aim: str, n: int, chance: random.Random) -> None:
    """One daemon's life, ended at a random moment after the work aimed at has begun."""
    if aim == "migration":
        with contextlib.closing(sqlite3.connect(tree.db, isolation_level=None)) as db:
            db.execute("UPDATE meta_kv SET value = 0 WHERE key = 'words_version'")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    else:
        rewrite(tree, n)
    look = revision_of if aim == "embedding" else log_of
    before = look(tree)
    process = subprocess.Popen([find_ckvd().executable, "run", str(tree.root)], stderr=subprocess.DEVNULL)
    until = time.monotonic() + GIVE_UP_S
    while look(tree) == before and time.monotonic() < until:
        assert process.poll() is None, "the daemon ended by itself"
        time.sleep(0.001)
    time.sleep(chance.random() * SPREAD_S)
    process.kill()
    process.wait()


def rewrite(tree: Tree, n: int) -> None:
    for path in sorted(tree.root.rglob("*.py")):
        text = path.read_text(errors="replace")
        path.write_text(
            text.replace("return ", f"return {n % 10} or ", 3) + f"\n\ndef kill_{n}():\n    return {n}\n"
        )


def revision_of(tree: Tree) -> object:
    return meta(tree, "revision")


def log_of(tree: Tree) -> object:
    try:
        found = wal(tree).stat()
    except FileNotFoundError:
        return None
    return (found.st_size, found.st_mtime_ns) if found.st_size else None


def wal(tree: Tree) -> Path:
    return tree.db.with_name("index.db-wal")


def meta(tree: Tree, key: str) -> object:
    return tree.rows("SELECT value FROM meta WHERE key = ?", key)[0][0]


def where_it_fell(tree: Tree) -> str:
    inside = uncommitted(wal(tree)) > 0
    if meta(tree, "words_version") == 0:
        return "a migration" if inside else "idle, before a migration"
    if inside:
        return "a commit"
    return "embedding" if tree.rows("SELECT 1 FROM chunks WHERE NOT embedded LIMIT 1") else "idle, all done"


def uncommitted(path: Path) -> int:
    """Frames of a WAL behind its last commit; a torn one counts."""
    data = path.read_bytes() if path.exists() else b""
    if len(data) < 32:
        return 0
    page = struct.unpack_from(">I", data, 8)[0]
    salts, open_frames = data[16:24], 0
    for at in range(32, len(data), 24 + page):
        if data[at + 8 : at + 16] != salts:
            break
        commits = struct.unpack_from(">I", data, at + 4)[0] and at + 24 + page <= len(data)
        open_frames = 0 if commits else open_frames + 1
    return open_frames


def damage(tree: Tree, epoch: object) -> list[str]:
    """What a plain reader finds wrong with the file as the kill left it."""
    found = faults(tree.db)
    if meta(tree, "epoch") != epoch:
        found.append("the index was begun anew")
    return found


def restart(tree: Tree, fresh: Path) -> tuple[float, list[str]]:
    """Seconds until a new daemon answers, and how its file differs from a fresh one."""
    ckvd = find_ckvd()
    for path in fresh.parent.glob("fresh.db*"):
        os.unlink(path)
    ckvd("index", str(tree.root), "--db", str(fresh), timeout=600)
    began = time.perf_counter()
    process = subprocess.Popen([ckvd.executable, "run", str(tree.root)], stderr=subprocess.DEVNULL)
    try:
        while f"pid {process.pid}" not in ckvd("status", str(tree.root)).stdout:
            assert process.poll() is None, "the daemon ended by itself"
        took = time.perf_counter() - began
        ckvd("sync", str(tree.root), "--vectors", timeout=300)
        return took, differences(tree.db, fresh) + faults(tree.db)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
