"""The names of Haskell that no table can say."""

from __future__ import annotations

import tree_sitter as ts

from ckvd.parse.found import Found, text_of


def haskell_instance(node: ts.Node, source: bytes) -> list[Found]:
    """An instance is called by its class and what it is of: `Show (Crate a)`."""
    name, of = node.child_by_field_name("name"), node.child_by_field_name("patterns")
    if name is None:
        return []
    end = of.end_byte if of is not None else name.end_byte
    shown = " ".join(source[name.start_byte : end].decode("utf-8", "replace").split())
    return [Found(shown, name.start_byte)]


def haskell_function(node: ts.Node, source: bytes) -> list[Found]:
    """The name of an equation or a signature; an operator between its operands, or in parentheses."""
    head: ts.Node | None = node.child_by_field_name("name")
    at = node
    while head is None:
        # `a <+> b = …`, and with more parameters `(a <+> b) c = …`.
        inner = next(
            (c for c in at.named_children if c.type in ("infix", "function_head_parens", "parens")), None
        )
        if inner is None:
            return []
        head = inner.child_by_field_name("operator") or inner.child_by_field_name("name")
        at = inner
    if head.type in ("prefix_id", "infix_id") and head.named_children:
        head = head.named_children[0]
    return [Found(text_of(head, source), head.start_byte)]


def haskell_pattern(node: ts.Node, source: bytes) -> list[Found]:
    """What a `pattern` synonym, or the signature of one, is called."""
    inner = node.named_children[-1] if node.named_children else None
    at = inner.child_by_field_name("synonym") if inner is not None else None
    while at is not None and at.type in _HEADS:
        at = at.child_by_field_name(_HEADS[at.type])
    return [Found(text_of(at, source), at.start_byte)] if at is not None else []


_HEADS = {"apply": "function", "infix": "operator", "record": "constructor"}
