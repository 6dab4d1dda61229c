"""Functions and chunks of each file with its bytes, for comparing ways of cutting."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from ckvd.place import Place
from ckvd.report.boundaries import FUNCTION_KINDS, ChunkRow, FileRows, FunctionRow
from ckvd.report.snapshot import opened
from ckvd.worktree.read import Content, read

READ_BYTES = 64 << 20

_FILES = """
SELECT id, path, path_bytes, language, blob_oid FROM file
WHERE language IS NOT NULL AND blob_oid IS NOT NULL AND strategy IN ('symbol', 'window', 'names')
ORDER BY id
"""
_SYMBOLS = """
SELECT file_id, kind, symbol, start_byte, end_byte, start_line, end_line, name_line FROM symbol
ORDER BY file_id, start_byte, end_byte DESC, id
"""
_CHUNKS = """
SELECT file_id, unit, symbol, start_byte, end_byte, part, parts, rendering FROM chunk
ORDER BY file_id, start_byte, end_byte DESC, id
"""
_Grouped = dict[int, list[tuple[Any, ...]]]


def file_rows(where: Place, stale: list[str] | None = None) -> Iterator[FileRows]:
    """The files that have symbols and are on disk as they were indexed. Raises StoreError.

    The paths of those that have changed since, or cannot be read, are added to `stale`.
    """
    with opened(where.db) as reader:
        files = reader.query(_FILES)
        symbols, chunks = _by_file(reader.query(_SYMBOLS)), _by_file(reader.query(_CHUNKS))
    for number, path, path_bytes, language, oid in files:
        of = symbols.get(number, [])
        if not of:
            continue
        functions = [FunctionRow(*row[1:]) for row in of if row[0] in FUNCTION_KINDS]
        got = read(where.tree.path, path_bytes, READ_BYTES, "sha1" if len(oid) == 40 else "sha256")
        if isinstance(got, Content) and got.data is not None and got.blob_oid == oid:
            spans = [(row[2], row[3]) for row in of]
            cut = [ChunkRow(*row) for row in chunks.get(number, [])]
            yield FileRows(path, language, got.data, functions, spans, cut)
        elif stale is not None:
            stale.append(path)


def _by_file(rows: list[tuple[Any, ...]]) -> _Grouped:
    return {number: [row[1:] for row in of] for number, of in groupby(rows, key=itemgetter(0))}
