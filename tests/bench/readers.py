"""Eight readers while everything is indexed anew: no error, no refusal, no file seen half.

    python tests/bench/readers.py SOURCE [--readers 8] [--rounds 3] [--seed 1]

Works on a copy of SOURCE under the installed `ckvd run`. Each round all files are written anew, with the
round's number in them. Meanwhile each reader, a process with the standard library's sqlite3 and no busy
timeout at all, asks for the symbol at a line and for all chunks of a file, which must be of one round. Prints
the percentiles of the first as ratios to the same readers while nothing is written; ends with 1 where
anything went wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from support import Tree, find_ckvd

AT = (
    "SELECT symbol, kind FROM symbols WHERE path = ? AND ? BETWEEN start_line AND end_line"
    " ORDER BY start_byte DESC, end_byte LIMIT 1"
)
MARK = re.compile(r"# round (\d+)$", re.MULTILINE)
QUIET_S = 10.0


def read(db: str, seed: int) -> None:
    """Reads until SIGTERM; then one line of JSON."""
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    dice = random.Random(seed)
    connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=0, isolation_level=None)
    paths = [path for (path,) in connection.execute("SELECT path FROM files WHERE language = 'python'")]
    times: list[float] = []
    wrong: list[str] = []
    seen: set[str] = set()
    while not stopped:
        path = dice.choice(paths)
        try:
            began = time.perf_counter()
            connection.execute(AT, (path, dice.randrange(1, 400))).fetchall()
            times.append(time.perf_counter() - began)
            bodies = connection.execute("SELECT body FROM chunks WHERE path = ?", (path,)).fetchall()
        except sqlite3.Error as error:
            wrong.append(f"{type(error).__name__}: {error}")
            continue
        rounds = {number for (body,) in bodies for number in MARK.findall(body)}
        seen |= rounds
        if len(rounds) != 1:
            wrong.append(f"{path} is of the rounds {sorted(rounds)}")
    print(json.dumps({"times": times, "wrong": wrong, "seen": len(seen)}))


def write(tree: Tree, number: int) -> None:
    """Every definition gets the round's number in its own lines, and so do most chunks."""
    for path in tree.root.rglob("*.py"):
        text = re.sub(r"  # round \d+$", "", path.read_text(errors="replace"), flags=re.MULTILINE)
        marked = re.sub(r"^( *(?:def|class) .*:)$", rf"\1  # round {number}", text, flags=re.MULTILINE)
        path.write_text(marked.rstrip("\n") + f"  # round {number}\n")


class Readers:
    def __init__(self, db: Path, number: int, seed: int) -> None:
        command = [sys.executable, __file__, "--read", str(db)]
        self._processes = [
            subprocess.Popen([*command, "--seed", str(seed + n)], stdout=subprocess.PIPE, text=True)
            for n in range(number)
        ]

    def stop(self) -> tuple[list[float], list[str], int]:
        """Times in s, what went wrong, and the most rounds that one of them saw."""
        for process in self._processes:
            process.terminate()
        told = [json.loads(process.communicate()[0]) for process in self._processes]
        times = sorted(t for each in told for t in each["times"])
        return times, [w for each in told for w in each["wrong"]], max(each["seen"] for each in told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        read(str(given.source), given.seed)
        return 0
    ckvd = find_ckvd()
    with tempfile.TemporaryDirectory(prefix="ckvd-bench-") as folder:
        tree = Tree(Path(shutil.copytree(given.source, Path(folder) / "tree")))
        tree.git("init", "--quiet")
        write(tree, 0)
        with ckvd.daemon(tree.root):
            ckvd("sync", str(tree.root), "--vectors", timeout=900)
            readers = Readers(tree.db, given.readers, given.seed)
            time.sleep(QUIET_S)
            quiet, wrong, _ = readers.stop()
            readers = Readers(tree.db, given.readers, given.seed)
            began = time.monotonic()
            for number in range(1, given.rounds + 1):
                write(tree, number)
                ckvd("sync", str(tree.root), "--vectors", "--timeout", "900", timeout=930)
            took = time.monotonic() - began
            busy, more, seen = readers.stop()
            ((chunks,),) = tree.rows("SELECT count(*) FROM chunks")
    wrong += more
    print(f"{chunks} chunks indexed {given.rounds} times anew in {took:.0f} s, {seen} states seen")
    print(f"{given.readers} readers, {len(busy)} point queries, {len(wrong)} errors, refusals or torn files")
    for name, share in (("p50", 0.5), ("p99", 0.99), ("most", 1.0)):
        one, other = (1000 * t[min(len(t) - 1, int(len(t) * share))] for t in (busy, quiet))
        print(f"{name} {one:.2f} ms, {one / other:.2f} of {other:.2f} ms with nothing written")
    print("\n".join(wrong[:10]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
