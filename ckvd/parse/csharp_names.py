"""C#: operators and destructors, whose names are more than one word."""

from __future__ import annotations

import tree_sitter as ts

from ckvd.parse.found import Found


def csharp_operator(node: ts.Node, source: bytes) -> list[Found]:
    """`operator +`, `operator checked ++` and, of a conversion, `operator int`."""
    word = next((c for c in node.children if c.type == "operator"), None)
    parameters = node.child_by_field_name("parameters")
    if word is None or parameters is None:
        return []
    return [_text(source, word.start_byte, parameters.start_byte)]


def csharp_destructor(node: ts.Node, source: bytes) -> list[Found]:
    """`~Name`."""
    tilde = next((c for c in node.children if c.type == "~"), None)
    name = node.child_by_field_name("name")
    return [_text(source, tilde.start_byte, name.end_byte)] if tilde is not None and name is not None else []


def _text(source: bytes, start: int, end: int) -> Found:
    return Found(" ".join(source[start:end].decode("utf-8", "replace").split()), start)
