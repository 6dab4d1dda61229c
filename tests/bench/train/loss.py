"""The loss of training and its gradient, written out.

Cross-entropy over cosines, both ways, at all dimensions, half and a quarter of them at once, so that the
first dimensions alone are of use too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

TEMPERATURE = 0.05
NESTED = ((1, 1.0), (2, 0.5), (4, 0.25))
"""Which part of the dimensions, as a divisor, and the weight of the loss over them."""


def loss(q: Floats, d: Floats, same: NDArray[np.bool_]) -> tuple[float, Floats, Floats]:
    """The loss of sums [n, dimensions] of queries and of texts, and its gradients; where `same`, the text
    of another row answers the query too."""
    total, gq, gd = 0.0, np.zeros_like(q), np.zeros_like(d)
    n = len(q)
    for part, weight in NESTED:
        width = q.shape[1] // part
        uq, nq = _unit(q[:, :width])
        ud, nd = _unit(d[:, :width])
        scores = uq @ ud.T / TEMPERATURE
        scores[same] = -1e4
        ahead, back = _softmax(scores), _softmax(scores.T).T
        hit = np.arange(n)
        found, answered = np.log(ahead[hit, hit] + 1e-30), np.log(back[hit, hit] + 1e-30)
        total -= weight * float(found.mean() + 0.5 * answered.mean())
        g = ahead + 0.5 * back
        g[hit, hit] -= 1.5
        g *= weight / n / TEMPERATURE
        gq[:, :width] += _through_unit(g @ ud, uq, nq)
        gd[:, :width] += _through_unit(g.T @ uq, ud, nd)
    return total, gq, gd


def _unit(x: Floats) -> tuple[Floats, Floats]:
    norms = np.sqrt((x * x).sum(axis=1, keepdims=True)) + 1e-9
    return x / norms, norms


def _through_unit(g: Floats, unit: Floats, norms: Floats) -> Floats:
    return np.asarray((g - unit * (g * unit).sum(axis=1, keepdims=True)) / norms)


def _softmax(x: Floats) -> Floats:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))
