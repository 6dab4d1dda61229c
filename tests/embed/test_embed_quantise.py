from __future__ import annotations

import apsw
import numpy as np
import pytest
import sqlite_vec
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from ckvd.embed.quantise import dequantise, quantise

VECTORS = npst.arrays(
    np.float32,
    st.tuples(st.integers(0, 5), st.sampled_from([8, 16, 256])),
    elements=st.floats(-1, 1, width=32).map(lambda x: 0.0 if abs(x) < 1e-30 else x),
)


@given(VECTORS)
def test_each_component_comes_back_within_half_a_scale(vectors: np.ndarray) -> None:
    q = quantise(vectors)
    assert (q.int8.dtype, q.bits.shape) == (np.int8, (len(vectors), vectors.shape[1] // 8))
    error = np.abs(dequantise(q.int8, q.scale) - vectors)
    assert (error <= q.scale[:, None] * 0.5 + 1e-6 * q.scale[:, None]).all()


@given(VECTORS)
def test_a_row_is_quantised_by_itself(vectors: np.ndarray) -> None:
    q = quantise(vectors)
    for i in range(len(vectors)):
        alone = quantise(vectors[i : i + 1])
        assert alone.int8.tobytes() == q.int8[i].tobytes()
        assert alone.bits.tobytes() == q.bits[i].tobytes()
        assert alone.scale[0] == q.scale[i]


def test_zero_vector_and_lone_largest_component() -> None:
    q = quantise(np.array([[0.0] * 8, [0.5, -0.5, 0.25, 0, 0, 0, 0, 0]], np.float32))
    assert q.scale.tolist() == [0, 0.5 / 127]
    assert q.int8[1].tolist() == [127, -127, 64, 0, 0, 0, 0, 0]
    assert q.bits.tolist() == [[0], [0b101]]


def test_dimensions_must_fill_whole_bytes() -> None:
    with pytest.raises(ValueError, match="multiple of 8"):
        quantise(np.zeros((1, 12), np.float32))


def test_the_layout_is_that_of_sqlite_vec() -> None:
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((2, 256)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    q = quantise(vectors)
    one = connection.execute("SELECT vec_quantize_binary(?)", (vectors[0].tobytes(),)).get
    assert one == q.bits[0].tobytes()
    hamming = connection.execute(
        "SELECT vec_distance_hamming(vec_bit(?), vec_bit(?))", (q.bits[0].tobytes(), q.bits[1].tobytes())
    ).get
    assert hamming == np.bitwise_count(q.bits[0] ^ q.bits[1]).sum()
    cosine = connection.execute(
        "SELECT vec_distance_cosine(vec_int8(?), vec_int8(?))", (q.int8[0].tobytes(), q.int8[1].tobytes())
    ).get
    assert cosine == pytest.approx(1 - float(vectors[0] @ vectors[1]), abs=0.01)
