"""A search inside a process, by the number of chunks, against one scan of the vectors by numpy.

    python tests/bench/search_latency.py [--sizes 10000 60000 250000 1000000] [--queries 30]

The index is made up: vectors around some hundred directions, bodies of thirty words, the n-th of all in about
3/n of them, and queries of five words, from one in a seventh of the bodies to a rare one. Times are medians
of CPU time, which other work on the machine touches least. The baseline of the same run is the inner product
of the query with all vectors, float32 in a memory-mapped file, and the ten best of that, which also says how
many of those the two steps (bits, then int8) find.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from ckvd.embed import registry
from ckvd.embed.quantise import quantise
from ckvd.index import Index
from ckvd.lookup import Filters, Lookup
from ckvd.search import POOL
from ckvd.serving import serving
from ckvd.store import files
from ckvd.store.codes import add
from ckvd.store.reader import open_reader
from ckvd.store.writer import open_writer

Floats = NDArray[np.float32]

BLOCK = 10_000
DIRECTIONS = 300
BEST = 10
WORDS = 20_000
ASKED = (20, 70, 200, 500, 1500)
"""Which words a query has: the n-th here to fifty places on."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 60_000, 250_000, 1_000_000])
    parser.add_argument("--queries", type=int, default=30)
    given = parser.parse_args()
    print("| chunks | numpy | two steps | ratio | recall@10 | vector search | hybrid search | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for size in given.sizes:
        with tempfile.TemporaryDirectory(prefix="ckvd-bench-") as folder:
            row = measure(Path(folder), size, given.queries)
        print(f"| {' | '.join(row)} |", flush=True)


def measure(root: Path, size: int, queries: int) -> list[str]:
    """The row of one size. Milliseconds are medians."""
    vectors = build(root, size)
    chance = np.random.default_rng(2)
    asked = [
        _unit(vectors[i] + 0.05 * chance.standard_normal(vectors.shape[1])) for i in _picks(size, queries)
    ]
    scan, best = timed(lambda q: _exact(vectors, q), asked)
    with open_reader(str(root / ".ckvd" / "index.db")) as reader:
        model = serving(reader)
        assert model is not None
        look = Lookup(reader, Filters(), POOL)
        two, found = timed(lambda q: look.by_vector(model, q), asked)
    near = [sorted(f, key=lambda i, f=f: -f[i])[:BEST] for f in found]
    recall = np.mean([len({*a.tolist()} & {*b}) / BEST for a, b in zip(best, near, strict=True)])
    texts = [" ".join(_word(rank + n) for rank in ASKED) for n in range(queries)]
    with Index(root) as index:
        index.search("warm up")
        vector, _ = timed(lambda text: index.search(text, mode="vector"), texts)
        hybrid, _ = timed(index.search, texts)
    ms = [f"{1000 * seconds:.1f}" for seconds in (scan, two, vector, hybrid)]
    return [
        f"{size:,}",
        *(f"{ms[0]} ms", f"{ms[1]} ms", f"{two / scan:.1f}", f"{recall:.3f}"),
        *(f"{ms[2]} ms", f"{ms[3]} ms", f"{hybrid / scan:.1f}"),
    ]


def timed(call: Callable[[Any], Any], queries: Sequence[Any]) -> tuple[float, list[Any]]:
    """The median of the CPU seconds that each call took, and what each gave."""
    taken, given = [], []
    for query in queries:
        began = time.process_time()
        given.append(call(query))
        taken.append(time.process_time() - began)
    return median(taken), given


def _exact(vectors: Floats, query: Floats) -> NDArray[np.int64]:
    """Row ids (from 1) of the nearest."""
    nearness = vectors @ query
    return np.asarray(np.argpartition(-nearness, BEST)[:BEST] + 1)


def _picks(size: int, queries: int) -> list[int]:
    return random.Random(3).choices(range(size), k=queries)


def _unit(v: NDArray[Any]) -> Floats:
    return np.asarray(v / np.linalg.norm(v), np.float32)


def build(root: Path, size: int) -> Floats:
    """`<root>/.ckvd/index.db` with `size` chunks, and their vectors [size, dimensions], memory-mapped."""
    (root / ".git").mkdir()
    db = root / ".ckvd" / "index.db"
    files.prepare(str(db))
    spec = registry.resolve(registry.DEFAULT)
    with open_writer(str(db)) as writer:
        writer.set_model(spec.identity, spec.name, spec.dimensions, spec.folder)
        writer.set_meta({"root": str(root)})
    shape = (size, spec.dimensions)
    vectors = np.memmap(root / "vectors.f32", np.float32, "w+", shape=shape)
    chance = np.random.default_rng(1)
    centres = chance.standard_normal((DIRECTIONS, spec.dimensions)).astype(np.float32)
    store = apsw.Connection(str(db))
    try:
        store.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF")
        with store:
            for at in range(0, size, BLOCK):
                block = centres[chance.integers(DIRECTIONS, size=min(BLOCK, size - at))]
                block = block + chance.standard_normal(block.shape).astype(np.float32)
                block /= np.linalg.norm(block, axis=1, keepdims=True)
                vectors[at : at + len(block)] = block
                _insert(store, at + 1, block)
            store.execute("DELETE FROM pending")
            store.execute("INSERT INTO chunks_fts(chunks_fts) VALUES('rebuild')")
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        store.close()
    return vectors


def _insert(store: apsw.Connection, first: int, vectors: Floats) -> None:
    """Rows of the tables behind the views: 25 chunks to a file, one vector to a chunk."""
    ids = range(first, first + len(vectors))
    q = quantise(vectors)
    chance = random.Random(first)
    store.executemany(
        "INSERT INTO file(id, path, path_bytes, language, strategy, parse_status, error_bytes, damage, size,"
        " lines, revision) VALUES(?1, ?2, CAST(?2 AS BLOB), 'python', 'symbol', 'ok', 0, '[]', 1, 1, 1)",
        ((i, _path(i)) for i in ids if i == _file(i)),
    )
    store.executemany(
        "INSERT INTO chunk(id, file_id, chunk_id, unit, kind, grain, symbol, parents, start_byte, end_byte,"
        " start_line, end_line, part, parts, rendering, tokens, header_trimmed, truncated, content_hash,"
        " own_hash, embed_hash, revision) VALUES(?1, ?2, ?3, 'symbol', 'function', 'fine', ?4, '[]',"
        " ?5, ?5 + 9, ?5, ?5 + 9, 1, 1, 'source', 99, 0, 0, ?6, ?6, ?6, 1)",
        ((i, _file(i), f"{_path(i)}::f{i}", f"f{i}", 10 * i, _hash(i)) for i in ids),
    )
    store.executemany(
        "INSERT INTO body(id, body, names, words) VALUES(?, ?, ?, '')",
        ((i, " ".join(_words(chance)), f"f{i}") for i in ids),
    )
    (model,) = store.execute("SELECT id FROM model").fetchone()
    codes = [(i, q.int8[n].tobytes(), float(q.scale[n]), q.bits[n].tobytes()) for n, i in enumerate(ids)]
    store.executemany(
        f"INSERT INTO vector(id, hash, model_id, int8, scale, bits) VALUES(?, ?, {model}, ?, ?, ?)",
        ((i, _hash(i), *rest) for i, *rest in codes),
    )
    add(store, ((model, i, bits) for i, _, _, bits in codes))


def _file(i: int) -> int:
    """The file of a chunk: the id of its first chunk."""
    return i - (i - 1) % 25


def _path(i: int) -> str:
    return f"pkg{_file(i) % 40}/module{_file(i)}.py"


def _hash(i: int) -> bytes:
    return i.to_bytes(16)


def _words(chance: random.Random) -> Iterator[str]:
    """A body of thirty words, the n-th of all in proportion to 1/n."""
    for _ in range(30):
        yield _word(int(WORDS ** chance.random()))


def _word(n: int) -> str:
    """The n-th word, of letters alone."""
    return "q" + "".join("abcdefghij"[int(digit)] for digit in str(n))


if __name__ == "__main__":
    main()
