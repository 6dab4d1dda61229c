"""Reads a `Snapshot` from a database through a connection that cannot write."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

from ckvd.report.values import Failure, Snapshot, Tally, tallies
from ckvd.store.reader import Reader, open_reader

HOURS = 24
"""Rows of metrics that a snapshot has: enough to tell the pace."""

_FOLDERS = """
SELECT rtrim(path, replace(path, '/', '')), parse_status, count(*) FROM file GROUP BY 1, 2
"""  # rtrim: all up to the last `/`
_FAILURES = """
SELECT path, path_bytes, language, strategy, parse_status, reason, detail, error_line, error_bytes,
    size, blob_oid, (SELECT count(*) FROM symbol WHERE file_id = file.id), damage
FROM file
WHERE (path, parse_status, ifnull(reason, '')) IN (
    SELECT path, parse_status, ifnull(reason, '') FROM failures
)
ORDER BY path
"""


@contextlib.contextmanager
def opened(path: str) -> Iterator[Reader]:
    """One read transaction on the database at `path`. Raises as `open_reader` does."""
    with open_reader(path) as reader, reader.snapshot():
        yield reader


def read(path: str) -> Snapshot:
    """All that status tells of the database itself, as of one moment. Raises as `opened` does."""
    with opened(path) as reader:
        serving = reader.query("SELECT name, dimensions FROM model WHERE serving")
        model, dimensions = serving[0] if serving else (None, 0)
        db_bytes, wal_bytes, collectable_bytes = reader.sizes()
        return Snapshot(
            meta=reader.meta(),
            outcomes=tuple(reader.outcomes()),
            directories=directories(reader),
            failures=tuple(failures(reader)),
            chunks=reader.chunk_totals(),
            pending_vectors=reader.pending_vectors(),
            model=model,
            dimensions=dimensions,
            db_bytes=db_bytes,
            wal_bytes=wal_bytes,
            collectable_bytes=collectable_bytes,
            metrics=tuple(reader.metrics(HOURS)),
        )


def directories(reader: Reader) -> dict[str, Tally]:
    """Parse outcomes by the folder that holds the file; `.` is the root."""
    return {(name[:-1] or "."): tally for name, tally in tallies(reader.query(_FOLDERS)).items()}


def failures(reader: Reader) -> Iterator[Failure]:
    """The rows of `failures`, by path."""
    for row in reader.query(_FAILURES):
        ranges = tuple((start, end) for start, end in json.loads(row[-1]))
        yield Failure(*(*row[:-1], ranges))
