"""What the tools answer: values read from an index, each with the revision and commit it is true of.

Plain dataclasses, from which the protocol's schemas are made. Every method raises CkvdError, one sentence
with the remedy, where the index is missing, damaged, of another program or of a later version.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ckvd import session
from ckvd import show as chunks
from ckvd.control import holder
from ckvd.errors import CkvdError
from ckvd.index import Index
from ckvd.place import Place
from ckvd.report import status as report
from ckvd.store.reader import FileRow, Reader, SymbolInfo, open_reader
from ckvd.worktree.read import Content, read

if TYPE_CHECKING:
    from ckvd.hit import Expand, Hit
    from ckvd.rank import Mode

T = TypeVar("T")

_TRIES = 10


@dataclass(frozen=True)
class At:
    """What an answer is true of: a revision of the index and git's HEAD as it was indexed. `daemon` says
    whether a daemon keeps the index true now; if not, `note` says since when changes are missing."""

    revision: int
    commit: str | None
    ref: str | None
    daemon: bool
    note: str = ""


@dataclass(frozen=True)
class Found:
    """A hit, best first. `changed`: the file is no longer as indexed, so its lines may have moved.
    `header` is context that is not part of the body; `header_of` names the hit above that has the same one.
    `matches`: the chunk ids of the hits that this class or file stands for. `rendering` is `outline` where
    the bodies of a class's methods are left out."""

    chunk_id: str
    path: str
    start_line: int
    end_line: int
    symbol: str | None
    kind: str
    language: str | None
    score: float
    header: str
    header_of: str | None
    body: str
    rendering: str
    matches: list[str]
    changed: bool


@dataclass(frozen=True)
class SearchAnswer:
    """`hits` are the best that fit, `tokens` what they take, `total` how many were found."""

    at: At
    mode: str
    total: int
    tokens: int
    hits: list[Found]
    note: str = ""


@dataclass(frozen=True)
class ChunkAnswer:
    at: At
    chunk_id: str
    path: str
    start_line: int
    end_line: int
    symbol: str | None
    kind: str
    language: str | None
    header: str
    body: str
    changed: bool
    file: str | None = None


@dataclass(frozen=True)
class Declared:
    path: str
    symbol: str
    kind: str
    signature: str
    doc: str
    start_line: int
    end_line: int
    name_line: int
    chunk_id: str


@dataclass(frozen=True)
class SymbolsAnswer:
    """`more`: there are more than the limit. `changed`: files among them that are no longer as indexed."""

    at: At
    symbols: list[Declared]
    more: bool
    changed: list[str]


@dataclass(frozen=True)
class StatusAnswer:
    at: At
    status: dict[str, Any]


@dataclass(frozen=True)
class SyncAnswer:
    at: At


_SHOWN = ("chunk_id", "path", "start_line", "end_line", "symbol", "kind", "language", "header", "body")


class Answers:
    """Of the index of one place. Any number of threads may ask."""

    def __init__(self, where: Place) -> None:
        self._where = where
        self._lock = threading.Lock()
        self._index: Index | None = None

    def search(
        self,
        query: str,
        k: int,
        budget: int,
        mode: Mode,
        expand: Expand | None,
        language: str | None,
        kind: str | None,
        path: str | None,
        tests: bool | None,
        offset: int,
    ) -> SearchAnswer:
        index = self._opened()

        def ask() -> SearchAnswer:
            results = index.search(
                query,
                k,
                mode,
                language=language,
                kind=kind,
                path=path,
                tests=tests,
                offset=offset,
                expand=expand,
                budget=budget,
            )
            hits = [_found(hit) for hit in results.hits]
            used = results.tokens or 0
            return SearchAnswer(self._at(), results.mode, results.total, used, hits, results.note)

        return self._at_one_revision(ask)

    def show(self, what: str, whole_file: bool) -> ChunkAnswer:
        def ask() -> ChunkAnswer:
            row = chunks.show(self._where, what, whole=whole_file)
            shown = {name: row[name] for name in _SHOWN}
            changed = bool(self._changed([row["path"]]))
            return ChunkAnswer(at=self._at(), changed=changed, file=row.get("file"), **shown)

        return self._at_one_revision(ask)

    def symbols(self, path: str | None, name: str | None, limit: int) -> SymbolsAnswer:
        if (path is None) == (name is None):
            raise CkvdError("give either the path of a file or a part of a symbol's name")

        def ask() -> SymbolsAnswer:
            with open_reader(self._where.db) as reader:
                if path is not None:
                    if reader.file(path) is None:
                        raise CkvdError(f"{path} is not in the index; paths are relative to the root")
                    rows = reader.symbols(path)
                else:
                    rows = _named(reader, str(name), limit + 1)
            declared = [_declared(row) for row in rows[:limit]]
            changed = sorted(self._changed(d.path for d in declared))
            return SymbolsAnswer(self._at(), declared, len(rows) > limit, changed)

        return self._at_one_revision(ask)

    def status(self, failures: bool) -> StatusAnswer:
        def ask() -> StatusAnswer:
            at = self._at()
            told = report.as_json(report.collect(self._where), failures=failures)
            return StatusAnswer(at, {k: v for k, v in told.items() if failures or k != "failures"})

        return self._at_one_revision(ask)

    def sync(self, vectors: bool, timeout_s: float) -> SyncAnswer:
        session.sync(self._where, vectors=vectors, timeout=timeout_s)
        return SyncAnswer(self._at())

    def _opened(self) -> Index:
        """One for all calls, since it keeps the embedding model loaded."""
        with self._lock:
            if self._index is None:
                self._index = Index(self._where.root, db=self._where.db)
            return self._index

    def _at(self) -> At:
        with open_reader(self._where.db) as reader:
            meta = reader.meta()
        daemon = holder(self._where.places) is not None
        missing = f"no daemon runs: what changed after {meta.get('last_sync')} is not in the index"
        note = "" if daemon else f"{missing}; keep it true with: {self._where.command('run')}"
        commit, ref = (None if (v := meta.get(k)) is None else str(v) for k in ("head_commit", "head_ref"))
        return At(int(meta["revision"] or 0), commit, ref, daemon, note)

    def _at_one_revision(self, ask: Callable[[], T]) -> T:
        """An answer before and after which the index was at the same revision."""
        for _ in range(_TRIES):
            before = self._at().revision
            answer = ask()
            if self._at().revision == before:
                return answer
        raise CkvdError("the index changes too fast to answer of one revision; sync first, then ask again")

    def _changed(self, paths: Iterable[str]) -> set[str]:
        """Those that on disk are no longer the bytes that were indexed."""
        with open_reader(self._where.db) as reader:
            rows = [row for path in set(paths) if (row := reader.file(path)) is not None]
        return {row.path for row in rows if not self._is_fresh(row)}

    def _is_fresh(self, row: FileRow) -> bool:
        if row.blob_oid is None:
            return True
        now = read(os.fsencode(self._where.root), row.path_bytes, 0, self._where.tree.object_format)
        return isinstance(now, Content) and now.blob_oid == row.blob_oid


def _named(reader: Reader, part: str, limit: int) -> list[SymbolInfo]:
    """Symbols with a part in their name, the shortest names first; under three letters, at its beginning."""
    columns = ", ".join(f"s.{c}" for c in SymbolInfo._fields)
    if len(part) >= 3:
        sql = (
            f"SELECT {columns} FROM names_fts CROSS JOIN symbols AS s ON s.name = names_fts.name"
            " WHERE names_fts MATCH ? ORDER BY length(s.name), s.path, s.start_byte LIMIT ?"
        )
        values: tuple[object, ...] = ('"' + part.replace('"', '""') + '"', limit)
    else:
        sql = (
            f"SELECT {columns} FROM symbols AS s WHERE s.name >= ? COLLATE NOCASE"
            " AND s.name < ? || char(0x10FFFF) COLLATE NOCASE ORDER BY s.name COLLATE NOCASE LIMIT ?"
        )
        values = (part, part, limit)
    return [SymbolInfo(*row) for row in reader.query(sql, values)]


def _found(h: Hit) -> Found:
    return Found(
        chunk_id=h.chunk_id,
        path=h.path,
        start_line=h.start_line,
        end_line=h.end_line,
        symbol=h.symbol,
        kind=h.kind,
        language=h.language,
        score=h.score,
        header=h.header,
        header_of=h.header_of,
        body=h.body,
        rendering=h.rendering,
        matches=list(h.matches),
        changed=h.on_disk != "same",
    )


def _declared(row: SymbolInfo) -> Declared:
    return Declared(
        path=row.path,
        symbol=row.symbol,
        kind=row.kind,
        signature=row.signature,
        doc=row.doc,
        start_line=row.start_line,
        end_line=row.end_line,
        name_line=row.name_line,
        chunk_id=row.chunk_id,
    )
