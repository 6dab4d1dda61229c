"""What the hooks of the languages give: a name, and where it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tree_sitter as ts


@dataclass(frozen=True, slots=True)
class Found:
    """A name, where it begins, and what qualifies it beyond the enclosing scopes."""

    name: str
    start: int
    parents: tuple[str, ...] = ()


NameHook = Callable[[ts.Node, bytes], list[Found]]
ImportHook = Callable[[ts.Node, bytes], list[str]]


def text_of(node: ts.Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")
