"""The text of one file with the indexes that cutting needs, each built at most once and on first use."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property

_NEWLINE = re.compile(rb"\n")
_IDENTIFIER = re.compile(rb"[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*")
# Roughly one match a token of a word-piece vocabulary; splitting calibrates the rest by counting.
_WEIGHT = re.compile(rb"[A-Za-z]{1,6}|[0-9]{1,3}|[\xc0-\xff][\x80-\xbf]*|[!-/:-@\[-`{-~]")
_BLANK = b" \t\r\n\f\v"


def identifiers(text: bytes) -> list[bytes]:
    """The identifier-like words of a text, in order."""
    return _IDENTIFIER.findall(text)


def has_word(text: bytes) -> bool:
    """Whether a text holds anything but blanks and punctuation."""
    return _WORD.search(text) is not None


_WORD = re.compile(rb"[A-Za-z0-9_\x80-\xff]")


class Source:
    """UTF-8 bytes of a file; all positions are byte offsets."""

    def __init__(self, data: bytes, comment: str = "") -> None:
        """`comment` is how a line comment begins, if the language has one."""
        self.data = data
        self._comment = comment.encode()

    def text(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8")

    @cached_property
    def _newlines(self) -> array[int]:
        return array("Q", (m.start() for m in _NEWLINE.finditer(self.data)))

    def line(self, offset: int) -> int:
        """The line, from 1, in which a byte lies; lines end at LF."""
        return bisect_left(self._newlines, offset) + 1

    def line_starts(self, start: int, end: int) -> list[int]:
        """Offsets strictly inside a range at which a line begins."""
        low, high = bisect_left(self._newlines, start), bisect_left(self._newlines, end - 1)
        return [n + 1 for n in self._newlines[low:high]]

    def offset_after_line(self, line: int) -> int:
        """The offset just past the end of a line, or of the text where it has fewer lines."""
        return self._newlines[line - 1] + 1 if line <= len(self._newlines) else len(self.data)

    @cached_property
    def _weights(self) -> array[int]:
        return array("Q", (m.start() for m in _WEIGHT.finditer(self.data)))

    def weight(self, start: int, end: int) -> int:
        """About how many tokens a range has: additive, and in constant proportion for like text."""
        return bisect_left(self._weights, end) - bisect_left(self._weights, start)

    @cached_property
    def _identifiers(self) -> tuple[array[int], list[bytes]]:
        at, words, known = array("Q"), [], dict[bytes, bytes]()
        code = self.data
        if self._comment:
            remark = rb"(?m)^[ \t]*" + re.escape(self._comment) + rb".*"
            code = re.sub(remark, lambda m: b" " * len(m[0]), code)
        for match in _IDENTIFIER.finditer(code):
            at.append(match.start())
            word = match.group()
            words.append(known.setdefault(word, word))
        return at, words

    def identifiers(self, start: int, end: int) -> set[bytes]:
        """The words of a range, but for those on lines that are comments."""
        at, words = self._identifiers
        return set(words[bisect_left(at, start) : bisect_right(at, end - 1)])

    def is_remark(self, start: int, end: int) -> bool:
        """Whether a range is one line comment and no more."""
        text = self.data[start:end].lstrip(b" \t")
        return bool(self._comment) and text.startswith(self._comment) and b"\n" not in text

    def has_code(self, pieces: Iterable[tuple[int, int]], before: int) -> bool:
        """Whether a piece that begins a line and is no comment ends before an offset."""
        begun = (start for start, end in pieces if end <= before and not self._is_comment(start))
        return any(self.begins_line(self.back_to_indent(start)) for start in begun)

    def heads(self, piece: tuple[int, int], following: int) -> bool:
        """Whether a piece is a comment on what begins at an offset, without a blank line between."""
        start, end = piece
        return self._is_comment(start) and self.data.count(b"\n", end, following) <= 1

    def _is_comment(self, at: int) -> bool:
        return bool(self._comment) and self.data.startswith((self._comment, b"/*"), at)

    def lines_of(self, start: int, end: int) -> tuple[int, int]:
        """A range, not empty, widened to whole lines without the end of the last."""
        stop = self.data.find(b"\n", max(start, end - 1))
        return self.data.rfind(b"\n", 0, start) + 1, stop if stop >= 0 else len(self.data)

    def begins_line(self, offset: int) -> bool:
        return offset == 0 or self.data[offset - 1] == 0x0A

    def back_to_indent(self, offset: int, floor: int = 0) -> int:
        """The start of the line where only blanks stand before an offset, else the offset itself."""
        at = offset
        while at > floor and self.data[at - 1] in b" \t":
            at -= 1
        return at if at == floor or self.begins_line(at) else offset

    def back_to_code(self, offset: int) -> int:
        """Where the line of an offset begins to say something, or the offset."""
        line = self.data.rfind(b"\n", 0, offset) + 1
        return offset - len(self.data[line:offset].lstrip(_BLANK))

    def trim(self, start: int, end: int) -> tuple[int, int]:
        """A range without the blank lines before it and the blanks after it; empty where all is blank."""
        while end > start and self.data[end - 1] in _BLANK:
            end -= 1
        at = start
        while at < end and self.data[at] in _BLANK:
            at += 1
        return (self.back_to_indent(at, start), end) if at < end else (end, end)

    def char_start(self, offset: int) -> int:
        """The nearest offset at or before one at which no character and no CRLF is cut in two."""
        data = self.data
        while 0 < offset < len(data) and data[offset] & 0xC0 == 0x80:
            offset -= 1
        if 0 < offset < len(data) and data[offset] == 0x0A and data[offset - 1] == 0x0D:
            offset -= 1
        return offset
