"""Cutting text that has no syntax to cut on: windows that end at blank lines and low indentation."""

from __future__ import annotations

from collections.abc import Callable

from ckvd.chunk.source import Source
from ckvd.model import Range


def windows(
    source: Source, start: int, end: int, *, chars: int, overlap: int, fits: Callable[[int, int], bool]
) -> list[Range]:
    """Windows of at most `chars` characters over a range, each trimmed of the blanks around it.

    A window that does not fit is shortened until it does. Each begins at most `overlap` characters
    before the end of the one before it, at the start of a line where there is one.
    """
    text = source.text(start, end)
    result: list[Range] = []
    at, offset = 0, start
    while at < len(text):
        size = chars
        while True:
            stop = soft_end(text, at, size)
            stop_offset = offset + len(text[at:stop].encode())
            first, last = source.trim(offset, stop_offset)
            if first == last or stop - at == 1 or fits(first, last):
                break
            size = max(1, min(stop - at, size) * 3 // 4)
        if first < last and (not result or last > result[-1][1]):
            result.append((first, last))
        if stop == len(text):
            break
        next_at = _overlap_start(text, at, stop, min(overlap, (stop - at) // 2))
        offset = stop_offset - len(text[next_at:stop].encode())
        at = next_at
    return result


def soft_end(text: str, start: int, size: int) -> int:
    """Where a window of at most `size` characters from `start` best ends.

    In its second half: at the start of a line, one after a blank line before others, then the one
    indented least, then the last; without any line there, at the end of a word.
    """
    high = start + size
    if high >= len(text):
        return len(text)
    low = start + size // 2
    best: tuple[bool, int, int] | None = None
    # A newline is searched for from one before the end, so that the cut stands at most at the end.
    newline = text.rfind("\n", low, high)
    while newline >= 0:
        cut = newline + 1
        line = text[cut : cut + 80]
        bare = line.lstrip(" \t")
        if not bare.startswith(("\n", "\r")):
            before = text[max(start, newline - 80) : newline].rstrip(" \t\r")
            candidate = (before.endswith("\n"), len(bare) - len(line), cut)
            best = candidate if best is None else max(best, candidate)
        newline = text.rfind("\n", low, newline)
    if best is not None:
        return best[2]
    for cut in range(high, max(low, start + 1), -1):
        if not (
            (text[cut - 1].isalnum() or text[cut - 1] == "_") and (text[cut].isalnum() or text[cut] == "_")
        ):
            high = cut
            break
    return high - 1 if text[high - 1 : high + 1] == "\r\n" and high - 1 > start else high


def _overlap_start(text: str, start: int, stop: int, overlap: int) -> int:
    if overlap <= 0:
        return stop
    low = max(start + 1, stop - overlap)
    newline = text.find("\n", low - 1, stop - 1)
    return newline + 1 if newline >= 0 else low
