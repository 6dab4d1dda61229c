"""The daemon's memory over rounds in which everything is indexed and embedded anew: it must stay flat.

    python tests/bench/memory.py SOURCE [--rounds 10]

Works on a copy of SOURCE under the installed `ckvd run`. After each round it prints the resident memory of
the daemon and of its workers in MiB, the first as a ratio to that after the third round, from which on
nothing is new to it. Ends with 1 where the last is more than a tenth above that.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from readers import write
from support import Tree, find_ckvd

WARM = 3
MOST = 1.1


def resident(pid: int) -> float:
    """MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()
    ckvd = find_ckvd()
    found: list[float] = []
    with tempfile.TemporaryDirectory(prefix="ckvd-bench-") as folder:
        tree = Tree(Path(shutil.copytree(given.source, Path(folder) / "tree")))
        tree.git("init", "--quiet")
        with ckvd.daemon(tree.root) as process:
            for number in range(given.rounds):
                write(tree, number)
                ckvd("sync", str(tree.root), "--vectors", "--timeout", "1800", timeout=1830)
                found.append(resident(process.pid))
                ((chunks,),) = tree.rows("SELECT count(*) FROM chunks")
                workers = ", ".join(f"{resident(pid):.0f}" for pid in children(process.pid))
                ratio = found[-1] / found[min(number, WARM - 1)]
                says = f"{chunks} chunks, {found[-1]:.0f} MiB, {ratio:.2f}; workers {workers}"
                print(f"round {number + 1}: {says}", flush=True)
    return found[-1] > MOST * found[min(len(found), WARM) - 1]


if __name__ == "__main__":
    sys.exit(main())
