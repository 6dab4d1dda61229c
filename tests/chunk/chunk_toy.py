"""A small language with braces: sources whose parse is known, fake token counters, what always holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ckvd.model import Chunk, CutOptions, HeaderItem, Parsed, Range, Symbol

LIMITS = (128, 256, 512)


def words(text: str) -> int:
    """Like a word-piece tokenizer: six letters a token, punctuation one each."""
    return len(re.findall(r"\w{1,6}|[^\w\s]", text))


def letters(text: str) -> int:
    """Like a byte-pair tokenizer without merges for other scripts: bytes, blanks at a discount."""
    return len(text.encode()) // 3 + sum(ord(c) > 127 for c in text)


@dataclass
class Node:
    start: int
    end: int = 0
    children: list[Node] = field(default_factory=list)


class Toy:
    """Writes a file and its parse side by side.

    Statements are given as text; a block's header line ends with `{`, its end is `}`.
    """

    def __init__(self, newline: str = "\n", tail: str = "") -> None:
        self._newline = newline
        self._tail = tail
        self._out: list[bytes] = []
        self._at = 0
        self._root = Node(0)
        self._open = [self._root]
        self._symbols: list[dict[str, object]] = []
        self._scopes: list[int] = []
        self._heads: dict[int, list[HeaderItem]] = {}
        self._header: list[HeaderItem] = []
        self._damage: list[Range] = []

    def _write(self, text: str) -> None:
        data = text.encode()
        self._out.append(data)
        self._at += len(data)

    def _line(self, text: str) -> Range:
        """Writes an indented line; the range of its text."""
        self._write("    " * (len(self._open) - 1))
        start = self._at
        self._write(text.replace("\n", self._newline))
        end = self._at
        self._write(self._newline)
        self._open[-1].children.append(Node(start, end))
        return start, end

    def blank(self) -> None:
        self._write(self._newline)

    def statement(self, text: str) -> None:
        self._line(text)

    def imports(self, text: str, *names: str) -> None:
        self._header.append(HeaderItem("import", *self._line(text), frozenset(names)))

    def constant(self, name: str, text: str) -> None:
        self._header.append(HeaderItem("constant", *self._line(text), frozenset({name})))

    def field(self, text: str, *names: str) -> None:
        span = self._line(text)
        if self._scopes:
            self._heads[self._scopes[-1]].append(HeaderItem("member", *span, frozenset(names)))

    def damage(self, text: str) -> None:
        self._damage.append(self._line(text))

    def open(self, name: str, kind: str, *, doc: str = "", chunked: bool = True, clean: bool = True) -> None:
        lead = self._line(f"# {doc}")[0] if doc else None
        self._write("    " * (len(self._open) - 1))
        start = self._at
        self._write(f"{kind} ")
        name_start = self._at
        self._write(f"{name}() ")
        signature_end = self._at - 1
        node = Node(start)
        node.children.append(Node(name_start, signature_end))
        self._open[-1].children.append(node)
        self._open.append(node)
        block = Node(self._at)
        node.children.append(block)
        self._open[-1] = block
        index = len(self._symbols)
        head = [HeaderItem("signature", start, signature_end)]
        if doc:
            assert lead is not None
            head.insert(0, HeaderItem("doc", lead, lead + len(f"# {doc}".encode())))
        self._heads[index] = head
        self._symbols.append(
            {
                "name": name,
                "parents": tuple(str(self._symbols[i]["name"]) for i in self._scopes),
                "kind": kind,
                "start": start,
                "name_start": name_start,
                "lead": start if lead is None else lead,
                "scope": self._scopes[-1] if self._scopes else None,
                "body": (self._at, 0),
                "coarse": kind == "class",
                "chunked": chunked,
                "clean": clean,
                "signature": f"{kind} {name}()",
            }
        )
        self._scopes.append(index)
        self._write("{" + self._newline)

    def close(self) -> None:
        block = self._open.pop()
        self._write("    " * (len(self._open) - 1) + "}")
        block.end = self._at
        symbol = self._symbols[self._scopes.pop()]
        symbol["end"] = self._at
        symbol["body"] = (block.start, self._at)
        for node in self._open[-1].children:
            if node.start == symbol["start"]:
                node.end = self._at
        self._write(self._tail + self._newline)

    def done(self, status: str = "ok") -> tuple[bytes, Parsed]:
        while self._scopes:
            self.close()
        self._root.end = self._at
        symbols = tuple(
            Symbol(**row, head=tuple(self._heads[i]))  # type: ignore[arg-type]
            for i, row in enumerate(self._symbols)
        )
        parsed = Parsed(
            "toy",
            status,  # type: ignore[arg-type]
            symbols=symbols,
            header=tuple(self._header),
            damage=tuple(self._damage),
            comment="#",
            pieces=self._pieces,
        )
        return b"".join(self._out), parsed

    def _pieces(self, start: int, end: int) -> Sequence[Range]:
        node = self._root
        while True:
            inner = [c for c in node.children if c.start <= start and end <= c.end]
            if not inner:
                return [(c.start, c.end) for c in node.children]
            node = inner[0]


def check(source: bytes, chunks: Sequence[Chunk], options: CutOptions) -> None:
    """What holds for the chunks of every file."""
    covered = bytearray(len(source))
    for chunk in chunks:
        assert 0 <= chunk.start < chunk.end <= len(source)
        covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
        assert not chunk.truncated
        assert chunk.tokens <= options.limit
        assert chunk.start_line == source.count(b"\n", 0, chunk.start) + 1
        assert chunk.end_line == source.count(b"\n", 0, chunk.end - 1) + 1
        if chunk.rendering == "source":
            assert chunk.body.encode() == source[chunk.start : chunk.end]
        assert_subsequence(chunk.header_text, source)
    bare = [source[i : i + 1] for i, c in enumerate(covered) if not c and source[i : i + 1].strip()]
    assert not bare, b"".join(bare)
    ids = [c.chunk_id for c in chunks]
    assert len(set(ids)) == len(ids)
    for whole in wholes(chunks):
        assert [c.part for c in whole] == list(range(1, len(whole) + 1))
        assert {c.parts for c in whole} == {len(whole)}
        assert len({c.header for c in whole}) == 1
        for before, after in pairwise(whole):
            assert before.end == after.start
    if options.window_overlap == 0:
        assert_nested(chunks)


def assert_nested(chunks: Sequence[Chunk]) -> None:
    """Any two chunks, parts too, are disjoint, or one lies in the other."""
    open_: list[Chunk] = []
    for chunk in sorted(chunks, key=lambda c: (c.start, -c.end)):
        while open_ and open_[-1].end <= chunk.start:
            open_.pop()
        assert not open_ or chunk.end <= open_[-1].end, (open_[-1].chunk_id, chunk.chunk_id)
        open_.append(chunk)


def wholes(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """Chunks with their parts put together."""
    result: list[list[Chunk]] = []
    for chunk in chunks:
        if chunk.part == 1:
            result.append([])
        result[-1].append(chunk)
    return result


def assert_subsequence(header: str, source: bytes) -> None:
    """Every line of a header is a line of the file, in order; the mark is none."""
    lines, at = source.decode().replace("\r\n", "\n").split("\n"), 0
    assert "\r\n" not in header
    for line in header.split("\n") if header else ():
        if line != "...":
            assert line in lines[at:], line
            at = lines.index(line, at) + 1
