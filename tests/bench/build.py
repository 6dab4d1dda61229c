"""A first index against its floor: the same files parsed, tokenised and embedded with no database.

    python tests/bench/build.py SOURCE

Prints files, chunks, seconds and peak memory of `ckvd index` as a whole process, the floor's in a process of
its own, and the ratios; then the file's size against the source's.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from support import Tree, find_ckvd

WORKERS = max(1, min(4, os.cpu_count() or 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--floor", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.floor:
        print(json.dumps(floor(given.source)))
        return
    with tempfile.TemporaryDirectory(prefix="ckvd-bench-") as folder:
        tree = Tree(Path(shutil.copytree(given.source, Path(folder) / "tree")))
        seconds, memory = timed([find_ckvd().executable, "index", str(tree.root)])
        bottom, least = timed([sys.executable, __file__, "--floor", str(tree.root)])
        files, source = tree.rows("SELECT count(*), sum(size) FROM files")[0]
        chunks = tree.rows("SELECT count(*) FROM chunks")[0][0]
        size = tree.db.stat().st_size
        print(f"{files} files, {source / 1e6:.1f} MB, {chunks} chunks")
        print(f"index {seconds:.1f} s, {memory / 1024:.0f} MB at most in one process")
        print(f"floor {bottom:.1f} s, {least / 1024:.0f} MB")
        print(f"index/floor: time {seconds / bottom:.2f}, memory {memory / least:.2f}")
        print(f"database {size / 1e6:.1f} MB, {size / source:.2f} of the source")


def timed(command: list[str]) -> tuple[float, int]:
    """Seconds, and kB of the largest process among it and its children."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]} failed")
    return time.perf_counter() - began, usage.ru_maxrss


def floor(root: Path) -> int:
    """Analyses every file on as many processes as ckvd uses, and embeds every text; how many texts."""
    from ckvd.embed import embedder, registry

    paths = [p for p in sorted(root.rglob("*")) if p.is_file() and not {".git", ".ckvd"} & set(p.parts)]
    model = embedder.load(registry.resolve(registry.DEFAULT))
    made = 0
    with ProcessPoolExecutor(WORKERS) as pool:
        for texts in pool.map(analyse, paths, chunksize=16):
            made += len(model.embed(texts)) if texts else 0
    return made


def analyse(path: Path) -> list[str]:
    from ckvd.analyze import Job, analyze
    from ckvd.embed import registry, tokenizer
    from ckvd.model import CutOptions

    global _counter
    if _counter is None:
        _counter = tokenizer.load(registry.resolve(registry.DEFAULT))
    data = path.read_bytes()
    if len(data) > CutOptions().max_file_bytes:
        return []
    result = analyze(Job(os.fsencode(path), data, "", CutOptions()), _counter.count)
    return [chunk.body for chunk in result.chunks]


_counter: "tokenizer.TokenCounter | None" = None  # noqa: F821, UP037 - imported where it is used


if __name__ == "__main__":
    main()
