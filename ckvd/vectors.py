"""Rows that wait for their vector → vectors in the store."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ckvd import languages
from ckvd.chunk import embed_text
from ckvd.metrics import Metrics
from ckvd.settings import Settings
from ckvd.store.writer import Pending, Vector, Writer

if TYPE_CHECKING:
    from ckvd.embed.embedder import Embedder
    from ckvd.embed.quantise import Floats
    from ckvd.embed.tokenizer import TokenCounter


class VectorMaker:
    """Makes the vectors of one store by one model, which is loaded when the first is due."""

    def __init__(self, writer: Writer, settings: Settings, metrics: Metrics) -> None:
        self._writer = writer
        self._metrics = metrics
        self._settings = settings
        self._embedder: Embedder | None = None
        self._counter: TokenCounter | None = None
        self._slice = 64
        self.made = 0
        """How many texts were embedded so far."""
        self.waiting = 0
        """How many chunks waited at the last count."""
        model = settings.model
        if self.wanted:
            writer.set_model(model.identity, model.name, model.dimensions, model.folder, model.limit)
        else:
            writer.set_model(None)

    @property
    def wanted(self) -> bool:
        """Whether there are vectors at all: not with `embedding.model: none`."""
        return self._settings.model.has_vectors

    def make(self, seconds: float) -> bool:
        """Makes vectors for about that long, the latest rows first; whether more are waiting.

        Raises ModelError where the model cannot be run, StoreError where vectors cannot be written, Stopped
        between two texts.
        """
        if not self.wanted:
            return False
        until = time.monotonic() + seconds
        self.waiting = self._writer.pending()
        while time.monotonic() < until:
            rows = self._writer.take_pending(self._slice)
            if not rows:
                return False
            began = time.monotonic()
            vectors = self._vectors(rows, until)
            self._writer.put_vectors(self._settings.model.identity, vectors)
            self.made += len(vectors)
            took = time.monotonic() - began
            self._metrics.embedded(len(vectors), took)
            self._pace(len(vectors), took, seconds)
        self.waiting = self._writer.pending()
        return self.waiting > 0

    def _pace(self, rows: int, took: float, seconds: float) -> None:
        """Sizes the next slice to the model's speed: an event waits for one slice at most."""
        per_row = took / rows
        self._slice = max(1, min(512, 2 * self._slice, int(seconds / max(per_row, 1e-6))))

    def _vectors(self, rows: list[Pending], until: float) -> list[Vector]:
        """Those of the rows' texts that are done by `until`, and of the first."""
        import numpy as np

        from ckvd.embed.quantise import quantise

        embedder, counter = self._model()
        done: list[Floats] = []
        for row in rows:
            if done and time.monotonic() >= until:
                break
            self._writer.patience.check()
            done.append(embedder.embed([self._text(row, counter)])[0])
        q = quantise(np.stack(done))
        return [
            Vector(rows[i].chunk.embed_hash, q.int8[i].tobytes(), float(q.scale[i]), q.bits[i].tobytes())
            for i in range(len(done))
        ]

    def _text(self, row: Pending, counter: TokenCounter) -> str:
        c = row.chunk
        return embed_text(
            language=row.language,
            path=row.path,
            unit=c.unit,
            symbol=c.symbol,
            kind=c.kind,
            header=c.header,
            body=c.body,
            comment=languages.get(row.language).comment if row.language else "#",
            options=self._settings.options,
            count=counter.count,
        )

    def _model(self) -> tuple[Embedder, TokenCounter]:
        """Loads the model when the first vector is due."""
        if self._embedder is None or self._counter is None:
            from ckvd.embed import embedder, tokenizer

            self._counter = tokenizer.load(self._settings.model)
            self._embedder = embedder.load(self._settings.model)
        return self._embedder, self._counter
