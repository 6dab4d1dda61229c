"""git's ignore patterns as regular expressions over bytes: what gitignore(5) and git's wildmatch say.

Pure. No input makes the expressions backtrack more than once per wildcard: a star commits to the first place
where what follows it fits (atomic groups), which for these patterns loses no match.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

_BOM = b"\xef\xbb\xbf"
_SPECIAL = frozenset(b"*?[\\")


def _bytes(characters: str) -> frozenset[int]:
    return frozenset(characters.encode())


_CLASSES: dict[bytes, frozenset[int]] = {
    b"alnum": _bytes(string.ascii_letters + string.digits),
    b"alpha": _bytes(string.ascii_letters),
    b"blank": _bytes(" \t"),
    b"cntrl": frozenset((*range(32), 127)),
    b"digit": _bytes(string.digits),
    b"graph": frozenset(range(33, 127)),
    b"lower": _bytes(string.ascii_lowercase),
    b"print": frozenset(range(32, 127)),
    b"punct": _bytes(string.punctuation),
    b"space": _bytes(" \t\n\r"),  # git's isspace has neither \v nor \f
    b"upper": _bytes(string.ascii_uppercase),
    b"xdigit": _bytes(string.hexdigits),
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file. `whole`: the path from the file's folder is matched, not the name."""

    negative: bool
    folder_only: bool
    whole: bool
    match: Callable[[bytes], object]

    def matches(self, path: bytes, name: bytes, folder: bool) -> bool:
        if self.folder_only and not folder:
            return False
        return self.match(path if self.whole else name) is not None


def parse(content: bytes, *, ignore_case: bool = False) -> Sequence[Pattern]:
    """The patterns of an ignore file, in order; the last that matches decides."""
    lines = content.removeprefix(_BOM).split(b"\n")
    patterns = (_pattern(_trimmed(line.removesuffix(b"\r")), ignore_case) for line in lines)
    return [pattern for pattern in patterns if pattern is not None]


def _trimmed(line: bytes) -> bytes:
    """Without trailing spaces, save one that a backslash keeps."""
    bare = line.rstrip(b" ")
    backslashes = len(bare) - len(bare.rstrip(b"\\"))
    return line[: len(bare) + 1] if backslashes % 2 and len(bare) < len(line) else bare


@lru_cache(maxsize=4096)
def _pattern(line: bytes, ignore_case: bool) -> Pattern | None:
    if not line or line.startswith(b"#"):
        return None
    negative = line.startswith(b"!")
    glob = line[1:] if negative else line
    folder_only = glob.endswith(b"/")
    glob = glob[:-1] if folder_only else glob
    whole = b"/" in glob
    if whole:
        glob = glob.removeprefix(b"/")
    # git compares what comes before the first wildcard literally and hands only the rest to wildmatch,
    # so that the rest's own `**` counts as standing at the start of the pattern.
    plain = next((i for i, byte in enumerate(glob) if byte in _SPECIAL), len(glob)) if whole else 0
    body = _expression(glob[plain:], whole)
    if body is None or not glob:
        return None  # it can match nothing
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    expression = re.compile(re.escape(glob[:plain]) + body + rb"\Z", flags)
    return Pattern(negative, folder_only, whole, expression.match)


_Kind = Literal["one", "star", "folders", "rest"]
_Token = tuple[_Kind, bytes]


def _expression(glob: bytes, whole: bool) -> bytes | None:
    """The regular expression for a glob; None for one that is malformed, which git lets match nothing."""
    tokens = _tokens(glob, whole)
    if tokens is None:
        return None
    parts: list[bytes] = []
    groups: list[tuple[_Kind, list[_Token]]] = [("one", [])]
    for token in tokens:
        if token[0] in ("folders", "rest"):
            groups.append((token[0], []))
        else:
            groups[-1][1].append(token)
    for number, (kind, group) in enumerate(groups):
        last = number == len(groups) - 1
        inner = _within(group, last)
        if kind == "one":
            parts.append(inner)
        elif kind == "folders":
            parts.append(b"(?:.*/)?" + inner if last else b"(?>(?:.*?/)??" + inner + b")")
        else:
            parts.append(b".*" + inner)
    return b"".join(parts)


def _within(group: list[_Token], last: bool) -> bytes:
    """A stretch without `**`: each star takes as little as lets what follows fit, the very last is free."""
    runs: list[list[bytes]] = [[]]
    for kind, text in group:
        if kind == "star":
            runs.append([])
        else:
            runs[-1].append(text)
    parts = [b"".join(runs[0])]
    for number, run in enumerate(runs[1:], 1):
        free = last and number == len(runs) - 1
        fixed = b"".join(run)
        parts.append(b"[^/]*" + fixed if free else b"(?>[^/]*?" + fixed + b")")
    return b"".join(parts)


def _tokens(glob: bytes, whole: bool) -> list[_Token] | None:
    tokens: list[_Token] = []
    i = 0
    while i < len(glob):
        here = glob[i : i + 1]
        if here == b"*":
            end = i
            while glob[end : end + 1] == b"*":
                end += 1
            alone = i == 0 or glob[i - 1 : i] == b"/"
            if whole and end - i > 1 and alone and glob[end : end + 1] == b"/":
                tokens.append(("folders", b""))
                end += 1
            elif whole and end - i > 1 and alone and (end == len(glob) or glob.startswith(b"\\/", end)):
                tokens.append(("rest", b""))
            else:
                tokens.append(("star", b""))
            i = end
        elif here == b"[":
            found = _bracket(glob, i + 1)
            if found is None:
                return None
            members, i = found
            tokens.append(("one", _one_of(members)))
        elif here == b"?":
            tokens.append(("one", b"[^/]"))
            i += 1
        else:
            i += here == b"\\"
            if i == len(glob):
                return None
            tokens.append(("one", re.escape(glob[i : i + 1])))
            i += 1
    return tokens


def _one_of(members: frozenset[int]) -> bytes:
    members -= {ord("/")}
    return b"[" + b"".join(b"\\x%02x" % byte for byte in sorted(members)) + b"]" if members else b"(?!)"


def _bracket(glob: bytes, i: int) -> tuple[frozenset[int], int] | None:
    """The bytes that a bracket expression stands for, and where it ends; `i` is just behind the `[`."""
    negated = glob[i : i + 1] in (b"!", b"^")
    i += negated
    members: set[int] = set()
    previous: int | None = None
    first = True
    while first or glob[i : i + 1] != b"]":
        first = False
        here = glob[i : i + 1]
        if not here:
            return None
        after = glob[i + 1 : i + 2]
        if here == b"-" and previous is not None and after not in (b"", b"]"):
            i += 1 + (after == b"\\")
            if i >= len(glob):
                return None
            members.update(range(previous, glob[i] + 1))
            previous = None
        elif here == b"[" and after == b":" and (named := _class(glob, i + 2)) != "none":
            if named is None:
                return None
            name, i = named
            members |= _CLASSES[name]
            previous = None
        else:
            i += here == b"\\"
            if i >= len(glob):
                return None
            previous = glob[i]
            members.add(previous)
        i += 1
    return frozenset(set(range(256)) - members if negated else members), i + 1


def _class(glob: bytes, i: int) -> tuple[bytes, int] | Literal["none"] | None:
    """The class named at `i` and where its `]` is; "none" where this is no class, None if malformed."""
    end = glob.find(b"]", i)
    if end < 0:
        return None
    if end == i or glob[end - 1 : end] != b":":
        return "none"
    name = glob[i : end - 1]
    return (name, end) if name in _CLASSES else None
