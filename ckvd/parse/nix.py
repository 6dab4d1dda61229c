"""The names of Nix: a binding's path of attributes."""

from __future__ import annotations

import tree_sitter as ts

from ckvd.parse.found import Found, text_of


def nix_binding(node: ts.Node, source: bytes) -> list[Found]:
    """`services."a.b".enable` is `enable`, qualified by `services` and `a.b`."""
    path = node.child_by_field_name("attrpath")
    parts = path.children_by_field_name("attr") if path is not None else []
    names = [text_of(part, source).strip('"') for part in parts]
    if not names or not names[-1]:
        return []
    quoted = parts[-1].type == "string_expression"
    return [Found(names[-1], parts[-1].start_byte + quoted, tuple(name for name in names[:-1] if name))]
