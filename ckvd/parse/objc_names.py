"""Objective-C: selectors, and what properties and instance variables declare."""

from __future__ import annotations

import tree_sitter as ts

from ckvd.parse.c_names import declared
from ckvd.parse.found import Found, text_of


def objc_selector(node: ts.Node, source: bytes) -> list[Found]:
    """The whole selector of a method, `setObject:forKey:`."""
    parts: list[str] = []
    start = word = None
    for child in node.named_children:
        if child.type == "identifier":
            word = child
        elif child.type == "method_parameter":
            parts.append((text_of(word, source) if word is not None else "") + ":")
        else:
            continue
        start = child if start is None else start
        word = word if child.type == "identifier" else None
    if start is None:
        return []
    return [Found("".join(parts) or text_of(start, source), start.start_byte)]


def objc_values(node: ts.Node, source: bytes) -> list[Found]:
    """The names that a property or an instance variable declares."""
    listed = (c for c in node.named_children if c.type == "struct_declaration")
    each = (d for c in listed for d in c.named_children if d.type == "struct_declarator")
    found = (declared(d, source)[0] for d in each)
    return [name for name in found if name is not None and name.name]
