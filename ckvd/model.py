"""The values that flow through ckvd: frozen, without behaviour that touches the outside.

Offsets are bytes, end excluded. Inside `parse` and `chunk` they count in the UTF-8 text of the file
(BOM stripped, other encodings transcoded); `analyze` maps them to the raw file before they leave.
Lines count from 1, both ends included, and end at LF alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

Strategy = Literal["symbol", "section", "window", "names", "skipped"]
ParseStatus = Literal["ok", "partial", "failed", "none"]
Unit = Literal["symbol", "file_header", "module", "section", "window", "names", "file"]
Grain = Literal["fine", "coarse"]
Rendering = Literal["source", "outline"]
What = Literal["added", "changed", "moved", "removed"]
Range = tuple[int, int]

SegmentKind = Literal["package", "import", "constant", "signature", "doc", "member", "remark"]
"""What a piece of a header is (a remark: a comment on a constant or a member); the order in which embedded
text leaves pieces out follows from it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What encloses declarations and is none itself (`import (`, `if x:`, `#ifdef X`): its range, where its
    head ends, and whether its last line closes it."""

    start: int
    head: int
    end: int
    closes: bool


@dataclass(frozen=True, slots=True)
class HeaderItem:
    """A declaration that chunks may need above them: its range, and the names that it binds.

    `names` empty means that one cannot tell (`import *`, a C include): the item goes with every chunk.
    `frames` are what it lies in, outermost first; `lead` is where the comment on it begins. `holds` is the
    range of which a `package A;` tells, unless a later one does, or of the type without a name that this is
    the head or a member of; None: the file. An import that `acts` goes with every chunk too, if the file says
    one of its names nowhere else.
    """

    kind: SegmentKind
    start: int
    end: int
    names: frozenset[str] = frozenset()
    frames: tuple[Frame, ...] = ()
    lead: int | None = None
    holds: Range | None = None
    acts: bool = False


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named declaration.

    `start`..`end` has decorators, modifiers and `export` inside and the doc comment outside;
    `lead` is where the chunk begins: at the doc comment that sits directly on it, else at `start`.
    `body` is what an outline leaves out (between the signature and the end), None where there is none.
    `scope` is the index of the lexically enclosing symbol in `Parsed.symbols`, None at top level;
    `parents` are the names that qualify it, which for a Go method differ from the lexical scope.
    `head` are the pieces that this symbol gives to the headers of what lies within it, in file order;
    `around` the heads of what encloses it within its scope and is no symbol (`extern "C" {`).
    `owner` is the name of the type that it adds to, where that does not qualify it (`fun Cart.total()`).
    `tail` is where the comment ends that its last line ends with, if beyond its `end`: its chunk has it.
    """

    name: str
    parents: tuple[str, ...]
    kind: str
    start: int
    end: int
    name_start: int
    lead: int
    body: Range | None = None
    scope: int | None = None
    signature: str = ""
    doc: str = ""
    clean: bool = True
    chunked: bool = True
    coarse: bool = False
    head: tuple[HeaderItem, ...] = ()
    around: tuple[HeaderItem, ...] = ()
    owner: str = ""
    tail: int = 0

    @property
    def symbol(self) -> str:
        """The qualified name, `.`-joined."""
        return ".".join((*self.parents, self.name))


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a file came out. `reason` is one stable word or None; `detail` one line a person can act on."""

    strategy: Strategy
    parse_status: ParseStatus = "none"
    reason: str | None = None
    detail: str | None = None
    error_line: int | None = None
    error_bytes: int = 0
    damage: tuple[Range, ...] = ()


Pieces = Callable[[int, int], Sequence[Range]]
"""The direct syntactic parts (named children) of the smallest node that spans a range, in order."""


def no_pieces(_start: int, _end: int) -> Sequence[Range]:
    return ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a parse gives. `symbols` are in file order (`start`, then the longer first)."""

    language: str
    status: ParseStatus
    reason: str | None = None
    detail: str | None = None
    symbols: tuple[Symbol, ...] = ()
    header: tuple[HeaderItem, ...] = ()
    damage: tuple[Range, ...] = ()
    fault: int | None = None
    """Where in the damage the parse went wrong, if not at its beginning."""
    error_bytes: int = 0
    comment: str = "#"
    """How a line comment begins in this language, for the marker line (`//`, `--`, `<!--`)."""
    whole_members: bool = False
    """Whether headers tell all that a type assigns, also what the body does not use."""
    pieces: Pieces = field(default=no_pieces, compare=False)


@dataclass(frozen=True, slots=True)
class Segment:
    kind: SegmentKind
    text: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A unit of retrieval; the columns of the `chunks` view say what each field means.

    `header` joined by LF is the view's `header`. `content_hash` is over header and body, without path
    or prefix; `own_hash` the same with the ranges of nested chunks cut out of the body, so that a class
    whose method changed is itself unchanged; `embed_hash` is over the whole text that is embedded.
    """

    chunk_id: str
    unit: Unit
    kind: str
    grain: Grain
    symbol: str | None
    parents: tuple[str, ...]
    start: int
    end: int
    start_line: int
    end_line: int
    part: int
    parts: int
    header: tuple[Segment, ...]
    body: str
    rendering: Rendering
    tokens: int
    header_trimmed: bool
    truncated: bool
    content_hash: bytes
    own_hash: bytes
    embed_hash: bytes

    @property
    def header_text(self) -> str:
        return "\n".join(s.text for s in self.header)


@dataclass(frozen=True, slots=True)
class SymbolRow:
    """A row of the `symbols` view, offsets in the raw file. Columns are bytes from the line's start."""

    symbol: str
    name: str
    kind: str
    parents: tuple[str, ...]
    signature: str
    doc: str
    start: int
    end: int
    start_line: int
    end_line: int
    name_line: int
    name_column: int
    chunk_id: str


@dataclass(frozen=True, slots=True)
class CutOptions:
    """All that decides how a file is cut and counted, besides its path and bytes."""

    file_header_lines: int = 50
    include_file_header: bool = True
    include_file_full: bool = False
    window_chars: int = 1200
    window_overlap: int = 0
    limit: int = 512
    """Tokens that an embedded text may have, prefix line included."""
    prefix: Literal["contextual", "raw"] = "contextual"
    embed_header: bool = False
    generated: Literal["names", "full"] = "names"
    max_file_bytes: int = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileResult:
    """What analysing one file gives: everything its rows need, offsets in the raw file."""

    path: bytes
    language: str | None
    verdict: Verdict
    size: int
    lines: int
    blob_oid: str | None
    symbols: tuple[SymbolRow, ...] = ()
    chunks: tuple[Chunk, ...] = ()


RACY_NS = 2_000_000_000
"""The coarsest clock of a file system in use (FAT's), in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What `lstat` says of a file; equal stamps mean unchanged content unless they are `racy`."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    def racy(self, read_ns: int) -> bool:
        """Whether a file read at `read_ns` may have changed since under this very stamp: it was touched so
        shortly before that both may lie in one tick of its file system's clock."""
        return read_ns - max(self.mtime_ns, self.ctime_ns) < RACY_NS


@dataclass(frozen=True, slots=True)
class Change:
    what: What
    start: int
    end: int


_LIKE_A_BYTE = re.compile(rb"\\(?=x(?:5c|[89a-f][0-9a-f]))")


def display_path(path: bytes) -> str:
    r"""A path as the views show it: UTF-8, with bytes that are not UTF-8 as ``\xNN``. No two paths look the
    same: a backslash that stands as in such a byte, or as in itself so written, is ``\x5c``."""
    if b"\\x" in path:
        path = _LIKE_A_BYTE.sub(rb"\\x5c", path)
    return path.decode("utf-8", "backslashreplace")


def digest(*texts: bytes) -> bytes:
    """BLAKE2b of 16 bytes over texts, each set off from the next by its length."""
    made = blake2b(digest_size=16)
    for text in texts:
        made.update(len(text).to_bytes(8, "big"))
        made.update(text)
    return made.digest()
