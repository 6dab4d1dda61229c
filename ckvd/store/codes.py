"""The bits of the vectors in use, side by side in blocks, so that a Hamming scan reads some hundred rows, not
each vector's.

Slot n of a model's block b is the vector of id `SLOTS * b + n`; a set bit in `used`, lowest first, says that
it is in use. A block without one has no row.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import cast

import apsw

SLOTS = 120
"""Of a block: as many codes of 256 bits as fill a page of 4 KiB."""

Block = tuple[int, int]
"""Model id and number of a block."""


def add(db: apsw.Connection, codes: Iterable[tuple[int, int, bytes]]) -> None:
    """Takes in codes (model id, vector id, bits), those of a model all of one length."""
    for block, some in groupby(sorted(codes), key=lambda code: _block(*code[:2])):
        slots = [(id_ % SLOTS, bits) for _, id_, bits in some]
        length = len(slots[0][1])
        used, table = _read(db, block) or (bytearray(SLOTS // 8), bytearray(SLOTS * length))
        for slot, bits in slots:
            used[slot // 8] |= 1 << slot % 8
            table[slot * length : (slot + 1) * length] = bits
        _write(db, block, used, table)


def remove(db: apsw.Connection, vectors: Iterable[tuple[int, int]]) -> None:
    """Takes out the codes of vectors (model id, vector id); their bits become zeros."""
    for block, some in groupby(sorted(vectors), key=lambda vector: _block(*vector)):
        found = _read(db, block)
        if found is None:
            continue
        used, table = found
        length = len(table) // SLOTS
        for _, id_ in some:
            slot = id_ % SLOTS
            used[slot // 8] &= ~(1 << slot % 8)
            table[slot * length : (slot + 1) * length] = bytes(length)
        if any(used):
            _write(db, block, used, table)
        else:
            db.execute("DELETE FROM code WHERE model_id = ? AND block = ?", block)


def refill(db: apsw.Connection) -> None:
    """Makes all of it anew from the vectors in use."""
    db.execute("DELETE FROM code")
    rows = db.execute("SELECT model_id, id, bits FROM vector WHERE unused_since IS NULL").fetchall()
    add(db, cast(list[tuple[int, int, bytes]], rows))


def _block(model: int, vector: int) -> Block:
    return model, vector // SLOTS


def _read(db: apsw.Connection, block: Block) -> tuple[bytearray, bytearray] | None:
    row = db.execute("SELECT used, bits FROM code WHERE model_id = ? AND block = ?", block).fetchone()
    return None if row is None else (bytearray(row[0]), bytearray(row[1]))


def _write(db: apsw.Connection, block: Block, used: bytearray, table: bytearray) -> None:
    db.execute(
        "INSERT INTO code(model_id, block, used, bits) VALUES(?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET used = excluded.used, bits = excluded.bits",
        (*block, bytes(used), bytes(table)),
    )
