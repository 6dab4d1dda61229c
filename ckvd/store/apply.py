"""Carries plans out, inside a transaction that the caller holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import apsw

from ckvd.model import Chunk, display_path
from ckvd.plan import FilePlan, header_key
from ckvd.store import rows, vectors
from ckvd.words import words


def apply_plans(
    db: apsw.Connection, plans: Sequence[FilePlan], revision: int, alive: Callable[[], None]
) -> None:
    """Makes the rows what the plans say, at `revision`; none of the plans is empty. `alive` is called again
    and again: what it raises ends the work.

    Old rows of all files leave before new ones come, so that a path or a name may pass from one file to
    another within one revision.
    """
    ended = vectors.stand_in(db, plans)
    _take_out(db, plans)
    changed = _Changed(revision, _next_chunk(db))
    for plan in plans:
        alive()
        changed.add(plan, _file(db, plan, revision))
    changed.write(db, _headers(db, plans), alive)
    last = "INSERT OR REPLACE INTO meta_kv(key, value) VALUES('last_chunk', ?)"
    db.execute(last, (changed.next_id - 1,))
    _symbols(db, plans, changed.files)
    vectors.follow(db, plans, changed.embed, ended, revision)
    _tell(db, plans, revision)


def _take_out(db: apsw.Connection, plans: Iterable[FilePlan]) -> None:
    gone = [(i,) for plan in plans for i in plan.deletes]
    other = [(i,) for plan in plans for i, _ in plan.updates]
    # FTS5 reads what it is to forget from the rows themselves.
    db.executemany(rows.DELETE_WORDS, gone + other)
    new = sum(len(plan.inserts) for plan in plans)
    touched = len(gone) + len(other) + new  # what the words of are to be merged anew
    db.execute("UPDATE meta_kv SET value = value + ? WHERE key = 'words_gone'", (touched,))
    db.executemany("DELETE FROM chunk WHERE id = ?", gone)
    db.executemany("DELETE FROM symbol WHERE id = ?", [(s.id,) for plan in plans for s in plan.symbols_out])
    db.executemany("DELETE FROM file WHERE id = ?", [(plan.file_id,) for plan in plans if plan.removed])


def _next_chunk(db: apsw.Connection) -> int:
    """An id that no chunk had under this epoch: who keeps one finds that chunk by it, or none."""
    given = db.execute("SELECT value FROM meta_kv WHERE key = 'last_chunk'").get
    return max(given or 0, db.execute("SELECT max(id) FROM chunk").get or 0) + 1


def _file(db: apsw.Connection, plan: FilePlan, revision: int) -> int | None:
    """Writes the file's row; its id, None for one that went."""
    if plan.new is None:
        return None
    row = (*rows.file_row(plan.new), revision)
    if plan.file_id is None:
        return int(db.execute(rows.INSERT_FILE, (*row, *rows.path_row(plan.path))).get)
    db.execute(rows.UPDATE_FILE, (*row, plan.file_id))
    return plan.file_id


def _headers(db: apsw.Connection, plans: Iterable[FilePlan]) -> dict[bytes, int]:
    """The id of each header that the plans' chunks have, stored if it was not."""
    found = {}
    for plan in plans:
        for chunk in (*plan.inserts, *(c for _, c in plan.updates), *(c for _, c in plan.moves)):
            if key := header_key(chunk.header):
                found[key] = chunk.header
    db.executemany(rows.INSERT_HEADER, [rows.header_row(key, header) for key, header in found.items()])
    return {key: int(db.execute("SELECT id FROM header WHERE hash = ?", (key,)).get) for key in found}


@dataclass(slots=True)
class _Changed:
    """The chunks of all plans together, so that each statement runs once over many rows."""

    revision: int
    next_id: int
    files: list[int | None] = field(default_factory=list)
    inserts: list[tuple[int, int, Chunk]] = field(default_factory=list)  # id, file id, chunk
    updates: list[tuple[int, Chunk]] = field(default_factory=list)
    moves: list[tuple[int, Chunk]] = field(default_factory=list)
    paths: dict[int, str] = field(default_factory=dict)  # of chunks whose words are to be written
    embed: list[tuple[int, bytes]] = field(default_factory=list)  # chunks whose embedded text is new

    def add(self, plan: FilePlan, file_id: int | None) -> None:
        self.files.append(file_id)
        if file_id is None:
            return
        path = display_path(plan.path)
        for chunk in plan.inserts:
            self.inserts.append((self.next_id, file_id, chunk))
            self.paths[self.next_id] = path
            self.embed.append((self.next_id, chunk.embed_hash))
            self.next_id += 1
        self.updates += plan.updates
        self.moves += plan.moves
        self.paths |= {i: path for i, _ in plan.updates}
        self.embed += [(i, c.embed_hash) for i, c in (*plan.updates, *plan.moves) if i in plan.reembed]

    def write(self, db: apsw.Connection, headers: dict[bytes, int], alive: Callable[[], None]) -> None:
        revision = self.revision

        def row(chunk: Chunk) -> rows.Row:
            key = header_key(chunk.header)
            return *rows.chunk_row(chunk, headers[key] if key else None), revision

        db.executemany(rows.INSERT_CHUNK, [(*row(c), file_id, i) for i, file_id, c in self.inserts])
        db.executemany(rows.UPDATE_CHUNK, [(*row(c), i) for i, c in (*self.updates, *self.moves)])

        def texts(i: int, chunk: Chunk) -> tuple[str, str, str, int]:
            alive()  # a text takes as long as all its rows
            return chunk.body, rows.names(chunk.symbol), words(chunk.body), i

        inserted = [texts(i, c) for i, _, c in self.inserts]
        updated = [texts(i, c) for i, c in self.updates]
        db.executemany(rows.INSERT_BODY, inserted)
        db.executemany(rows.UPDATE_BODY, updated)
        header_of = {i: c.header_text for i, c in self.updates}
        header_of |= {i: c.header_text for i, _, c in self.inserts}
        db.executemany(
            rows.INSERT_WORDS,
            [
                (i, names, parts, header_of[i], body, self.paths[i])
                for body, names, parts, i in inserted + updated
            ],
        )


def _symbols(db: apsw.Connection, plans: Sequence[FilePlan], files: Sequence[int | None]) -> None:
    """Puts the new symbols in, and keeps the distinct names in step."""
    db.executemany(
        rows.INSERT_SYMBOL,
        [
            (*rows.symbol_row(s), file_id)
            for plan, file_id in zip(plans, files, strict=True)
            for s in plan.symbols_in
        ],
    )
    came = {s.name for plan in plans for s in plan.symbols_in}
    went = {s.row.name for plan in plans for s in plan.symbols_out} - came
    unused = "SELECT id FROM name WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM symbol WHERE name = ?1)"
    gone = db.executemany(unused, [(name,) for name in sorted(went)]).fetchall()
    db.executemany("DELETE FROM names_fts WHERE rowid = ?", gone)
    db.executemany("DELETE FROM name WHERE id = ?", gone)
    new = db.executemany(
        "INSERT INTO name(name) VALUES(?) ON CONFLICT DO NOTHING RETURNING id, name",
        [(name,) for name in sorted(came)],
    ).fetchall()
    db.executemany("INSERT INTO names_fts(rowid, name) VALUES(?, ?)", new)


def _tell(db: apsw.Connection, plans: Iterable[FilePlan], revision: int) -> None:
    told = ((display_path(plan.path), *(c.what, c.start, c.end)) for plan in plans for c in plan.changes)
    db.executemany(
        "INSERT INTO change(revision, ordinal, path, what, start_byte, end_byte) VALUES(?, ?, ?, ?, ?, ?)",
        [(revision, ordinal, *row) for ordinal, row in enumerate(told)],
    )
