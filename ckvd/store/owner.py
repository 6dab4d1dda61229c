"""Whose a database is, and of which version: what a reader must know before it reads. Light to import."""

from __future__ import annotations

import apsw

from ckvd.errors import NewerStoreError, StoreError
from ckvd.store.connection import APPLICATION_ID, CONTRACT_VERSION

SCHEMA_VERSION = 6
"""Of the tables behind the views. History: 1, the first; 2, a row of metrics an hour; 3, where a model
lies and how it is limited; 4, vectors that stand in; 5, kinds of more languages; 6, bits in blocks."""

Objects = frozenset[tuple[str, str]]
"""Type and name of all that a schema holds."""

_ALL = "SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"


def check_owner(db: apsw.Connection, path: str) -> None:
    """Raises NewerStoreError for a later version and StoreError for another program's database."""
    application, contract = db.pragma("application_id"), db.pragma("user_version")
    if application != APPLICATION_ID and (application or contract or objects_of(db)):
        raise StoreError(f"{path} is the database of another program; pass another file with --db")
    if contract > CONTRACT_VERSION or (version(db) or 0) > SCHEMA_VERSION:
        raise newer(path)


def version(db: apsw.Connection) -> int | None:
    """The version of the tables, None where there are none."""
    if not db.execute("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'meta_kv')").get:
        return None
    found = meta_of(db, "schema_version")
    return found if isinstance(found, int) else None


def meta_of(db: apsw.Connection, key: str) -> object:
    return db.execute("SELECT value FROM meta_kv WHERE key = ?", (key,)).get


def objects_of(db: apsw.Connection) -> Objects:
    return frozenset((str(t), str(n)) for t, n in db.execute(_ALL))


def newer(path: str) -> NewerStoreError:
    return NewerStoreError(
        f"{path} was written by a newer ckvd; upgrade ckvd, or pass another file with --db"
    )
