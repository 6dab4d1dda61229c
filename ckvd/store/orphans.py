"""Rows whose like ckvd never leaves behind: another program takes rows out without what hangs on them."""

from __future__ import annotations

import apsw

from ckvd.store import vectors

_TABLES = ("chunk", "symbol", "vector", "body", "pending", "stand_in")
"""Those whose rows name rows of other tables, which come first."""


def find(db: apsw.Connection) -> str | None:
    """The first of them, in words; None if there is none."""
    for table in _TABLES:
        if db.execute(f"PRAGMA foreign_key_check({table})").fetchone() is not None:
            return f"what a row of the table {table} belongs to is missing"
    return None if vectors.all_wait(db) else "a chunk waits for a vector that it has, or for none at all"


def drop(db: apsw.Connection) -> None:
    """Takes them out, and makes right what of names and vectors follows from the rows that are left."""
    for table in _TABLES:
        found = db.execute(f"PRAGMA foreign_key_check({table})").fetchall()
        db.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(row[1],) for row in found])
    db.execute("DELETE FROM name WHERE name NOT IN (SELECT name FROM symbol)")
    db.execute("INSERT OR IGNORE INTO name(name) SELECT DISTINCT name FROM symbol")
    vectors.mend(db)
