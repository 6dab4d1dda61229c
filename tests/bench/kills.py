"""A daemon ended inside commits, checkpoints, embedding and migration: nothing but time is lost.

    python tests/bench/kills.py SOURCE [--kills 100] [--seed 1] [--signal KILL|TERM]

Works on a copy of SOURCE under the installed `ckvd run`. Each round all files are written anew, or the index
is made one of an older version or taken away, and a daemon is ended at a moment of that work that is counted,
not timed: at one write of the log, of the database, at one text (see `deadly/sitecustomize.py`); a write is
then done by half. The file must be sound by SQLite's own checks as it was left; a daemon started on it must
keep every vector that was in, and its file equal a fresh index row for row. Times of restarts are ratios to a
start on an index that nothing was missing from. With TERM it says besides how long the end took. Ends with 1
where anything did not hold.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from equality import differences, faults
from fresh import Fresh, fresh_indexes
from support import Tree, find_ckvd

from ckvd.control import Places, ask
from ckvd.errors import CkvdError

GIVE_UP_S = 300.0
STARTS = 5
REACH = {"commit": 400, "checkpoint": 400, "embedding": 200, "migration": 200, "creation": 30}
"""Up to which write or text an end is aimed at to begin with; less where a round has fewer."""


@dataclass
class Found:
    fell: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    rows: list[float] = field(default_factory=list)
    kept: int = 0


class Kills:
    def __init__(self, tree: Tree, fresh: Fresh, number: signal.Signals, chance: random.Random) -> None:
        self.tree, self.fresh, self.number, self.chance = tree, fresh, number, chance
        self.places = Places(str(tree.db))
        self.says = tree.root.parent / "says"
        self.reach = dict(REACH)
        self.found = Found()

    def round(self, n: int) -> None:
        aim = list(REACH)[n % len(REACH)]
        if aim == "migration":
            self.make_older()
        elif aim == "creation":
            shutil.rmtree(self.tree.db.parent)
        else:
            rewrite(self.tree, n)
        epoch = None if aim == "creation" else self.meta("epoch")
        point = self.chance.randint(1, self.reach[aim])
        self.found.fell[self.end(aim, point)] += 1
        what = f"{n}, at {aim} {point}"
        self.found.wrong += [f"{what}: {fault}" for fault in self.faults()]
        if epoch is not None and self.meta("epoch") != epoch:
            self.found.wrong.append(f"{what}: the index was begun anew")
        self.found.wrong += [f"{what}, after the restart: {row}" for row in self.restart()]

    def end(self, aim: str, point: int) -> str:
        """One daemon's life; where it ended."""
        self.says.unlink(missing_ok=True)
        deadly = str(Path(__file__).parent / "deadly")
        path = os.pathsep.join(filter(None, (deadly, os.environ.get("PYTHONPATH"))))
        what = f"{self.number.value}:{aim}:{point}"
        process = self.start(PYTHONPATH=path, CKVD_DEADLY=what, CKVD_DEADLY_SAYS=str(self.says))
        while process.poll() is None:
            if self.ask("sync", vectors=True) and process.poll() is None and not self.says.exists():
                process.kill()
                process.wait()
                self.reach[aim] = max(1, min(self.reach[aim] - 1, point))
                return "nothing: all was done"
        expected = 0 if self.number == signal.SIGTERM else -self.number
        if process.returncode != expected or not self.says.exists():
            self.found.wrong.append(f"at {aim} {point} the daemon left with {process.returncode}")
        else:
            self.found.ends.append(time.time() - float(self.says.read_text()))
        return aim

    def restart(self, timed: bool = True) -> list[str]:
        """What is wrong after a new daemon has brought the file up to date."""
        before = self.vectors()
        began = time.perf_counter()
        process = self.start()
        try:
            self.until("status", process)
            answers = time.perf_counter() - began
            self.until("sync", process)
            rows = time.perf_counter() - began
            self.until("sync", process, vectors=True)
            kept = before & self.vectors()
            fresh = self.fresh.build(self.tree.root, self.tree.root.parent / "fresh.db")
            wrong = differences(self.tree.db, fresh) + faults(self.tree.db)
        finally:
            process.terminate()
            process.wait()
        if timed:
            self.found.answers.append(answers)
            self.found.rows.append(rows)
            self.found.kept += len(kept)
        return wrong + [f"{len(before - kept)} vectors were lost"] * (kept != before)

    def start(self, **env: str) -> subprocess.Popen[bytes]:
        command = [find_ckvd().executable, "run", str(self.tree.root)]
        return subprocess.Popen(command, env={**os.environ, **env})

    def ask(self, op: str, **more: object) -> bool:
        """Whether a daemon answered."""
        try:
            reply = ask(self.places, {"op": op, **more}, GIVE_UP_S)
        except CkvdError:  # it ends, and says so
            reply = None
        if reply is None:
            time.sleep(0.005)
        return reply is not None

    def until(self, op: str, process: subprocess.Popen[bytes], **more: object) -> None:
        while not self.ask(op, **more):
            assert process.poll() is None, "the daemon ended by itself"

    def faults(self) -> list[str]:
        """What SQLite's checks find; an index that was just begun has no words to check."""
        if self.begun():
            return faults(self.tree.db)
        return [row[0] for row in self.tree.rows("PRAGMA integrity_check") if row != ("ok",)]

    def begun(self) -> bool:
        return bool(self.tree.rows("SELECT 1 FROM sqlite_schema WHERE name = 'vector'"))

    def vectors(self) -> set[tuple[object, ...]]:
        """Those that were made, none of which needs to be made again; none in an index just begun."""
        return set(self.tree.rows("SELECT id, hash FROM vector")) if self.begun() else set()

    def make_older(self) -> None:
        with contextlib.closing(sqlite3.connect(self.tree.db, isolation_level=None)) as db:
            db.execute("UPDATE meta_kv SET value = 0 WHERE key = 'words_version'")

    def meta(self, key: str) -> object:
        return self.tree.rows("SELECT value FROM meta WHERE key = ?", key)[0][0]


def rewrite(tree: Tree, n: int) -> None:
    for path in sorted(tree.root.rglob("*.py")):
        text = path.read_text(errors="replace")
        path.write_text(
            text.replace("return ", f"return {n % 10} or ", 3) + f"\n\ndef kill_{n}():\n    return {n}\n"
        )


def said(times: list[float], unit: float = 1.0) -> str:
    ordered = sorted(times) or [0.0]
    middle, late = ordered[len(ordered) // 2], ordered[len(ordered) * 9 // 10]
    return f"median {middle / unit:.2f}, p90 {late / unit:.2f}, most {ordered[-1] / unit:.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--signal", choices=["KILL", "TERM"], default="KILL")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ckvd-bench-") as folder, fresh_indexes() as fresh:
        tree = Tree(Path(shutil.copytree(given.source, Path(folder) / "tree")))
        tree.git("init", "--quiet")
        find_ckvd()("index", str(tree.root), timeout=600)
        kills = Kills(tree, fresh, signal.Signals[f"SIG{given.signal}"], random.Random(given.seed))
        found = kills.found
        for _ in range(STARTS):
            found.wrong += kills.restart()
        answers, rows = (sorted(t)[STARTS // 2] for t in (found.answers, found.rows))
        kills.found = found = Found(wrong=found.wrong)
        for n in range(given.kills):
            told = len(found.wrong)
            kills.round(n)
            print(f"{n + 1}:", *found.wrong[told:], sep="\n", file=sys.stderr, flush=True)
    where = ", ".join(f"{n} in {what}" for what, n in found.fell.most_common())
    print(f"{given.kills} times SIG{given.signal}, seed {given.seed}: {where}")
    if given.signal == "TERM":
        print(f"from the signal to the end, in s: {said(found.ends)}")
    print(f"restart until it answers, to {answers:.2f} s on a whole index: {said(found.answers, answers)}")
    print(f"restart until its rows are true, to {rows:.2f} s: {said(found.rows, rows)}")
    print(f"{found.kept} vectors that were in were made no second time")
    print("\n".join(found.wrong) or f"{given.kills} times equal to a fresh index, and every file sound")
    return bool(found.wrong)


if __name__ == "__main__":
    sys.exit(main())
