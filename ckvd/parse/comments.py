"""Block comments without an end, which some grammars do not take for an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import tree_sitter as ts

from ckvd.model import Range

_CLOSERS = {b"(*": b"*)", b"{-": b"-}", b"/*": b"*/", b"<#": b"#>"}
_OPENERS = {"//": b"/*", "(*": b"(*", "--": b"{-"}
"""How a block comment begins, by how a language's comments do; in others none is looked for."""
_OPERATORS = frozenset({"/", "custom_operator"})


def endless(source: bytes, at: int) -> bool:
    """Whether a block comment seems to begin at a place, and no end of one comes behind it."""
    closer = _CLOSERS.get(source[at : at + 2])
    return closer is not None and source.find(closer, at + 2) < 0


def unclosed(
    root: ts.Node, text: bytes, kinds: frozenset[int], comment: str, parse: Callable[[bytes], ts.Node]
) -> list[Range]:
    """Where block comments without an end are in a text in which the grammar finds no error.

    `kinds` are the node types of comments, `comment` is how they begin. One may swallow the rest of the text,
    or may have been read as a division by what a pointer points to, or another in it may have taken its end.
    """
    end = len(text.rstrip())
    last = root.descendant_for_byte_range(max(0, end - 1), end) if end else None
    if last is not None and last.kind_id in kinds:
        closer = _CLOSERS.get(text[last.start_byte : last.start_byte + 2])
        if closer and not text.endswith(closer, last.start_byte + 2, end):
            return [(last.start_byte, end)]
    opener = _OPENERS.get(comment)
    if opener is None:
        return []
    found: list[Range] = []
    nested = False
    for at, node in _opened(root, text, kinds, opener):
        if node.kind_id in kinds:
            nested |= text.find(opener, at + 2, node.end_byte) >= 0
        elif node.type in _OPERATORS and node.start_byte == at:
            found.append((at, at + len(opener)))
    return found or (_taken(text, end, kinds, opener, root, parse) if nested else [])


def _opened(
    root: ts.Node, text: bytes, kinds: frozenset[int], opener: bytes
) -> Iterator[tuple[int, ts.Node]]:
    """The places that look like the beginning of a comment, outside of those before, and what is there."""
    at = text.find(opener)
    while at >= 0:
        node = root.descendant_for_byte_range(at, at + 1)
        if node is None:
            return
        if node.kind_id not in kinds and node.parent is not None and node.parent.kind_id in kinds:
            node = node.parent
        yield at, node
        at = text.find(opener, max(at + 2, node.end_byte if node.kind_id in kinds else 0))


def _taken(
    text: bytes,
    end: int,
    kinds: frozenset[int],
    opener: bytes,
    root: ts.Node,
    parse: Callable[[bytes], ts.Node],
) -> list[Range]:
    """The first comment that goes on to one more closing mark at the text's end."""
    longer = text[:end] + b"\n" + _CLOSERS[opener]
    ended = parse(longer)
    for at, node in _opened(root, text, kinds, opener):
        other = ended.descendant_for_byte_range(at, at + 1) if node.kind_id in kinds else None
        if other is not None and other.end_byte == len(longer):
            return [(at, end)]
    return []
