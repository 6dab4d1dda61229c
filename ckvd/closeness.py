"""How near in meaning symbols' names are to a query, word by word: `fetch` in a name answers to `get` in the
query, which shared letters cannot tell and the vector of a whole chunk drowns. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

Pieces = Sequence[int]
"""The tokens of a text, as rows of a table of unit vectors."""


def closeness(
    asked: Sequence[Pieces], weights: Sequence[float], names: Sequence[Pieces], vectors: NDArray[np.float32]
) -> list[float]:
    """Of each name, 0 to 1: the mean, over the words that are asked for, of the cosine of their tokens to the
    nearest token of the name. `weights` are of the words; a name without tokens has 0."""
    rows = [row for word in asked for row in word]
    heavy = np.array([weight for word, weight in zip(asked, weights, strict=True) for _ in word], np.float32)
    told = [i for i, name in enumerate(names) if name]
    found = [0.0] * len(names)
    if not told or not heavy.sum() > 0:
        return found
    flat = [row for i in told for row in names[i]]
    starts = [0, *accumulate(len(names[i]) for i in told)][:-1]
    alike = np.maximum(vectors[rows] @ vectors.T, 0.0)
    best = np.maximum.reduceat(alike[:, flat], starts, axis=1)
    for i, mean in zip(told, (heavy @ best / heavy.sum()).tolist(), strict=True):
        found[i] = mean
    return found
