"""Go: the receiver of a method, and what an import binds."""

from __future__ import annotations

import re

import tree_sitter as ts

from ckvd.parse.found import Found, text_of


def go_method(node: ts.Node, source: bytes) -> list[Found]:
    """The receiver's type qualifies a Go method, without `*`, parentheses and type parameters."""
    name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    if name is None or receiver is None:
        return []
    owner: ts.Node | None = next(
        (c for c in receiver.named_children if c.type == "parameter_declaration"), None
    )
    while owner is not None and owner.type != "type_identifier":
        within = owner.child_by_field_name("type") or owner.child_by_field_name("name")
        owner = within or next((c for c in owner.named_children if c.type != "comment"), None)
    return [Found(text_of(name, source), name.start_byte, (text_of(owner, source),) if owner else ())]


def go_import(node: ts.Node, source: bytes) -> list[str]:
    """The name before the path, else the path's last element that is not a version."""
    name, path = node.child_by_field_name("name"), node.child_by_field_name("path")
    if name is not None:
        named = text_of(name, source)
        if named == ".":
            return []
        if named != "_":
            return [named]
    if path is None:
        return []
    parts = text_of(path, source).strip('"`').split("/")
    if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]):
        parts.pop()
    last = re.sub(r"\.v\d+$", "", parts[-1])
    return [last, *re.split(r"[-.]", last)]
