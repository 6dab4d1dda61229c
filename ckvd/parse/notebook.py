"""Jupyter notebooks by cell: the code of all cells is parsed together, at its offsets in the `.ipynb` file.

A cell is the unit; functions and classes in it are rows that lie in the cell's chunk.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ckvd.languages import Language, get, names
from ckvd.model import Frame, HeaderItem, Parsed, Range, Symbol
from ckvd.parse import text, tree
from ckvd.parse.damage import merged, said
from ckvd.parse.islands import together
from ckvd.parse.sections import Blocks

_DEPTH = 4
"""How deep a notebook's strings lie that matter: `cells`, number, `source`, number."""
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]+|"', re.DOTALL)
_LITERAL = re.compile(
    rb'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"'
    rb"|-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][-+]?\d++)?|true|false|null|NaN|-?Infinity"
)
_PART = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]+", re.DOTALL
)
_ESCAPES = {b"n": "\n", b"t": "\t", b"r": "\r", b"b": "\b", b"f": "\f"}
_MAGIC = re.compile(rb"^(?:%|[ \t]*!(?!=)|[ \t]*\?)[^\n]*|^[\w.]+\?{1,2}[ \t]*$", re.MULTILINE)
_PYTHON_CELL = re.compile(rb"\s*%%(?:time|timeit|capture|prun|memit|mprun|python3?|debug)\b[^\n]*")
"""Commands that the Python below them is timed, watched or run by."""
_HEADING = re.compile(rb"\s*#{1,6}[ \t]+([^\n]*)")


@dataclass(slots=True)
class _Cell:
    """A cell as it lies in the file: its source's range, and the ranges of the strings in that."""

    kind: bytes = b""
    start: int = 0
    end: int = 0
    strings: list[Range] = field(default_factory=list)


class _Code:
    """Text that was decoded from JSON strings, with the way back from its offsets to the file's."""

    def __init__(self) -> None:
        self.text = bytearray()
        self._starts, self._raw, self._widths = array("q"), array("q"), array("q")

    def add(self, source: bytes, start: int, end: int) -> None:
        """Append what the JSON string between two quotes means."""
        for part in _PART.finditer(source, start, end):
            decoded = _decoded(part[0])
            self._starts.append(len(self.text))
            self._raw.append(part.start())
            self._widths.append(0 if part[0] != decoded else 1)
            self.text += decoded
        self._ends_at(end)

    def separate(self, at: int) -> None:
        """A line's end that the file does not have."""
        self._ends_at(at)
        self.text += b"\n"

    def _ends_at(self, at: int) -> None:
        self._starts.append(len(self.text))
        self._raw.append(at)
        self._widths.append(0)

    def raw(self, offset: int) -> int:
        """Where in the file the character stands that holds this byte of the text."""
        part = bisect_right(self._starts, offset) - 1
        return self._raw[part] + (offset - self._starts[part]) * self._widths[part]

    def raw_end(self, offset: int) -> int:
        """Where in the file the character before this byte of the text ends."""
        part = bisect_right(self._starts, offset - 1) - 1
        if self._widths[part]:
            return self.raw(offset - 1) + 1
        return self._raw[part + 1] if part + 1 < len(self._raw) else self._raw[part]


def parse(path: str, source: bytes, language: Language) -> Parsed:
    """A notebook's cells, and the symbols of their code; one that is no JSON has none."""
    cells, kernel = _cells(source)
    code = _Code()
    for cell in cells:
        if cell.kind == b"code":
            before = len(code.text)
            for start, end in cell.strings:
                code.add(source, start, end)
            code.text[before:] = _without_magics(bytes(code.text[before:]))
            code.separate(cell.end)
    name = kernel if kernel in names() and get(kernel).grammar else "python"
    inner = tree.parse(path, bytes(code.text), get(name))
    status = inner.status
    detail: str | None = None
    fault: int | None = None
    damage = [(code.raw(a), code.raw_end(b)) for a, b in inner.damage]
    if inner.damage and inner.detail is not None:
        fault = code.raw(inner.damage[0][0] if inner.fault is None else inner.fault)
        detail = said(source, fault, inner.detail.partition(": ")[2])
    if (wrong := _no_notebook(source)) is not None:
        at, what = wrong
        status = "partial" if cells else "failed"
        fault, detail = at, said(source, at, what)
        damage = merged([*damage, (at, max(at + 1, text.trimmed(source, at, len(source))))])
    return Parsed(
        language=language.name,
        status=status,
        reason="syntax-errors" if damage else None,
        detail=detail,
        symbols=together([list(_cell_symbols(source, cells)), [_in_file(code, s) for s in inner.symbols]]),
        header=tuple(_item(code, item) for item in inner.header if item.kind == "import"),
        damage=tuple(damage),
        fault=fault,
        error_bytes=sum(b - a for a, b in damage),
        comment=language.comment,
        pieces=Blocks(
            [r for c in cells for r in ((c.start, c.end), *((a - 1, b + 1) for a, b in c.strings))]
        ),
    )


def _without_magics(cell: bytes) -> bytes:
    """IPython's commands as blanks; a cell that begins with `%%` is in another language altogether, but for
    those that are about how its Python runs."""
    while (head := _PYTHON_CELL.match(cell)) is not None:
        cell = re.sub(rb"[^\n]", b" ", head[0]) + cell[head.end() :]
    if cell.lstrip().startswith(b"%%"):
        return re.sub(rb"[^\n]", b" ", cell)
    return _MAGIC.sub(lambda m: b" " * len(m[0]), cell)


def _cell_symbols(source: bytes, cells: Sequence[_Cell]) -> Iterator[Symbol]:
    for number, cell in enumerate(cells, 1):
        content = _Code()
        for start, end in cell.strings:
            content.add(source, start, end)
        if not content.text.strip():
            continue
        heading = _HEADING.match(content.text) if cell.kind == b"markdown" else None
        title = heading[1].decode("utf-8", "replace").strip() if heading else ""
        first = content.text.strip().partition(b"\n")[0]
        yield Symbol(
            name=title or f"cell {number}",
            parents=(),
            kind="section" if title else "cell",
            start=cell.start,
            end=cell.end,
            name_start=content.raw(heading.start(1)) if heading and title else cell.start,
            lead=cell.start,
            signature=text.signature(bytes(first), 0, len(first)),
        )


def _in_file(code: _Code, symbol: Symbol) -> Symbol:
    body = symbol.body
    return replace(
        symbol,
        start=code.raw(symbol.start),
        end=code.raw_end(symbol.end),
        name_start=code.raw(symbol.name_start),
        lead=code.raw(symbol.lead),
        body=(code.raw(body[0]), code.raw_end(body[1])) if body else None,
        head=tuple(_item(code, item) for item in symbol.head),
        around=tuple(_item(code, item) for item in symbol.around),
        chunked=False,
        tail=0,
    )


def _item(code: _Code, item: HeaderItem) -> HeaderItem:
    lead = code.raw(item.lead) if item.lead is not None else None
    frames = tuple(
        Frame(code.raw(f.start), code.raw_end(f.head), code.raw_end(f.end), f.closes) for f in item.frames
    )
    return replace(item, start=code.raw(item.start), end=code.raw_end(item.end), frames=frames, lead=lead)


def _decoded(part: bytes) -> bytes:
    if not part.startswith(b"\\"):
        return part
    if part[1:2] != b"u":
        return _ESCAPES.get(part[1:], part[1:].decode("utf-8", "replace")).encode()
    units = b"".join(int(part[i : i + 4], 16).to_bytes(2, "big") for i in range(2, len(part), 6))
    return units.decode("utf-16-be", "replace").encode()


def _cells(source: bytes) -> tuple[list[_Cell], str]:
    """The cells in file order, and the name of the kernel's language."""
    cells: list[_Cell] = []
    kernel = ""
    for path, start, end in _values(source):
        if len(path) >= 3 and path[0] == b"cells":
            number = int(path[1])
            while len(cells) <= number:
                cells.append(_Cell())
            cell = cells[number]
            if path[2:] == (b"cell_type",):
                cell.kind = source[start + 1 : end - 1]
            elif path[2] == b"source" and len(path) <= 4:
                cell.strings.append((start + 1, end - 1))
                cell.start, cell.end = cell.strings[0][0] - 1, end
        elif path in ((b"metadata", b"kernelspec", b"language"), (b"metadata", b"language_info", b"name")):
            kernel = kernel or source[start + 1 : end - 1].decode("utf-8", "replace").lower()
    return [cell for cell in cells if cell.strings], kernel


def _no_notebook(source: bytes) -> tuple[int, str] | None:
    """Where a text ceases to be a notebook's JSON and why; None where all is well, or there is no text.

    What the format requires at the top: `cells`, or `worksheets` up to its version 3.
    """
    open_: list[bytes] = []
    required = False
    first, last, wants = -1, 0, "value"
    for token in _TOKEN.finditer(source):
        mark, last = token[0], token.start()
        first = last if first < 0 else first
        if mark in (b"{", b"[") and "value" in wants:
            open_.append(b"}" if mark == b"{" else b"]")
            wants = "key or }" if mark == b"{" else "value or ]"
        elif mark in (b"}", b"]") and open_ and mark == open_[-1] and mark.decode() in wants:
            open_.pop()
            wants = ", } ]"
        elif mark == b"," and open_ and "," in wants:
            wants = "key" if open_[-1] == b"}" else "value"
        elif mark == b":" and wants == ":":
            wants = "value"
        elif mark[:1] == b'"' and "key" in wants and _LITERAL.fullmatch(mark):
            required |= len(open_) == 1 and mark in (b'"cells"', b'"worksheets"')
            wants = ":"
        elif "value" in wants and _LITERAL.fullmatch(mark):
            wants = ", } ]"
        else:
            return last, "the notebook stops being JSON here" if open_ else "this is no JSON"
    if open_:
        return last, "the notebook stops being JSON here"
    return (
        None if required or first < 0 else (first, "a notebook has 'cells', and there are none in this JSON")
    )


def _values(source: bytes) -> Iterator[tuple[tuple[bytes, ...], int, int]]:
    """The strings of a JSON text that are values, with the keys and indexes that lead to them."""
    path: list[bytes] = []
    arrays: list[int | None] = []
    pending: Range | None = None
    for token in _TOKEN.finditer(source):
        mark = token[0]
        if mark == b":" and pending and arrays and arrays[-1] is None:
            path[-1] = source[pending[0] + 1 : pending[1] - 1]
            pending = None
            continue
        if pending is not None and 0 < len(path) <= _DEPTH:
            yield tuple(path), *pending
        pending = None
        if mark in (b"{", b"["):
            arrays.append(None if mark == b"{" else 0)
            path.append(b"" if mark == b"{" else b"0")
        elif mark in (b"}", b"]"):
            if arrays:
                arrays.pop()
                path.pop()
        elif mark == b"," and arrays and (index := arrays[-1]) is not None:
            arrays[-1] = index + 1
            path[-1] = str(index + 1).encode()
        elif mark[:1] == b'"' and len(mark) > 1:
            pending = token.span()
