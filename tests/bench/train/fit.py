"""Contrastive training of a table of token vectors, in numpy: a text is the weighted sum of its rows.

Most batches are of whole classes, files and packages: what a query must be told apart from is its neighbours.
Gradients are written out (`loss`), for a table needs no framework: rows that a batch does not touch do not
move, and Adam keeps its moments by row. What comes out is a mean of the table before and after, which does
better on packages that neither saw than either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from loss import loss
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

SAME_PLACE = 0.7
"""Share of batches that are drawn by class, file and package."""
MIXED = 0.6
"""How far the table goes from where it began to where training leads."""
PREFIXED = 0.85
"""Share of texts that have the line of plain words, as embedded texts have."""


@dataclass
class Pairs:
    """Mined records as token ids: rows of flat arrays (see `pairs`), over all packages."""

    flat: dict[str, NDArray[np.int32]]
    ends: dict[str, Ints]
    package: Ints
    file: Ints
    owner: Ints
    comments: dict[int, list[int]]
    """Rows of `comment` by record."""
    said: Ints = field(init=False)
    """Records that have a query or a comment."""

    def __post_init__(self) -> None:
        queries = np.diff(self.ends["query"]) > 0
        queries[list(self.comments)] = True
        self.said = np.flatnonzero(queries)

    def __len__(self) -> int:
        return len(self.package)

    def row(self, name: str, i: int) -> NDArray[np.int32]:
        ends = self.ends[name]
        return self.flat[name][ends[i] : ends[i + 1]]


def load(folder: Path, tokens: Callable[[str], list[int]]) -> Pairs:
    """The records of all files in `folder`, words replaced by what the tokenizer makes of them.

    A record whose body another package has too is taken once.
    """
    names = ("query", "doc", "name", "prefix", "body", "comment")
    flat: dict[str, list[NDArray[np.int32]]] = {name: [] for name in names}
    lengths: dict[str, list[Ints]] = {name: [] for name in names}
    numbers: dict[str, list[Ints]] = {name: [] for name in ("package", "in_file", "owner")}
    known: dict[str, NDArray[np.int32]] = {}
    comments: dict[int, list[int]] = {}
    seen: set[int] = set()
    records = rows_of_comments = 0
    for number, path in enumerate(sorted(folder.glob("*.npz"))):
        mined = np.load(path)
        pieces = [_pieces(str(w), known, tokens) for w in mined["words"]]
        fresh = np.array([k not in seen for k in mined["key"].tolist()], bool)
        seen.update(mined["key"].tolist())
        place = records + np.cumsum(fresh) - 1
        for name in names:
            keep = fresh if name != "comment" else fresh[mined["comment_of"]]
            rows = np.split(mined[name], mined[f"{name}_ends"][1:-1]) if len(keep) else []
            made = [_joined([pieces[w] for w in row]) for row, k in zip(rows, keep, strict=True) if k]
            flat[name] += made
            lengths[name].append(np.array([len(m) for m in made], np.int64))
        for record in mined["comment_of"]:
            if fresh[record]:
                comments.setdefault(int(place[record]), []).append(rows_of_comments)
                rows_of_comments += 1
        numbers["package"].append(np.full(fresh.sum(), number))
        numbers["in_file"].append(mined["in_file"][fresh] + 1000 * number)
        numbers["owner"].append(mined["owner"][fresh].astype(np.int64))
        records += int(fresh.sum())
    return Pairs(
        {name: np.concatenate(flat[name]) for name in names},
        {name: np.concatenate([[0], np.cumsum(np.concatenate(lengths[name]))]) for name in names},
        *(np.concatenate(numbers[name]) for name in ("package", "in_file", "owner")),
        comments,
    )


def _pieces(
    word: str, known: dict[str, NDArray[np.int32]], tokens: Callable[[str], list[int]]
) -> NDArray[np.int32]:
    found = known.get(word)
    if found is None:
        found = known[word] = np.array(tokens(word), np.int32)
    return found


def _joined(parts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.concatenate(parts) if parts else np.empty(0, np.int32)


class Batches:
    """Draws records and makes of each a query and the text that answers it."""

    def __init__(self, pairs: Pairs, size: int, seed: int) -> None:
        self._pairs, self._size = pairs, size
        self._chance = np.random.default_rng(seed)
        order = np.lexsort((pairs.owner, pairs.file, pairs.package))
        said = np.zeros(len(pairs), bool)
        said[pairs.said] = True
        self._near = order[said[order]]
        """Records of which something is said, neighbours beside each other."""
        packages = pairs.package[self._near]
        self._starts = np.flatnonzero(np.diff(packages, prepend=-1))
        sizes = np.diff(np.append(self._starts, len(packages)))
        self._sizes = sizes
        self._likely = sizes**0.6 / (sizes**0.6).sum()

    def draw(self) -> NDArray[np.int64]:
        chance, size = self._chance, self._size
        if chance.random() < SAME_PLACE:
            some = []
            for p in chance.choice(len(self._starts), 4, replace=False, p=self._likely):
                most = min(size // 4, self._sizes[p])
                at = self._starts[p] + chance.integers(self._sizes[p] - most + 1)
                some.append(self._near[at : at + most])
            return np.concatenate(some)
        said = chance.choice(self._pairs.said, int(0.85 * size), replace=False)
        return np.unique(
            np.concatenate([said, chance.choice(len(self._pairs), size - len(said), replace=False)])
        )

    def texts(self, i: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Query and text of record `i`, as token ids."""
        p, chance = self._pairs, self._chance
        comments = p.comments.get(i, [])
        sentence = p.row("query", i)
        body, masked = [p.row("body", i)], None
        if len(sentence) and (not comments or chance.random() < 0.8):
            query = p.row("doc", i) if chance.random() < 0.15 else sentence
        elif comments:
            chosen = int(chance.integers(len(comments)))
            query = p.row("comment", comments[chosen])
            comments = [c for n, c in enumerate(comments) if n != chosen]
        else:
            query = masked = p.row("name", i)
        body += [p.row("comment", c) for c in comments]
        if masked is not None:
            body = [part[~np.isin(part, masked)] for part in body]
        elif chance.random() < PREFIXED:
            body.insert(0, p.row("prefix", i))
        if len(query) > 6 and chance.random() < 0.3:
            query = query[chance.random(len(query)) > 0.15]
        return query, _joined(body)


def bag(rows: list[NDArray[np.int32]], width: int) -> sparse.csr_matrix:
    """[len(rows), width]: each distinct token once, weighted by the square root of its count."""
    lengths = np.array([len(r) for r in rows])
    keys = np.repeat(np.arange(len(rows), dtype=np.int64), lengths) * width + _joined(rows)
    distinct, counts = np.unique(keys, return_counts=True)
    row, token = np.divmod(distinct, width)
    starts = np.searchsorted(row, np.arange(len(rows) + 1))
    return sparse.csr_matrix((np.sqrt(counts, dtype=np.float32), token, starts), (len(rows), width))


@dataclass
class Adam:
    """Adam over the rows that a gradient touches."""

    shape: tuple[int, int]
    first: float = 0.9
    second: float = 0.98

    def __post_init__(self) -> None:
        self._m = np.zeros(self.shape, np.float32)
        self._v = np.zeros(self.shape, np.float32)
        self._steps = np.zeros((self.shape[0], 1), np.float32)

    def move(self, table: Floats, rows: Ints, gradient: Floats, rate: float) -> None:
        self._steps[rows] += 1
        steps = self._steps[rows]
        m = self._m[rows] = self.first * self._m[rows] + np.float32(1 - self.first) * gradient
        v = self._v[rows] = self.second * self._v[rows] + np.float32(1 - self.second) * gradient * gradient
        m = m / (1 - self.first**steps)
        v = v / (1 - self.second**steps)
        table[rows] -= np.float32(rate) * m / (np.sqrt(v) + np.float32(1e-8))


def train(
    table: Floats,
    pairs: Pairs,
    *,
    steps: int,
    rate: float,
    size: int = 512,
    seed: int = 0,
    tell: Callable[[int, float, Floats], Any] = lambda *_: None,
    every: int = 100,
) -> Floats:
    """The table [tokens, dimensions] after training; `tell` is called with step, mean loss and the table that
    is being trained."""
    start, table = table, table.copy()
    adam, batches, recent = Adam(table.shape), Batches(pairs, size, seed), []
    for step in range(1, steps + 1):
        rows = batches.draw()
        made = [(q, d) for q, d in map(batches.texts, rows.tolist()) if len(q) and len(d)]
        queries, texts = bag([q for q, _ in made], len(table)), bag([d for _, d in made], len(table))
        both = sparse.vstack([queries, texts], format="csr")
        touched, both.indices = np.unique(both.indices, return_inverse=True)
        both = sparse.csr_matrix((both.data, both.indices, both.indptr), (both.shape[0], len(touched)))
        sums = np.asarray(both @ table[touched], np.float32)
        n = len(made)
        asked = [hash(q.tobytes()) for q, _ in made]
        same = np.equal.outer(asked, asked)
        np.fill_diagonal(same, False)
        value, gq, gd = loss(sums[:n], sums[n:], same)
        recent.append(value)
        warm = min(1.0, step / 50)
        falling = max(0.02, 1 - step / steps)
        gradient = np.asarray(both.T @ np.concatenate([gq, gd]), np.float32)
        adam.move(table, touched, gradient, rate * warm * falling)
        if step % every == 0 or step == steps:
            tell(step, float(np.mean(recent)), table)
            recent.clear()
    return np.asarray(start + np.float32(MIXED) * (table - start))
