"""The members of a type: which there are where no symbol says so, and by which words a body uses one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from ckvd.chunk.source import Source, identifiers
from ckvd.model import HeaderItem

MEMBER_BYTES = 512
"""A scope with more in its members gives only those that the body uses, unless the language tells all."""

MOST_MEMBER_BYTES = 8192
"""A scope with more in its members gives only those that the body uses in any language."""

_FIELD = re.compile(rb"[ \t]*+(?:pub(?:\([^)\n]*\))?\s+)?(?P<names>(?:\w+[ \t]*,[ \t]*)*+\w+)")
"""The line of a field in a language that has its name before its type."""


def fields(source: Source, start: int, end: int) -> list[HeaderItem]:
    """Of a type's body the lines that declare something, by its name, each with the remark above it."""
    found: list[HeaderItem] = []
    lead: int | None = None
    for line in pairwise([start, *source.line_starts(start, end), end]):
        first, last = source.trim(*line)
        if first < last and source.is_remark(first, last):
            lead = first if lead is None else lead
            continue
        if field := _FIELD.match(source.data, first, last):
            names = frozenset(name.strip() for name in field["names"].decode().split(","))
            found.append(HeaderItem("member", first, last, names, lead=lead))
        lead = None
    return found


Members = dict[bytes, list[tuple[tuple[bytes, ...], HeaderItem]]]
"""Members by the last word of each name, with all of its words."""


def by_word(members: Iterable[HeaderItem]) -> Members:
    found: Members = {}
    for member in members:
        for words in map(words_of, member.names):
            found.setdefault(words[-1], []).append((words, member))
    return found


def used_of(members: Members, body: set[bytes]) -> list[HeaderItem]:
    """Those of which a body has all the words of a name."""
    return [m for word in body for words, m in members.get(word, ()) if body.issuperset(words)]


def words_of(name: str) -> tuple[bytes, ...]:
    """The identifiers by which a bound name is recognised: one for `$config` and `a.b`, two for `--a-b`."""
    return tuple(identifiers(name.rpartition(".")[2].encode())) or (name.encode(),)
