"""Vectors as they are stored: int8 with one scale each, and one bit a dimension for the first, coarse scan.

Layout, for readers with or without sqlite-vec (`d` dimensions):

- `int8`: d bytes, two's complement; `vector[i] ≈ int8[i] * scale`. As sqlite-vec's `vec_int8(int8)`.
- `scale`: the largest absolute component over 127; 0 for a vector of zeros.
- `bits`: d/8 bytes; component i is bit `i % 8` (least significant first) of byte `i // 8`, 1 where it is
  above 0. As sqlite-vec's `vec_bit(bits)` and what its `vec_quantize_binary` gives for the floats.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class Quantised(NamedTuple):
    """`int8` [n, d], `scale` [n] float64, `bits` [n, d/8] uint8."""

    int8: NDArray[np.int8]
    scale: NDArray[np.float64]
    bits: NDArray[np.uint8]


def quantise(vectors: Floats) -> Quantised:
    """Quantise `vectors` [n, d], d a multiple of 8, each row by itself: its bytes depend on it alone."""
    if vectors.ndim != 2 or vectors.shape[1] % 8:
        raise ValueError(f"vectors must be [n, d] with d a multiple of 8, not {vectors.shape}")
    peak = np.abs(vectors).max(axis=1, initial=0.0).astype(np.float64)
    scale = peak / 127
    codes = np.rint(vectors / np.where(scale > 0, scale, 1.0)[:, None]).astype(np.int8)
    return Quantised(codes, scale, np.packbits(vectors > 0, axis=1, bitorder="little"))


def dequantise(int8: NDArray[np.int8], scale: NDArray[np.float64]) -> Floats:
    """The vectors [n, d] back from `int8` [n, d] and `scale` [n]; each component within half a scale."""
    return (int8 * scale[:, None]).astype(np.float32)
