"""What `--json` prints: values → plain dictionaries. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ckvd.model import display_path
from ckvd.report.state import Status
from ckvd.report.values import (
    PARSE_STATUSES,
    STRATEGIES,
    Failure,
    Tally,
    largest_first,
    worst_first,
)

DIRECTORIES = 20
"""Folders that status names; `report parse` names all."""


def status(s: Status, failures: list[dict[str, Any]]) -> dict[str, Any]:
    """The document of `ckvd status`; times are Unix seconds, sizes bytes, `tokens` and `limit` tokens."""
    data, daemon = s.data, s.daemon
    ref, commit = s.head
    return {
        "root": display_path(s.root),
        "db": display_path(s.db),
        "state": s.state,
        "since": s.since,
        "pid": daemon.pid if daemon else None,
        "stalled": s.stalled,
        "revision": s.revision,
        "epoch": data.meta.get("epoch"),
        "head": {"ref": ref, "commit": commit},
        "files": {
            "total": data.files,
            "by_strategy": {name: data.by_strategy.get(name, 0) for name in STRATEGIES},
            "by_parse_status": {name: data.by_parse_status.get(name, 0) for name in PARSE_STATUSES},
            "skipped": data.skipped,
        },
        "languages": languages(data.languages),
        "directories": directories(data.directories, DIRECTORIES),
        "chunks": _chunks(s),
        "pending": {"files": s.pending_files, "vectors": data.pending_vectors, "seconds": s.pending_s},
        "pace": s.pace.as_json(),
        "failures": failures,
        "model": data.model,
        "dimensions": data.dimensions,
        "db_bytes": data.db_bytes,
        "wal_bytes": data.wal_bytes,
        "collectable_bytes": data.collectable_bytes,
        "watch": dict(daemon.watch) if daemon else None,
        "notes": list(s.notes),
        "errors": list(s.problems),
    }


def _chunks(s: Status) -> dict[str, Any]:
    chunks = s.data.chunks
    return {
        "total": chunks.total,
        "by_unit": dict(chunks.by_unit),
        "limit": s.limit,
        "over_limit": chunks.over(s.limit) if s.limit is not None else None,
        "split_symbols": chunks.split_symbols,
        "truncated": chunks.truncated,
        "tokens": {"median": chunks.quantile(0.5), "p90": chunks.quantile(0.9), "max": chunks.quantile(1)},
    }


def languages(groups: Mapping[str, Tally]) -> dict[str, Any]:
    return {name: tally(t) for name, t in largest_first(groups)}


def directories(groups: Mapping[str, Tally], most: int | None = None) -> list[dict[str, Any]]:
    """Folders by the files that lie directly in them, worst first."""
    return [{"path": path, **tally(t)} for path, t in worst_first(groups)[:most]]


def tally(t: Tally) -> dict[str, int]:
    return {"files": t.files, "ok": t.ok, "partial": t.partial, "failed": t.failed}


def failure(f: Failure) -> dict[str, Any]:
    """`line` counts from 1; `ranges` (`[start, end]`) and their sum `bytes` are in the raw file."""
    return {
        "path": f.path,
        "language": f.language,
        "strategy": f.strategy,
        "parse_status": f.parse_status,
        "reason": f.reason,
        "line": f.line,
        "bytes": f.bytes,
        "ranges": [list(r) for r in f.damage],
        "detail": f.detail,
    }
