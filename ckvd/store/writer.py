"""The one writer of the file. One thread owns it; a lock elsewhere sees to it that there is no other."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

import apsw

from ckvd.errors import DamagedStoreError, Stopped, StoreError
from ckvd.plan import FilePlan, StoredFile
from ckvd.store import apply, files, metrics, owner, rows, schema, shm, upkeep, vectors
from ckvd.store.connection import MetaValue, Patience, configure, connect, plain_errors, transaction
from ckvd.store.others import Others, Place, places
from ckvd.store.states import FileState, Foreign, Head, Seen, Trust
from ckvd.store.vectors import Pending, Vector

__all__ = ["Pending", "Trust", "Vector", "Writer", "open_writer"]

_CLOSE_S = 0.5  # for the last checkpoint of a writer that was asked to end
_TRIM_S = 1.0  # between two tries to cut the WAL, each of which may wait for readers


def open_writer(path: str, trust: Trust = Trust.FULL, give_up: Callable[[], bool] = lambda: False) -> Writer:
    """Opens the database at `path`, made, migrated or mended as needed, each in one transaction.

    A file of ckvd's that SQLite cannot use is renamed to `<path>.damaged` and one built anew. Raises
    NewerStoreError for a later version, StoreError for another program's file, which stays untouched, and
    where the file cannot be written; Stopped once `give_up` says so, as the writer's own methods do.
    """
    patience = Patience(give_up)
    patience.check()
    files.prepare(path)
    try:
        return _open(path, trust, patience)
    except DamagedStoreError as e:
        if not files.is_ours(path):
            raise StoreError(f"{path} is not a database of ckvd; pass another file with --db") from e
        files.put_aside(path)
    files.prepare(path)
    return _open(path, Trust.FULL, patience)


def _open(path: str, trust: Trust, patience: Patience) -> Writer:
    with plain_errors(path, patience), contextlib.ExitStack() as undo:
        if shm.at_risk(path):
            raise apsw.FullError("no room for the index of the log")
        db = connect(path, patience)
        undo.callback(db.close)
        # Looks before it sets anything: another program's database keeps its journal mode.
        owner.check_owner(db, path)
        configure(db)
        shm.reserve(path)
        schema.ensure(db, verify=trust is Trust.CHECKED)
        if trust is Trust.NONE:
            schema.empty(db)
        undo.pop_all()
    return Writer(path, db, patience)


class Writer:
    """Every method raises StoreError where SQLite cannot do it; nothing of it is then in the file, and the
    writer can be used again. DamagedStoreError means: `close`, then `open_writer(path, Trust.CHECKED)`.
    Stopped means: nothing of it is in the file; `close`."""

    def __init__(self, path: str, db: apsw.Connection, patience: Patience) -> None:
        """Use `open_writer`."""
        self.path = path
        self.patience = patience
        self._db = db
        self._place: list[Place] | None = places(path)
        self.note: str | None = None
        """What stands in the way of upkeep, for people."""
        self._tidied: int | None = None
        self._next_trim = 0.0
        with self._plain_errors():
            self._others = Others(db, path)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Brings the WAL into the database if no reader is in the way, and closes. May be called twice.

        Where it is time to end, what that takes is bounded; the next writer then has the rest to do.
        """
        if self.patience.give_up():
            self.patience.end_within(_CLOSE_S)
        if self._place is not None and self.in_place():
            with contextlib.suppress(StoreError, Stopped), self._plain_errors():
                upkeep.checkpoint(self._db, self.patience)
        self._place = None
        self._db.close()

    def interrupt(self) -> None:
        """Ends the statement under way, which then raises Stopped. From any thread."""
        with contextlib.suppress(apsw.ConnectionClosedError):
            self._db.interrupt()

    def in_place(self) -> bool:
        """Whether the file at the path, and its log, are still those that are open."""
        return self._place is not None and places(self.path) == self._place

    def foreign(self) -> Foreign | None:
        """What another program did to the file since this was last asked."""
        with self._plain_errors():
            return self._others.take()

    def is_certain(self) -> bool:
        """Whether nothing was done to the file that `foreign` is still to tell."""
        with self._plain_errors():
            return self._others.look() is None

    def distrust(self) -> None:
        """The file is damaged: `close` is to bring no more of the WAL into the database."""
        self._place = None

    def _plain_errors(self) -> contextlib.AbstractContextManager[None]:
        return plain_errors(self.path, self.patience)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._plain_errors(), self._others.own(), transaction(self._db):
            yield

    # -- meta ---------------------------------------------------------------------------------------

    def meta(self, key: str) -> MetaValue:
        with self._plain_errors():
            value: MetaValue = self._db.execute("SELECT value FROM meta_kv WHERE key = ?", (key,)).get
            return value

    def set_meta(self, values: Mapping[str, MetaValue]) -> None:
        """Sets rows of `meta` that the store does not keep itself; makes no revision."""
        if all(self.meta(key) == value for key, value in values.items()):
            return
        with self._transaction():
            self._set_meta(values)

    def _set_meta(self, values: Mapping[str, MetaValue]) -> None:
        self._db.executemany("INSERT OR REPLACE INTO meta_kv(key, value) VALUES(?, ?)", list(values.items()))

    def set_head(self, head: Head | None) -> None:
        """Notes where HEAD is; None outside git. Makes no revision."""
        self.set_meta(_head_meta(head))

    @property
    def revision(self) -> int:
        return int(self.meta("revision") or 0)

    @property
    def epoch(self) -> str:
        return str(self.meta("epoch"))

    # -- rows ---------------------------------------------------------------------------------------

    def files(self) -> dict[bytes, FileState]:
        """Every path in the store. The stamp of a file that never got one equals no real one."""
        sql = (
            "SELECT path_bytes, coalesce(stamp_size, -1), coalesce(mtime_ns, 0), coalesce(ctime_ns, 0),"
            " coalesce(inode, 0), coalesce(read_ns, 0), coalesce(cut_key, ''), blob_oid, language, reason"
            " FROM file"
        )
        with self._plain_errors():
            return {
                path: FileState(rows.stamp_of(size, mtime, ctime, inode), *rest)
                for path, size, mtime, ctime, inode, *rest in self._db.execute(sql)
            }

    def load(self, path: bytes) -> StoredFile | None:
        """All rows of one file without its texts, to be planned against."""
        with self._plain_errors():
            return rows.load(self._db, path)

    def apply(self, plans: Iterable[FilePlan], seen: Mapping[bytes, Seen], head: Head | None) -> int | None:
        """Carries out all of `plans`, the stamps and HEAD in one transaction.

        Gives the new revision, one more than the last, or None where no row had to change: a stamp or
        another HEAD alone make no revision. Each plan must have been made against the rows as they are.
        """
        due = [plan for plan in plans if not plan.empty]
        with self._transaction():
            revision = None
            if due:
                revision = self.revision + 1
                self._set_meta({"revision": revision})
                apply.apply_plans(self._db, due, revision, self.patience.check)
            self._db.executemany(
                rows.UPDATE_STAMP,
                [(*rows.stamp_row(s.stamp, s.read_ns, s.cut_key), path) for path, s in seen.items()],
            )
            self._set_meta(_head_meta(head))
        self._trim_log()
        return revision

    # -- vectors ------------------------------------------------------------------------------------

    def set_model(
        self,
        identity: str | None,
        name: str = "none",
        dimensions: int = 0,
        folder: str = "",
        input_tokens: int = 0,
    ) -> None:
        """Which model the vectors are to be of, as `ModelRow` has it; None for none.

        Another model than before becomes the target: its vectors are pending, and the one before serves
        until all of them are in.
        """
        with self._plain_errors():
            if self.meta("model") is not None and vectors.is_target(self._db, identity):
                return
        with self._transaction():
            if identity is None:
                vectors.set_no_model(self._db, self.revision)
            else:
                model = vectors.ModelRow(identity, name, dimensions, folder, input_tokens)
                vectors.set_model(self._db, model, self.revision)

    def pending(self) -> int:
        """How many chunks wait for their vector."""
        with self._plain_errors():
            return int(self._db.execute("SELECT count(*) FROM pending").get)

    def oldest_pending(self) -> int | None:
        """The lowest revision at which a waiting chunk got its text, None where none waits."""
        with self._plain_errors():
            oldest: int | None = self._db.execute("SELECT min(priority) FROM pending").get
            return oldest

    def newest_pending(self) -> int | None:
        """The highest such revision: vectors are made from there down."""
        with self._plain_errors():
            newest: int | None = self._db.execute("SELECT max(priority) FROM pending").get
            return newest

    def take_pending(self, most: int) -> list[Pending]:
        """Up to `most` chunks that wait, the latest first, each embedded text once. They go on waiting."""
        with self._plain_errors():
            return vectors.take(self._db, most)

    def put_vectors(self, identity: str, items: Iterable[Vector]) -> int:
        """Stores vectors of the model `identity` in a transaction of their own, without a revision.

        What no chunk wants any more is left out. Gives the number stored.
        """
        with self._transaction():
            stored = vectors.put(self._db, identity, list(items))
        self._trim_log()
        return stored

    # -- metrics ------------------------------------------------------------------------------------

    def record(self, hour: int, sample: metrics.Sample, *, state: bool) -> None:
        """Adds to the row of metrics of that hour (Unix seconds of its start), without a revision; with
        `state`, what all files and chunks are like now is noted too."""
        with self._transaction():
            metrics.record(self._db, hour, sample, state)

    # -- upkeep -------------------------------------------------------------------------------------

    def maintain(self) -> str | None:
        """Upkeep of bounded length, to be called now and then: collects what nothing refers to, merges, gives
        space back, and cuts the WAL above 16 MiB. A sentence for people where a reader is in its way.
        """
        with self._plain_errors(), self._others.own():
            # An idle daemon must stay idle: what was tidied and not written to since is not looked at again.
            if self._db.total_changes() != self._tidied and upkeep.tidy(self._db):
                self._tidied = self._db.total_changes()
            self.note = upkeep.shrink_wal(self._db, self.path, self.patience)
            return self.note

    def _trim_log(self) -> None:
        """After a commit: within a long pass there is no other time for it."""
        now = time.monotonic()
        if now >= self._next_trim and upkeep.wal_bytes(self.path) > upkeep.WAL_LIMIT:
            self._next_trim = now + _TRIM_S
            with self._plain_errors(), self._others.own():
                self.note = upkeep.shrink_wal(self._db, self.path, self.patience)


def _head_meta(head: Head | None) -> dict[str, MetaValue]:
    return {"head_ref": head.ref if head else None, "head_commit": head.commit if head else None}
