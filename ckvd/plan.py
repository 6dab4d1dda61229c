"""Stored rows against new ones: the least that must change so that the store holds what the file says."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from ckvd.model import Change, Chunk, FileResult, Range, Segment, SymbolRow, Verdict


class ChunkMeta(NamedTuple):
    """All of a chunk's row but its texts; equal metas mean equal rows."""

    chunk_id: str
    unit: str
    kind: str
    grain: str
    symbol: str | None
    parents: tuple[str, ...]
    start: int
    end: int
    start_line: int
    end_line: int
    part: int
    parts: int
    header: bytes | None
    """`header_key` of the header, None where there is none."""
    rendering: str
    tokens: int
    header_trimmed: bool
    truncated: bool
    content_hash: bytes
    own_hash: bytes
    embed_hash: bytes

    @classmethod
    def of(cls, c: Chunk) -> ChunkMeta:
        return cls(
            *(c.chunk_id, c.unit, c.kind, c.grain, c.symbol, c.parents, c.start, c.end),
            *(c.start_line, c.end_line, c.part, c.parts, header_key(c.header), c.rendering, c.tokens),
            *(c.header_trimmed, c.truncated, c.content_hash, c.own_hash, c.embed_hash),
        )


class StoredChunk(NamedTuple):
    id: int
    meta: ChunkMeta


class StoredSymbol(NamedTuple):
    id: int
    row: SymbolRow


@dataclass(frozen=True, slots=True)
class StoredFile:
    """All rows of one file as the store has them, without the texts."""

    id: int
    path: bytes
    language: str | None
    verdict: Verdict
    size: int
    lines: int
    blob_oid: str | None
    chunks: tuple[StoredChunk, ...]
    symbols: tuple[StoredSymbol, ...]


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What one file's rows need. Ids are those of the stored rows.

    `updates` are rows that keep their id and get other texts; `moves` keep their texts too, and with them
    their words. `reembed` are the ids among both whose embedded text is another; `released` are the embed
    hashes that rows of this file no longer have.
    """

    path: bytes
    file_id: int | None
    new: FileResult | None
    inserts: tuple[Chunk, ...] = ()
    updates: tuple[tuple[int, Chunk], ...] = ()
    moves: tuple[tuple[int, Chunk], ...] = ()
    deletes: tuple[int, ...] = ()
    symbols_in: tuple[SymbolRow, ...] = ()
    symbols_out: tuple[StoredSymbol, ...] = ()
    reembed: frozenset[int] = frozenset()
    released: tuple[bytes, ...] = ()
    changes: tuple[Change, ...] = ()
    file_changed: bool = False

    @property
    def removed(self) -> bool:
        return self.new is None

    @property
    def empty(self) -> bool:
        """Whether the rows are what they should be already."""
        rows = (self.inserts, self.updates, self.moves, self.deletes, self.symbols_in, self.symbols_out)
        return not self.file_changed and not any(rows)


@lru_cache(maxsize=1024)
def header_key(header: tuple[Segment, ...]) -> bytes | None:
    """What a header is stored under: its texts and how it divides, since trimming goes by segment."""
    if not header:
        return None
    digest = hashlib.blake2b(digest_size=16)
    for s in header:
        text = s.text.encode("utf-8", "surrogatepass")
        digest.update(f"{s.kind}:{len(text)}:".encode())
        digest.update(text)
    return digest.digest()


def plan_file(old: StoredFile | None, new: FileResult | None) -> FilePlan:
    """The plan that turns the rows `old` into those of `new`; None stands for a file that is not there."""
    if new is None:
        return _removal(old) if old is not None else FilePlan(b"", None, None)
    if old is None:
        return FilePlan(
            path=new.path,
            file_id=None,
            new=new,
            inserts=new.chunks,
            symbols_in=new.symbols,
            changes=(Change("added", 0, new.size),),
            file_changed=True,
        )
    if old.path != new.path:
        raise ValueError("rows of one file planned against those of another")
    match = _match(old.chunks, new.chunks)
    symbols_out, symbols_in = _symbols(old.symbols, new.symbols)
    updates: list[tuple[int, Chunk]] = []
    moves: list[tuple[int, Chunk]] = []
    reembed, released = set(), [c.meta.embed_hash for c in match.deletes]
    for stored, chunk in match.pairs:
        was, now = stored.meta, ChunkMeta.of(chunk)
        if was == now:
            continue
        same_text = (was.content_hash, was.symbol, was.header) == (now.content_hash, now.symbol, now.header)
        (moves if same_text else updates).append((stored.id, chunk))
        if was.embed_hash != now.embed_hash:
            reembed.add(stored.id)
            released.append(was.embed_hash)
    plan = FilePlan(
        path=new.path,
        file_id=old.id,
        new=new,
        inserts=tuple(match.inserts),
        updates=tuple(updates),
        moves=tuple(moves),
        deletes=tuple(c.id for c in match.deletes),
        symbols_in=symbols_in,
        symbols_out=symbols_out,
        reembed=frozenset(reembed),
        released=tuple(released),
        changes=tuple(_changes(match, new)),
        file_changed=(old.language, old.verdict, old.size, old.lines, old.blob_oid)
        != (new.language, new.verdict, new.size, new.lines, new.blob_oid),
    )
    return FilePlan(new.path, old.id, new) if plan.empty else plan


def _removal(old: StoredFile) -> FilePlan:
    return FilePlan(
        path=old.path,
        file_id=old.id,
        new=None,
        deletes=tuple(c.id for c in old.chunks),
        symbols_out=old.symbols,
        released=tuple(c.meta.embed_hash for c in old.chunks),
        changes=(Change("removed", 0, old.size),),
        file_changed=True,
    )


@dataclass(slots=True)
class _Match:
    pairs: list[tuple[StoredChunk, Chunk]] = field(default_factory=list)
    inserts: list[Chunk] = field(default_factory=list)
    deletes: list[StoredChunk] = field(default_factory=list)


def _match(old: Iterable[StoredChunk], new: Iterable[Chunk]) -> _Match:
    """Which stored row becomes which new one: the same, else one that moved, else one of the same name."""
    match = _Match(inserts=list(new), deletes=list(old))
    keys: tuple[Callable[[ChunkMeta | Chunk], Hashable], ...] = (
        lambda c: (c.chunk_id, c.content_hash),
        lambda c: (c.unit, c.symbol, c.content_hash),
        lambda c: c.chunk_id,
    )
    for key in keys:
        waiting: defaultdict[Hashable, deque[StoredChunk]] = defaultdict(deque)
        for stored in match.deletes:
            waiting[key(stored.meta)].append(stored)
        left = []
        for chunk in match.inserts:
            if found := waiting.get(key(chunk)):
                match.pairs.append((found.popleft(), chunk))
            else:
                left.append(chunk)
        match.inserts = left
        match.deletes = [stored for some in waiting.values() for stored in some]
        if not left or not match.deletes:
            break
    return match


def _symbols(
    old: Sequence[StoredSymbol], new: Sequence[SymbolRow]
) -> tuple[tuple[StoredSymbol, ...], tuple[SymbolRow, ...]]:
    """The rows to take out and to put in; those equal on both sides stay."""
    wanted = Counter(new)
    out = []
    for stored in old:
        if wanted[stored.row] > 0:
            wanted[stored.row] -= 1
        else:
            out.append(stored)
    return tuple(out), tuple(wanted.elements())


# -- the ranges that `changes` tells --------------------------------------------------------------


def _changes(match: _Match, new: FileResult) -> list[Change]:
    """What became invalid, `removed` in the old file's offsets and all else in the new one's.

    A container whose nested chunks alone changed is not told: its `own_hash` is what it was.
    """
    changed = [(n.start, n.end) for o, n in match.pairs if o.meta.own_hash != n.own_hash]
    added = [(c.start, c.end) for c in match.inserts]
    removed = [(c.meta.start, c.meta.end) for c in match.deletes]
    edits = sorted([end for _, end in changed + added] + [start for start, _ in removed])
    moved, fixed = [], [start for start, _ in changed + added]
    for o, n in match.pairs:
        if o.meta.own_hash != n.own_hash:
            continue
        if (o.meta.start, o.meta.end) == (n.start, n.end):
            fixed.append(n.start)
        else:
            moved.append(_moved_part(o.meta, n, edits))
    spans = _without(_runs(moved, sorted(fixed)), _merged(changed + added))
    told = [
        *(Change("changed", a, b) for a, b in _merged(changed)),
        *(Change("added", a, b) for a, b in _merged(added)),
        *(Change("moved", a, b) for a, b in spans),
        *(Change("removed", a, b) for a, b in _merged(removed)),
    ]
    if told:
        return told
    # Something of the file changed outside every chunk: the whole where there is none, else no byte of any.
    return [Change("changed", 0, 0 if new.chunks else new.size)]


def _moved_part(old: ChunkMeta, new: Chunk, edits: Sequence[int]) -> Range:
    """A container that begins where it did moved only behind the first edit inside it."""
    if old.start != new.start:
        return new.start, new.end
    at = bisect_left(edits, new.start)
    first = edits[at] if at < len(edits) else new.start
    return (first if first < new.end else new.start), new.end


def _merged(ranges: Iterable[Range]) -> list[Range]:
    """Overlapping and touching ranges as one, in order."""
    out: list[Range] = []
    for start, end in sorted(ranges):
        if out and start <= out[-1][1]:
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((start, end))
    return out


def _runs(ranges: Iterable[Range], fixed: Sequence[int]) -> list[Range]:
    """Ranges with nothing but white space between as one; `fixed` are the sorted starts of other chunks."""
    out: list[Range] = []
    for start, end in sorted(ranges):
        if out:
            first, last = out[-1]
            if start <= last or bisect_left(fixed, last) == bisect_left(fixed, start):
                out[-1] = first, max(end, last)
                continue
        out.append((start, end))
    return out


def _without(ranges: Iterable[Range], holes: Sequence[Range]) -> list[Range]:
    """Merged `ranges` less the merged `holes`."""
    out = []
    for start, end in ranges:
        at = max(0, bisect_left(holes, (start, start)) - 1)
        while at < len(holes) and holes[at][0] < end:
            hole_start, hole_end = holes[at]
            if hole_start > start:
                out.append((start, hole_start))
            start = max(start, hole_end)
            at += 1
        if start < end:
            out.append((start, end))
    return out
