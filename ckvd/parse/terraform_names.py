"""Terraform: blocks and values by the addresses that others use for them."""

from __future__ import annotations

import tree_sitter as ts

from ckvd.parse.found import Found, text_of


def terraform_block(node: ts.Node, source: bytes) -> list[Found]:
    """A block by the address that other blocks use for it: `aws_x.y`, `data.aws_x.y`, `var.x`."""
    named = (c for c in node.children if c.type in ("identifier", "string_lit"))
    words = [c for c in named if text_of(c, source).strip('"')]  # an empty label names nothing
    texts = [text_of(c, source).strip('"') for c in words]
    if not words:
        return []
    kind, labels = texts[0], texts[1:]
    start = words[-1].start_byte + (words[-1].type == "string_lit")
    if not labels:
        return [Found(kind, start)]
    first = {"resource": (), "variable": ("var",)}.get(kind, (kind,))
    return [Found(labels[-1], start, (*first, *labels[:-1]))]


def terraform_local(node: ts.Node, source: bytes) -> list[Found]:
    """A value of a `locals` block is `local.x`."""
    name = node.children[0]
    return [Found(text_of(name, source), name.start_byte, ("local",))]
