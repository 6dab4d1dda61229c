"""What of the hits is told, and in which form: widened to their class or file, cut to a budget of tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ckvd import budget
from ckvd.errors import CkvdError
from ckvd.hit import CHUNK_COLUMNS, Expand, Hit
from ckvd.store.reader import FileRow, Reader

FileText = Callable[[FileRow], str]
"""The text of a file as it was indexed; raises CkvdError where it has changed since, or is gone."""


class Telling(NamedTuple):
    """`expand` widens each hit; `budget` is in tokens as `count` counts them, None for all of every hit."""

    count: budget.Count
    file_text: FileText
    expand: Expand | None = None
    budget: int | None = None


class Told(NamedTuple):
    """`tokens` is what the hits take of a budget; `note` says what could not be told as asked."""

    hits: tuple[Hit, ...]
    tokens: int | None = None
    note: str = ""


def tell(reader: Reader, hits: Sequence[Hit], how: Telling) -> Told:
    """The hits as they were asked for. Use within the snapshot that they were found in."""
    told = tuple(hits)
    notes: list[str] = []
    if how.expand == "class":
        around, notes = _whole_classes(reader, told, how)
        told = widened(told, around)
    elif how.expand == "file":
        around, notes = _files(reader, told, how)
        told = widened(told, around)
    if how.budget is None:
        return Told(told, None, "; ".join(notes))
    fitted = budget.fit(told, {} if how.expand else classes(reader, told), how.budget, how.count)
    if told and not fitted.hits:
        notes.append(f"no hit has room in {how.budget:,} tokens")
    return Told(fitted.hits, fitted.tokens, "; ".join(notes))


def widened(hits: Sequence[Hit], around: Mapping[str, Hit]) -> tuple[Hit, ...]:
    """Each hit replaced by what is around it (by its chunk id); those that come to lie in the same are one,
    at the place of the best. None overlaps another: of a class and one within it the outer stays."""
    wide = [around.get(hit.chunk_id, hit) for hit in hits]
    largest = sorted(wide, key=lambda w: w.start_byte - w.end_byte)
    groups: dict[str, tuple[Hit, list[Hit]]] = {}
    for hit, own in zip(hits, wide, strict=True):
        outer = next(w for w in largest if w.path == own.path and budget.holds(w, own))
        groups.setdefault(outer.chunk_id, (outer, []))[1].append(hit)
    return tuple(
        some[0] if outer.chunk_id == some[0].chunk_id else budget.standing_for(outer, some)
        for outer, some in groups.values()
    )


def classes(reader: Reader, hits: Sequence[Hit]) -> dict[str, Hit]:
    """The smallest class (interface, impl, …) around each hit that is not one, by the hit's chunk id."""
    inside = {hit.id: hit for hit in hits if hit.grain == "fine"}
    rows = reader.query(
        "SELECT c.id, o.id FROM json_each(?) AS i CROSS JOIN chunk AS c ON c.id = i.value"
        " CROSS JOIN chunk AS o ON o.file_id = c.file_id AND o.start_byte <= c.start_byte"
        " WHERE o.end_byte >= c.end_byte AND o.id <> c.id"
        " AND o.grain = 'coarse' AND o.unit = 'symbol' AND o.parts = 1"
        " ORDER BY o.end_byte - o.start_byte DESC, o.id",
        (json.dumps(list(inside)),),
    )
    around = dict(rows)  # of several the last stays
    columns = chunk_columns(reader, list(set(around.values())))
    return {inside[id_].chunk_id: replace(inside[id_], **columns[outer]) for id_, outer in around.items()}


def chunk_columns(reader: Reader, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The fields of a hit that the chunks have, by their id."""
    marks = ", ".join("?" * len(ids))
    rows = reader.query(f"SELECT {', '.join(CHUNK_COLUMNS)} FROM chunks WHERE id IN ({marks})", ids)
    return {row[0]: dict(zip(CHUNK_COLUMNS, row, strict=True)) for row in rows}


def _whole_classes(reader: Reader, hits: Sequence[Hit], how: Telling) -> tuple[dict[str, Hit], list[str]]:
    """As `classes`, but of a large one, which the index has as an outline, the lines as they stand in its
    file; and what is to be said of those that cannot be had."""
    around = classes(reader, hits)
    outlined = {c.path for c in around.values() if c.rendering == "outline"}
    files, notes = _texts(reader, outlined, how.file_text)
    for chunk_id, class_ in list(around.items()):
        if class_.rendering != "outline":
            continue
        if class_.path not in files:
            del around[chunk_id]
            continue
        lines = files[class_.path][1].split("\n")[class_.start_line - 1 : class_.end_line]
        body = "\n".join(lines).lstrip(" \t")
        around[chunk_id] = replace(class_, rendering="source", body=body, tokens=how.count(body))
    return around, notes


def _files(reader: Reader, hits: Sequence[Hit], how: Telling) -> tuple[dict[str, Hit], list[str]]:
    """The whole file around each hit, by the hit's chunk id, and what is to be said of those without."""
    files, notes = _texts(reader, [hit.path for hit in hits], how.file_text)
    tokens = {path: how.count(text) for path, (_, text) in files.items()}
    return {
        hit.chunk_id: _whole(hit, *files[hit.path], tokens[hit.path]) for hit in hits if hit.path in files
    }, notes


def _texts(
    reader: Reader, paths: Iterable[str], text_of: FileText
) -> tuple[dict[str, tuple[FileRow, str]], list[str]]:
    """Files by their path, and why some cannot be had."""
    found, notes = {}, []
    for path in dict.fromkeys(paths):
        row = reader.file(path)
        if row is None:
            continue  # its chunks are of the same snapshot: it is there
        try:
            found[path] = row, text_of(row)
        except CkvdError as error:
            notes.append(str(error))
    return found, notes


def _whole(like: Hit, row: FileRow, text: str, tokens: int) -> Hit:
    """A file as a hit, of the unit that an index has it as where that is configured."""
    return replace(
        like,
        chunk_id=f"{row.path}::<file>",
        unit="file",
        kind="file",
        grain="coarse",
        symbol=None,
        start_line=1,
        end_line=row.lines,
        start_byte=0,
        end_byte=row.size,
        part=1,
        parts=1,
        rendering="source",
        tokens=tokens,
        header="",
        body=text,
    )
