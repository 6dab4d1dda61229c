"""Where the strings of PowerShell end."""

from __future__ import annotations

import re

_SINGLE = re.compile(rb"'(?:[^']|'')*'")
_QUOTED = re.compile(rb"`.|\$?\(|[\"')]", re.DOTALL)
_NEXT_FUNCTION = re.compile(rb"^(?:function|filter)[ \t]+[\w:-]+\s*[({]", re.IGNORECASE | re.MULTILINE)
_BEHIND_STRING = re.compile(rb"[\s)}\],;|.]|\Z")


def string_end(source: bytes, start: int, limit: int) -> int | None:
    """The end of the string that begins here; None where it has none before `limit`, or none of its own."""
    if source[start] == 0x27:
        single = _SINGLE.match(source, start, limit)
        end = single.end() if single else None
    else:
        end = _expandable_end(source, start, limit)
    if end is None or _NEXT_FUNCTION.search(source, start, end):
        return None
    if source.find(b"\n", start, end) >= 0 and not _BEHIND_STRING.match(source, end):
        return None  # what looks like the end of a string of several lines begins another one
    return end


def _expandable_end(source: bytes, start: int, limit: int) -> int | None:
    """The end of a `"` string, whose `$( … )` may hold strings in turn."""
    at = start + 1
    depths = [0]  # of parentheses in each `$( … )`; 0 is the text of a string
    while (found := _QUOTED.search(source, at, limit)) is not None:
        at, token, inside = found.end(), found[0], depths[-1]
        if token == b'"':
            if inside:
                depths.append(0)
                continue
            if source.startswith(b'"', at):
                at += 1
                continue
            depths.pop()
            if not depths:
                return at
        elif token == b"$(" and not inside:
            depths.append(1)
        elif inside and token.endswith(b"("):
            depths[-1] += 1
        elif inside and token == b")":
            depths[-1] -= 1
            if not depths[-1]:
                depths.pop()
        elif inside and token == b"'":
            single = _SINGLE.match(source, at - 1, limit)
            at = single.end() if single else at
    return None
