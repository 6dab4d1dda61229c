"""Small files as values: functions and classes with methods, cut by hand into what analysis would give."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ckvd import model
from ckvd.model import Chunk, FileResult, Segment, Stamp, SymbolRow, Verdict, display_path
from ckvd.plan import ChunkMeta, StoredChunk, StoredFile, StoredSymbol


@dataclass(frozen=True)
class Function:
    name: str
    body: str = "pass"

    def text(self, indent: str = "") -> str:
        return f"{indent}def {self.name}(self):\n{indent}    {self.body}\n"


@dataclass(frozen=True)
class Class:
    name: str
    methods: tuple[Function, ...] = ()
    doc: str = "A class."

    def head(self) -> str:
        return f'class {self.name}:\n    """{self.doc}"""\n'

    def text(self) -> str:
        return self.head() + "".join("\n" + m.text("    ") for m in self.methods)


Part = Function | Class


@dataclass(frozen=True)
class Seen:
    stamp: Stamp
    read_ns: int = 7
    cut_key: str = "k1"


@dataclass(frozen=True)
class Head:
    ref: str | None
    commit: str | None


def digest(*texts: str) -> bytes:
    return model.digest(*(text.encode() for text in texts))


def skipped(path: bytes, reason: str = "binary", size: int = 10, detail: str = "has a NUL") -> FileResult:
    return FileResult(path, None, Verdict("skipped", "none", reason, detail), size, 0, None)


def stored(file: FileResult) -> StoredFile:
    """The rows of `file` as the store gives them back, with ids from 1 in file order."""
    return StoredFile(
        *(1, file.path, file.language, file.verdict, file.size, file.lines, file.blob_oid),
        chunks=tuple(StoredChunk(i, ChunkMeta.of(c)) for i, c in enumerate(file.chunks, 1)),
        symbols=tuple(StoredSymbol(i, s) for i, s in enumerate(file.symbols, 1)),
    )


def text_of(parts: Sequence[Part]) -> str:
    return "\n\n".join(p.text() for p in parts)


def result(path: bytes, *parts: Part, verdict: Verdict | None = None, prefix: str = "p") -> FileResult:
    """What analysing a file of `parts` gives; `prefix` stands for all that decides the embedded text."""
    cut = _Cut(path, text_of(parts), prefix)
    at = 0
    for part in parts:
        size = len(part.text().encode())
        if isinstance(part, Class):
            head = (Segment("signature", f"class {part.name}:"), Segment("doc", f'    """{part.doc}"""'))
            inside = at + len(part.head().encode())
            cut.add(part.name, (), "class", at, at + size, own=part.head())
            for method in part.methods:
                inside += 1
                length = len(method.text("    ").encode())
                cut.add(method.name, (part.name,), "method", inside, inside + length, header=head)
                inside += length
        else:
            cut.add(part.name, (), "function", at, at + size)
        at += size + 2
    source = cut.source
    return FileResult(
        path,
        "python",
        verdict or Verdict("symbol", "ok"),
        len(source),
        source.count(b"\n") + (not source.endswith(b"\n") and bool(source)),
        hashlib.sha1(source).hexdigest(),
        tuple(cut.symbols),
        tuple(cut.chunks),
    )


class _Cut:
    def __init__(self, path: bytes, text: str, prefix: str) -> None:
        self.path = display_path(path)
        self.source = text.encode()
        self.prefix = prefix
        self.used: Counter[str] = Counter()
        self.symbols: list[SymbolRow] = []
        self.chunks: list[Chunk] = []

    def add(
        self,
        name: str,
        parents: tuple[str, ...],
        kind: str,
        start: int,
        end: int,
        header: tuple[Segment, ...] = (),
        own: str | None = None,
    ) -> None:
        body = self.source[start:end].decode()
        symbol = ".".join((*parents, name))
        self.used[symbol] += 1
        nth = self.used[symbol]
        chunk_id = f"{self.path}::{symbol}" + (f"#{nth}" if nth > 1 else "")
        above = "\n".join(s.text for s in header)
        first = self.source.count(b"\n", 0, start) + 1
        last = self.source.count(b"\n", 0, max(start, end - 1)) + 1
        self.chunks.append(
            Chunk(
                chunk_id=chunk_id,
                unit="symbol",
                kind=kind,
                grain="coarse" if kind == "class" else "fine",
                symbol=symbol,
                parents=parents,
                start=start,
                end=end,
                start_line=first,
                end_line=last,
                part=1,
                parts=1,
                header=header,
                body=body,
                rendering="source",
                tokens=len(body.split()) + 3,
                header_trimmed=False,
                truncated=False,
                content_hash=digest(above, body),
                own_hash=digest(above, body if own is None else own),
                embed_hash=digest(self.prefix, self.path, above, body),
            )
        )
        signature = body.split("\n", 1)[0].strip()
        self.symbols.append(
            SymbolRow(
                *(symbol, name, kind, parents, signature, "", start, end, first, last, first, 4, chunk_id)
            )
        )
