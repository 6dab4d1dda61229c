"""An index of 61,600 chunks with vectors, made through the store's writer in a few seconds."""

from __future__ import annotations

import random
from pathlib import Path

from made_files import Class, Function, Seen, result

from ckvd.model import FileResult, Stamp, Verdict
from ckvd.plan import plan_file
from ckvd.store import files
from ckvd.store.writer import Vector, Writer, open_writer

FILES, CLASSES, METHODS = 560, 10, 10
CHUNKS = FILES * CLASSES * (1 + METHODS)
BATCH = 40
DIMENSIONS = 256
MODEL = "made 256d"
_WORDS = (
    *("cache", "shard", "evict", "entry", "oldest", "load", "store", "index", "parse", "token"),
    *("chunk", "vector", "query", "rank", "file", "path", "lock", "read", "write", "scan"),
)


def build(root: Path) -> Path:
    """The database `<root>/.ckvd/index.db`, in 14 revisions; the same at every call."""
    db = root / ".ckvd" / "index.db"
    root.mkdir()
    files.prepare(str(db))
    chance = random.Random(1)
    with open_writer(str(db)) as writer:
        for batch in (range(n, n + BATCH) for n in range(0, FILES, BATCH)):
            made = [_file(n, chance) for n in batch]
            plans = [plan_file(writer.load(file.path), file) for file in made]
            writer.apply(plans, {file.path: Seen(Stamp(file.size, 1, 2, 3)) for file in made}, None)
        _embed(writer, chance)
        writer.maintain()
    return db


def _file(n: int, chance: random.Random) -> FileResult:
    def words(count: int) -> str:
        return "_".join(chance.choice(_WORDS) for _ in range(count))

    classes = [
        Class(
            f"{words(1).title()}{words(1).title()}{chance.randrange(1000)}",
            tuple(
                Function(f"{words(2)}_{m}", f"return {words(2)}({words(1)}) + odd{chance.randrange(10_000)}")
                for m in range(METHODS)
            ),
        )
        for _ in range(CLASSES)
    ]
    failed = Verdict("window", "failed", "syntax-errors", "line 3: cannot be parsed", 3, 10)
    path = f"pkg{n % 40}/sub{n % 7}/module{n}.py".encode()
    return result(path, *classes, verdict=failed if n % 50 == 0 else None)


def _embed(writer: Writer, chance: random.Random) -> None:
    writer.set_model(MODEL, "made", DIMENSIONS)
    while waiting := writer.take_pending(5000):
        vectors = [
            Vector(
                p.chunk.embed_hash, chance.randbytes(DIMENSIONS), 1 / 127, chance.randbytes(DIMENSIONS // 8)
            )
            for p in waiting
        ]
        writer.put_vectors(MODEL, vectors)
