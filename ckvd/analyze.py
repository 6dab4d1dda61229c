"""From one file's bytes to its rows: encoding, language, generated or not, parse, cut. Pure."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ckvd import parse
from ckvd.chunk import cut, locate
from ckvd.languages import Language, LanguageDataError
from ckvd.languages.detect import detect
from ckvd.model import (
    CutOptions,
    FileResult,
    Parsed,
    Strategy,
    Symbol,
    SymbolRow,
    Verdict,
    display_path,
)
from ckvd.parse import encoding, generated

HEAD_BYTES = 4096
"""How much of a file the language detection may look at."""


@dataclass(frozen=True, slots=True)
class Job:
    """One file to analyse. `language` and `generated` are what `.gitattributes` says, None where silent.

    `give_up` is set when that went wrong before: the file is then cut without its grammar.
    """

    path: bytes
    data: bytes
    blob_oid: str
    options: CutOptions
    language: str | None = None
    generated: bool | None = None
    give_up: GiveUp | None = None


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Why a file's analysis ended early: a stable word for its row, and a line for people."""

    reason: Literal["timeout", "memory", "crashed"]
    detail: str = ""


def skipped(
    path: bytes,
    reason: str,
    *,
    size: int,
    detail: str | None = None,
    language: str | None = None,
    blob_oid: str | None = None,
    lines: int = 0,
) -> FileResult:
    """The row of a file that is not indexed, and why."""
    verdict = Verdict("skipped", reason=reason, detail=detail)
    return FileResult(path, language, verdict, size, lines, blob_oid)


def analyze(job: Job, count: Callable[[str], int]) -> FileResult:
    """Everything that the file's rows need.

    `count` gives the number of tokens of a text by the model's tokenizer. The same job and counter give
    the same result in any process.
    """
    path = display_path(job.path)
    language = detect(path, job.data[:HEAD_BYTES], job.language)
    decoded = encoding.decode(job.data, language.name if language else None)
    name = language.name if language else None
    if isinstance(decoded, encoding.Undecodable):
        return skipped(
            job.path,
            decoded.reason,
            size=len(job.data),
            detail=decoded.detail,
            language=name,
            blob_oid=job.blob_oid,
        )
    text = decoded.text
    parsed, verdict = _parse(job, path, text, language)
    if parsed is not None and language is not None and language.rivals:
        name = parsed.language  # a `.h` is what it was read as
    if verdict.reason is None and decoded.note:
        verdict = replace(verdict, reason="encoding", detail=decoded.note)
    chunks = cut(path, text, parsed, verdict.strategy, job.options, count, language=name)
    symbols = parsed.symbols if parsed else ()
    lines = _Lines(text)
    raw = decoded.raw_offset
    return FileResult(
        path=job.path,
        language=name,
        verdict=_raw_verdict(verdict, raw),
        size=len(job.data),
        lines=lines.count,
        blob_oid=job.blob_oid,
        symbols=_symbol_rows(symbols, locate(symbols, chunks), lines, raw),
        chunks=tuple(replace(c, start=raw(c.start), end=raw(c.end)) for c in chunks),
    )


def _parse(job: Job, path: str, text: bytes, language: Language | None) -> tuple[Parsed | None, Verdict]:
    if language is None:
        return None, Verdict("window", reason="no-grammar")
    reason = None if job.options.generated == "full" else generated.reason(path, text, job.generated)
    if job.give_up is not None:
        return None, Verdict("window", "failed", job.give_up.reason, _gave_up(job.give_up))
    if language.problem is not None:
        return None, _without_data(language.problem)
    if not language.parses:
        return None, Verdict("names" if reason else "window", reason=reason or "no-grammar")
    try:
        parsed = parse.parse(path, text, language)
    except LanguageDataError as error:
        return None, _without_data(str(error))
    at = parsed.damage[0][0] if parsed.damage and parsed.fault is None else parsed.fault
    error_line = None if at is None else text.count(b"\n", 0, at) + 1
    strategy: Strategy = "names" if reason else "section" if language.sections else "symbol"
    if parsed.status == "failed" and not reason:
        strategy = "window"
    verdict = Verdict(
        strategy,
        parsed.status,
        reason or parsed.reason,
        parsed.detail,
        error_line,
        parsed.error_bytes,
        parsed.damage,
    )
    return parsed, verdict


def _without_data(problem: str) -> Verdict:
    detail = f"{problem}; reinstall ckvd or mend that file, and this one is cut on syntax"
    return Verdict("window", "failed", "language-data", detail)


def _gave_up(why: GiveUp) -> str:
    what = {
        "timeout": "the parser ran out of its time",
        "memory": "the parser ran out of its memory",
        "crashed": "the parser crashed",
    }[why.reason]
    how = f" ({why.detail})" if why.detail else ""
    return f"{what} on this file{how}; it is cut into windows and tried again when it changes"


def _raw_verdict(verdict: Verdict, raw: Callable[[int], int]) -> Verdict:
    return replace(verdict, damage=tuple((raw(a), raw(b)) for a, b in verdict.damage))


class _Lines:
    """Line numbers of byte offsets: 1-based, a line ends at LF alone."""

    def __init__(self, text: bytes) -> None:
        self._starts = [0]
        at = text.find(b"\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find(b"\n", at + 1)
        self.count = len(self._starts) - (self._starts[-1] == len(text))

    def at(self, offset: int) -> int:
        return bisect.bisect_right(self._starts, offset)

    def last(self, start: int, end: int) -> int:
        """The line that holds the last byte of a range."""
        return self.at(max(start, end - 1))

    def start_of(self, offset: int) -> int:
        return self._starts[self.at(offset) - 1]


def _symbol_rows(
    symbols: Sequence[Symbol],
    chunk_ids: Sequence[str],
    lines: _Lines,
    raw: Callable[[int], int],
) -> tuple[SymbolRow, ...]:
    rows = []
    for s, chunk_id in zip(symbols, chunk_ids, strict=True):
        line = lines.start_of(s.name_start)
        rows.append(
            SymbolRow(
                symbol=s.symbol,
                name=s.name,
                kind=s.kind,
                parents=s.parents,
                signature=s.signature,
                doc=s.doc,
                start=raw(s.start),
                end=raw(s.end),
                start_line=lines.at(s.start),
                end_line=lines.last(s.start, s.end),
                name_line=lines.at(s.name_start),
                name_column=raw(s.name_start) - (raw(line) if line else 0),
                chunk_id=chunk_id,
            )
        )
    return tuple(rows)
