"""`ckvd show` and `ckvd embed`: one chunk, or the file around it; one query's vector."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from ckvd.disk import looked_up
from ckvd.errors import CkvdError, NoIndexError
from ckvd.place import Place, as_shown, command
from ckvd.report.plain import plain
from ckvd.store.reader import ChunkRow, FileRow, Reader, open_reader

_DIGITS = 18
"""That any whole number of SQLite's has; there is no line beyond."""


def show(where: Place, what: str, *, whole: bool) -> dict[str, Any]:
    """The chunk named by its id or by PATH:LINE (the smallest that holds the line), as in `chunks`, with
    `on_disk` and `indent` as a `Hit` has them.

    With `whole` the file's text is under `file`, as it was indexed: it must not have changed since. Raises
    CkvdError where nothing is there, StoreError where there is no index.
    """
    with open_reader(where.db) as reader, reader.snapshot():
        meant = (reader.chunk(said) or _at_line(reader, said) for said in _readings(where, reader, what))
        chunk = next(filter(None, meant), None)
        if chunk is None:
            raise CkvdError(_why_none(reader, what, _readings(where, reader, what)))
        row = chunk._asdict() | {"parents": json.loads(chunk.parents)}
        if not whole:
            ((state, indent),) = looked_up(where.root, reader, [(chunk.id, chunk.start_byte)])
            return row | {"on_disk": state, "indent": indent}
        file = reader.file(chunk.path)
    if file is None:
        raise CkvdError(f"{chunk.path} is not in the index; run: {where.command('index')}")
    return row | {"file": file_text(where.root, where.db, file)}


def _readings(where: Place, reader: Reader, what: str) -> Iterator[str]:
    """What may be meant: what was typed, a path from here or the root, one as `plain` has it."""
    yield as_shown(what)  # a path that is not UTF-8, as the shell completes it
    if what.startswith(("/", "./", "../")):
        for base in (os.getcwd(), where.root):
            folder, name = os.path.split(os.path.join(base, what))
            yield as_shown(os.path.relpath(os.path.join(os.path.realpath(folder), name), where.root))
    if "\\" in what:
        for (path,) in reader.query("SELECT path FROM files ORDER BY path"):
            if (shown := plain(path)) != path and what.startswith(shown):
                yield path + what[len(shown) :]


def _path_and_line(what: str) -> tuple[str, int] | None:
    path, _, line = what.rpartition(":")
    if not path or not line.isascii() or not line.isdigit() or len(line) > _DIGITS:
        return None
    return path, int(line)


def _at_line(reader: Reader, what: str) -> ChunkRow | None:
    place = _path_and_line(what)
    found = reader.chunks_at(*place) if place else []
    return found[0] if found else None


def _why_none(reader: Reader, what: str, readings: Iterable[str]) -> str:
    """Why nothing is found at what was named."""
    for path, line in filter(None, map(_path_and_line, readings)):
        if (file := reader.file(path)) is None:
            continue
        shown = plain(path)
        if file.strategy == "skipped":
            return f"{shown} is listed without content ({file.reason}): no chunk holds any of it"
        if not 1 <= line <= file.lines:
            return f"{shown} has no line {line}; its lines are 1 to {file.lines}"
        if file.strategy == "names":
            return (
                f"no chunk holds line {line} of {shown}: only the names in a {file.reason} file are indexed"
            )
        return f"line {line} of {shown} is blank: no chunk holds it; name a line of the text beside it"
    return f"no chunk '{plain(as_shown(what))}'; name a chunk_id or PATH:LINE as ckvd search prints them"


def file_text(root: str, db: str, file: FileRow) -> str:
    """The text of a file of the tree at `root`, as `db` has it; CkvdError where it has changed since."""
    from ckvd.parse import encoding
    from ckvd.worktree.read import Content, read

    algorithm = "sha256" if len(file.blob_oid or "") == 64 else "sha1"
    got = read(os.fsencode(root), file.path_bytes, max(file.size, 1), algorithm)
    if not isinstance(got, Content) or got.data is None or got.blob_oid != file.blob_oid:
        remedy = command("index", db, root)
        raise CkvdError(f"{file.path} has changed since it was indexed; run first: {remedy}")
    decoded = encoding.decode(got.data, file.language)
    if isinstance(decoded, encoding.Undecodable):
        raise CkvdError(f"{file.path}: {decoded.detail}")
    return decoded.text.decode("utf-8")


def embed(where: Place, text: str) -> dict[str, Any]:
    """The vector of `text` as a query by the model that serves the index: components as the BLOBs hold them.

    Keys: model, dimensions, int8 (signed), scale, bits (bytes), and both BLOBs as hexadecimal. Raises
    ModelError where there is no model or it cannot be run, or the index has vectors of one that is gone.
    """
    from ckvd.embed import embedder
    from ckvd.embed.quantise import quantise
    from ckvd.serving import model_of, serving
    from ckvd.settings import Settings

    model = None
    with contextlib.suppress(NoIndexError), open_reader(where.db) as reader:
        model = serving(reader)
    spec = Settings.load(where.tree.path).model if model is None else model_of(where.root, where.db, model)
    q = quantise(embedder.load(spec).embed_query(text)[None])
    return {
        "model": spec.name,
        "dimensions": spec.dimensions,
        "int8": q.int8[0].tolist(),
        "scale": float(q.scale[0]),
        "bits": q.bits[0].tolist(),
        "int8_hex": q.int8[0].tobytes().hex(),
        "bits_hex": q.bits[0].tobytes().hex(),
    }
