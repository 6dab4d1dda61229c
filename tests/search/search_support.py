"""Indexes made in the process: files as text → the same rows and vectors that `ckvd index` writes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from made_files import Seen

from ckvd import languages
from ckvd.analyze import Job, analyze
from ckvd.chunk import embed_text
from ckvd.embed import embedder, registry, tokenizer
from ckvd.embed.quantise import quantise
from ckvd.model import CutOptions, Stamp
from ckvd.plan import plan_file
from ckvd.store.writer import Vector, open_writer


def make_index(
    root: Path, files: Mapping[str, str], model: str = registry.DEFAULT, *, vectors: bool = True
) -> Path:
    """Writes `files` under `root` and an index of them where `ckvd` has it; its path."""
    options = CutOptions()
    spec = registry.resolve(model)
    counter = tokenizer.load(spec)
    db = root / ".ckvd" / "index.db"
    root.mkdir(parents=True, exist_ok=True)
    with open_writer(str(db)) as writer:
        if spec.has_vectors:
            writer.set_model(spec.identity, spec.name, spec.dimensions)
        plans, seen = [], {}
        for path, text in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            data = text.encode()
            oid = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            result = analyze(Job(path.encode(), data, oid, options), counter.count)
            plans.append(plan_file(None, result))
            seen[result.path] = Seen(Stamp(result.size, 1, 2, 3))
        writer.apply(plans, seen, None)
        if spec.has_vectors and vectors:
            model_at_work = embedder.load(spec)
            waiting = writer.take_pending(10_000)
            texts = [
                embed_text(
                    language=row.language,
                    path=row.path,
                    unit=row.chunk.unit,
                    symbol=row.chunk.symbol,
                    kind=row.chunk.kind,
                    header=row.chunk.header,
                    body=row.chunk.body,
                    comment=languages.get(row.language).comment if row.language else "#",
                    options=options,
                    count=counter.count,
                )
                for row in waiting
            ]
            q = quantise(model_at_work.embed(texts))
            writer.put_vectors(
                spec.identity,
                [
                    Vector(row.chunk.embed_hash, q.int8[i].tobytes(), float(q.scale[i]), q.bits[i].tobytes())
                    for i, row in enumerate(waiting)
                ],
            )
    return db
