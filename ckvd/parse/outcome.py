"""What a parser without a tree says of a file, from the ranges that it found damaged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ckvd.languages import Language
from ckvd.model import HeaderItem, Parsed, ParseStatus, Pieces, Range, Symbol
from ckvd.parse.damage import FAILED_SHARE


def outcome(
    source: bytes,
    language: Language,
    damage: Sequence[Range],
    detail: str | None,
    fault: int | None = None,
    *,
    symbols: Iterable[Symbol],
    header: Iterable[HeaderItem],
    pieces: Pieces,
) -> Parsed:
    """`damage` is merged and outside of intact symbols; `detail` says what is wrong at its beginning, or at
    `fault` in it."""
    error_bytes = sum(end - start for start, end in damage)
    status: ParseStatus = (
        "ok" if not damage else "failed" if error_bytes > FAILED_SHARE * len(source) else "partial"
    )
    return Parsed(
        language=language.name,
        status=status,
        reason="syntax-errors" if damage else None,
        detail=detail,
        symbols=tuple(symbols),
        header=tuple(header),
        damage=tuple(damage),
        fault=fault,
        error_bytes=error_bytes,
        comment=language.comment,
        pieces=pieces,
    )
