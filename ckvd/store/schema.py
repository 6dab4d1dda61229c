"""Makes sure that a file holds this version's schema: creates, migrates, mends or rebuilds it in place."""

from __future__ import annotations

import secrets
from functools import cache
from importlib import resources
from typing import cast

import apsw

from ckvd import words
from ckvd.store import check, codes, orphans
from ckvd.store.connection import APPLICATION_ID, CONTRACT_VERSION, transaction
from ckvd.store.migrations import CODES_SINCE, MIGRATIONS
from ckvd.store.owner import SCHEMA_VERSION, Objects, meta_of, objects_of, version
from ckvd.store.rows import names

FTS = {"chunks_fts": "chunk", "names_fts": "name"}
"""The full-text indexes and the table whose rows each has one entry for."""


def ensure(db: apsw.Connection, verify: bool) -> None:
    """Leaves `db`, which `check_owner` let pass, with this version's schema.

    With `verify`, rows that hang on none are dropped, and the whole file is read and checked:
    apsw.CorruptError is raised where it is malformed, the index emptied where a text is not the one that was
    stored, and all else taken for unread, so that the next pass compares each row.
    """
    was, objects = (db.pragma("user_version"), version(db)), objects_of(db)
    current = was == (CONTRACT_VERSION, SCHEMA_VERSION)
    if not (current and _expected() <= objects):
        with transaction(db):
            if current and not _missing_tables(objects):
                _restore(db, objects)
            elif not _migrate(db, *was):
                _rebuild(db, objects)
    _drop_triggers(db, objects)
    if verify:
        with transaction(db):
            orphans.drop(db)
    # Before the whole is checked: a full-text index that is wrong is made anew, the file need not go for it.
    _mend_words(db, verify)
    if not verify:
        return
    if found := check.structure(db):
        raise apsw.CorruptError(found)
    if check.texts(db):
        empty(db)
    else:
        db.execute("UPDATE file SET cut_key = NULL")


def empty(db: apsw.Connection) -> None:
    """Takes all rows out, in place: an index that begins anew, under another epoch."""
    with transaction(db):
        _rebuild(db, objects_of(db))


def _sql() -> str:
    return resources.files("ckvd.store").joinpath("schema.sql").read_text("utf-8")


@cache
def _expected() -> Objects:
    """What a database of this version holds at least."""
    db = apsw.Connection(":memory:")
    try:
        _run(db, _sql())
        return objects_of(db)
    finally:
        db.close()


def _run(db: apsw.Connection, sql: str) -> None:
    for _ in db.execute(sql):
        pass


def _is_fts(name: str) -> bool:
    return name.startswith(tuple(FTS))


def _missing_tables(objects: Objects) -> bool:
    return any(kind == "table" and not _is_fts(name) for kind, name in _expected() - objects)


def _drop_triggers(db: apsw.Connection, objects: Objects) -> None:
    """None is ckvd's. They never fire here, but a reader that writes elsewhere need not meet them."""
    for kind, name in objects:
        if kind == "trigger":
            db.execute(f"DROP TRIGGER IF EXISTS {_quoted(name)}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _migrate(db: apsw.Connection, contract: int, was: int | None) -> bool:
    """Goes step by step to this version; False, and nothing done, where a step is missing."""
    steps = range(was, SCHEMA_VERSION) if was is not None and contract == CONTRACT_VERSION else ()
    if not steps or any(step not in MIGRATIONS for step in steps):
        return False
    for step in steps:
        _run(db, MIGRATIONS[step])
    if steps[0] < CODES_SINCE:
        codes.refill(db)
    db.execute("UPDATE meta_kv SET value = ? WHERE key = 'schema_version'", (SCHEMA_VERSION,))
    return True


def _restore(db: apsw.Connection, objects: Objects) -> None:
    """All tables are there: makes the views, indexes and full-text indexes anew and keeps the rows."""
    _drop(db, objects, tables=False)
    present = objects_of(db)
    for statement in _statements():
        kind, name = statement
        if (kind, name) not in present:
            _run(db, _statements()[statement])
    for fts in FTS:
        db.execute(f"INSERT INTO {fts}({fts}) VALUES('rebuild')")


def _rebuild(db: apsw.Connection, objects: Objects) -> None:
    """An empty index of this version and a new epoch. The file, and what others put into it, stays."""
    _drop(db, objects, tables=True)
    _run(db, _sql())
    db.pragma("application_id", APPLICATION_ID)
    db.pragma("user_version", CONTRACT_VERSION)
    db.executemany(
        "INSERT INTO meta_kv(key, value) VALUES(?, ?)",
        [
            ("schema_version", SCHEMA_VERSION),
            ("words_version", words.VERSION),
            ("epoch", secrets.token_hex(8)),
            ("revision", 0),
            ("changes_since", 0),
            ("words_gone", 0),
        ],
    )


@cache
def _statements() -> dict[tuple[str, str], str]:
    """The SQL that makes each object, shadow tables aside, in the schema's order."""
    db = apsw.Connection(":memory:")
    try:
        _run(db, _sql())
        made = db.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
        return {(t, n): sql for t, n, sql in made if n in FTS or not (t == "table" and _is_fts(n))}
    finally:
        db.close()


def _drop(db: apsw.Connection, objects: Objects, tables: bool) -> None:
    """Drops what is ckvd's: full-text indexes, views, indexes, and with `tables` all else."""
    _drop_triggers(db, objects)
    for fts in FTS:
        _drop_fts(db, fts)
    ours = _expected()
    for kind, name in sorted(objects & ours, reverse=True):
        if kind in ("view", "index"):
            db.execute(f"DROP {kind.upper()} IF EXISTS {_quoted(name)}")
    if tables:
        # References among them would make the order matter.
        db.pragma("defer_foreign_keys", 1)
        for kind, name in objects & ours:
            if kind == "table" and not _is_fts(name):
                db.execute(f"DROP TABLE IF EXISTS {_quoted(name)}")


def _drop_fts(db: apsw.Connection, name: str) -> None:
    """Drops a full-text index also where its shadow tables are gone or malformed."""
    try:
        db.execute(f"DROP TABLE IF EXISTS {name}")
    except (apsw.SQLError, apsw.CorruptError):
        db.pragma("writable_schema", 1)
        db.execute("DELETE FROM sqlite_schema WHERE type = 'table' AND name = ?", (name,))
        db.pragma("writable_schema", "RESET")
    for part in ("data", "idx", "docsize", "config"):
        db.execute(f"DROP TABLE IF EXISTS {name}_{part}")


def _mend_words(db: apsw.Connection, verify: bool) -> None:
    """Rebuilds a full-text index that is incomplete, unreadable, or made with another way to split words."""
    broken = {fts for fts, table in FTS.items() if not _is_sound(db, fts, table, verify)}
    other_words = meta_of(db, "words_version") != words.VERSION
    if not (broken or other_words):
        return
    with transaction(db):
        if other_words:
            _split_anew(db)
            db.execute(
                "INSERT OR REPLACE INTO meta_kv(key, value) VALUES('words_version', ?)", (words.VERSION,)
            )
            broken.add("chunks_fts")
        for fts in broken:
            _drop_fts(db, fts)
            _run(db, _statements()["table", fts])
            db.execute(f"INSERT INTO {fts}({fts}) VALUES('rebuild')")


def _is_sound(db: apsw.Connection, fts: str, table: str, thorough: bool) -> bool:
    """Whether the index has an entry a row and can be read; with `thorough`, whether each entry is right."""
    try:
        counts = f"SELECT (SELECT count(*) FROM {fts}_docsize) = (SELECT count(*) FROM {table})"
        if not db.execute(counts).get:
            return False
        _run(db, f"SELECT rowid FROM {fts} WHERE {fts} MATCH '\"self\"' LIMIT 1")
        if thorough:
            db.execute(f"INSERT INTO {fts}({fts}, rank) VALUES('integrity-check', 1)")
    except (apsw.SQLError, apsw.CorruptError):
        return False
    return True


def _split_anew(db: apsw.Connection) -> None:
    def names_of(*args: object) -> str:
        return names(cast(str | None, args[0]))

    def words_of(*args: object) -> str:
        return words.words(str(args[0]))

    db.create_scalar_function("ckvd_names", names_of, 1)
    db.create_scalar_function("ckvd_words", words_of, 1)
    db.execute(
        "UPDATE body SET words = ckvd_words(body),"
        " names = ckvd_names((SELECT symbol FROM chunk WHERE chunk.id = body.id))"
    )
