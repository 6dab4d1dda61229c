"""The Hamming scan over blocks against counting bits one by one."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckvd.nearest import Block, nearest

SLOTS = 16


def made(chance: random.Random, blocks: int, size: int, used: float) -> tuple[list[Block], dict[int, bytes]]:
    """Blocks with some of their slots in use, not one after the other, and the codes by id."""
    found: list[Block] = []
    codes: dict[int, bytes] = {}
    for number in sorted(chance.sample(range(3 * blocks), blocks)):
        slots = [chance.randbytes(size) for _ in range(SLOTS)]
        mask = 0
        for slot, bits in enumerate(slots):
            if chance.random() < used:
                mask |= 1 << slot
                codes[number * SLOTS + slot] = bits
        found.append((number, mask.to_bytes(SLOTS // 8, "little"), b"".join(slots)))
    return found, codes


@given(
    st.randoms(use_true_random=False),
    st.integers(0, 70),
    st.sampled_from([1, 4, 8, 16, 48]),
    st.sampled_from([0.1, 0.9, 1.0]),
    st.integers(1, 300),
    st.booleans(),
)
def test_the_nearest_and_all_as_near_as_the_last_of_them(
    chance: random.Random, blocks: int, size: int, used: float, limit: int, filtered: bool
) -> None:
    table, codes = made(chance, blocks, size, used)
    among = {id_ for id_ in codes if chance.random() < 0.3} if filtered else None
    asked = chance.randbytes(size)
    found = nearest(iter(table), asked, limit, among)
    far = {
        id_: (int.from_bytes(bits) ^ int.from_bytes(asked)).bit_count()
        for id_, bits in codes.items()
        if among is None or id_ in among
    }
    last = sorted(far.values())[:limit][-1:]
    assert found == sorted((i for i in far if far[i] <= max(last, default=0)), key=lambda i: (far[i], i))


def test_a_code_that_differs_in_every_bit_is_found() -> None:
    assert nearest([(2, b"\x01\x80", b"\xff" * 8 * SLOTS)], bytes(8), 10) == [2 * SLOTS, 3 * SLOTS - 1]


def test_codes_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        nearest([(0, b"\xff\xff", b"\xff" * 8 * SLOTS)], bytes(16), 10)
