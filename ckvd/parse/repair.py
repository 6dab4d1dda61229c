"""One missing character: where in a block it may have stood.

The block is the smallest that keeps a text from being read. What is missing is looked for on its own lines,
those that are indented least and those that go on with its head: deeper ones are blocks of their own, and
sound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ckvd.model import Range
from ckvd.parse.layout import Block, Layout

MOST_TRIES = 80
LONGEST_LINE = 1000
"""Longer ones are not of a layout that says anything, and slow to read again and again."""
HEAD_LINES = 6
"""So many lines may go on with a block's head."""

_NO_CODE = re.compile(
    rb"""/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|`[^`\n]*+`""", re.DOTALL
)
_WORD = re.compile(rb"\w+|[^\w\s]|$")
_PAIRS = ((b"{", b"}"), (b"(", b")"), (b"[", b"]"))
_QUOTES = (b'"', b"'", b"`")

Insertion = tuple[int, bytes]
"""An offset and what is inserted there."""


def insertions(layout: Layout, text: bytes, block: Range, indent: int) -> Iterator[Insertion]:
    """What may be missing in a block whose least indentation is `indent`, the likeliest first."""
    given: set[Insertion] = set()
    lines = _own_lines(layout, text, block, indent)
    if any(stop - start > LONGEST_LINE for start, stop in lines):
        return
    for each in _likely(text, block, lines):
        if len(given) == MOST_TRIES:
            return
        if each not in given:
            given.add(each)
            yield each


def _likely(text: bytes, block: Range, lines: list[Range]) -> Iterator[Insertion]:
    code = _NO_CODE.sub(b"", text[block[0] : block[1]])
    ends = [_end(text, line) for line in lines]
    for opener, closer in _PAIRS:
        more = code.count(opener) - code.count(closer)
        if not more:
            continue
        missing = closer if more > 0 else opener
        if more > 0 and any(text.endswith(opener, 0, end) for end in ends):
            yield from ((end, missing) for end in (_end(text, block), block[1]))
        if opener != b"{":
            yield from ((at, missing) for line in lines for at in _within(text, line, opener, closer, more))
        if more > 0:
            yield _end(text, block), missing
        yield from ((end, missing) for end in ends)
    for quote in _QUOTES:
        for line in lines:
            if text.count(quote, *line) % 2:
                yield from ((m.start(), quote) for m in _WORD.finditer(text, line[0], _end(text, line)))
                yield _end(text, line), quote
    for end in ends:
        yield from ((end, mark) for mark in (b":", b";", b"{", b"}", b")", b"]"))


def third_quotes(text: bytes) -> list[Insertion]:
    """The places where a third quote may be missing beside two, if those of three do not come in pairs: those
    on lines that begin with quotes first, since other pairs are mostly empty strings."""
    found: list[tuple[bool, Insertion]] = []
    for quote in _QUOTES[:2]:
        if text.count(quote * 3) % 2:
            pair = re.compile(rb"(?<!" + quote + rb")" + quote * 2 + rb"(?!" + quote + rb")")
            for m in pair.finditer(text):
                line = text[text.rfind(b"\n", 0, m.start()) + 1 : m.end()].lstrip()
                found.append((not line.startswith(quote * 2), (m.end(), quote)))
    return [place for _, place in sorted(found, key=lambda each: each[0])]


def behind_head(layout: Layout, text: bytes, block: Block) -> list[Block]:
    """The blocks inside of one in which nothing is looked for."""
    at = block.start
    for _ in range(HEAD_LINES + 1):
        at = text.find(b"\n", at, block.end) + 1 or block.end
    first_line = text.find(b"\n", block.start, block.end) + 1 or block.end
    return [b for b in layout.blocks(text, first_line, block.end, block.indent) if b.start >= at]


def cut(
    text: bytes, block: Block, without: Sequence[Block], at: int | None = None, mark: bytes = b""
) -> bytes:
    """The text of a block without some inside, with something put in at an offset."""
    parts: list[bytes] = []
    last = block.start
    for start, end in [*((b.start, b.end) for b in without), (block.end, block.end)]:
        if at is not None and last <= at <= start:
            parts += (text[last:at], mark)
            last, at = at, None
        parts.append(text[last:start])
        last = end
    return b"".join(parts)


def _within(text: bytes, line: Range, opener: bytes, closer: bytes, more: int) -> list[int]:
    """The places on a line where a bracket can be missing: before what closes too much, behind what is left
    open, the nearest last or first."""
    own = text.count(opener, *line) - text.count(closer, *line)
    if own * more <= 0:
        return []
    places = [m.start() for m in _WORD.finditer(text, line[0], _end(text, line))]
    if more > 0:
        left_open = text.find(opener, *line)
        return [*(at for at in places if at > left_open), _end(text, line)]
    last = text.rfind(closer, *line)
    return [at for at in reversed(places) if at <= last]


def _end(text: bytes, line: Range) -> int:
    return line[0] + len(text[line[0] : line[1]].rstrip())


def _own_lines(layout: Layout, text: bytes, block: Range, indent: int) -> list[Range]:
    """The lines of least indentation, and those after the first while its parentheses are open."""
    found: list[Range] = []
    at, depth, head = block[0], 0, 0
    while at < block[1]:
        stop = text.find(b"\n", at, block[1]) + 1 or block[1]
        line = text[at:stop]
        if line.strip():
            own = layout.indent(text, at) <= indent
            if own or (depth > 0 and head < HEAD_LINES):
                found.append((at, stop))
                depth = max(0, depth + line.count(b"(") - line.count(b")")) if head < HEAD_LINES else 0
            head += 1
        at = stop
    return found
