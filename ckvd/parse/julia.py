"""The names of Julia: methods are defined by a call that stands for their head."""

from __future__ import annotations

import tree_sitter as ts

from ckvd.parse.found import Found, text_of

_WRAPS = frozenset({"signature", "where_expression", "typed_expression", "parenthesized_expression"})


def julia_function(node: ts.Node, source: bytes) -> list[Found]:
    """What a definition with parameters, or an assignment of one, is called; `Base.show` is qualified.

    A method that makes the values of a type callable, `(c::Crate)(x)`, has the type's name.
    """
    head = node.named_children[0] if node.named_children else None
    while head is not None and head.type in _WRAPS and head.named_children:
        head = head.named_children[0]
    if head is None or head.type != "call_expression":
        bound = head is not None and head.type == "identifier"
        named = node.type != "assignment" or node.named_children[-1].type == "arrow_function_expression"
        return [Found(text_of(head, source), head.start_byte)] if head is not None and bound and named else []
    return _callee(head.named_children[0], source)


def _callee(callee: ts.Node, source: bytes) -> list[Found]:
    while callee.type in {"parametrized_type_expression", "quote_expression", "where_expression"}:
        callee = callee.named_children[0]
    if callee.type == "parenthesized_expression" and callee.named_children:
        inner = callee.named_children[-1]
        if inner.type == "typed_expression":
            inner = inner.named_children[-1]
        return _callee(inner, source) if inner.type != "call_expression" else []
    if callee.type == "typed_expression" or callee.type == "unary_typed_expression":
        return _callee(callee.named_children[-1], source)
    if callee.type == "field_expression":
        owner, *_, last = callee.named_children
        found = _callee(last, source)
        return [Found(f.name, f.start, (*text_of(owner, source).split("."), *f.parents)) for f in found]
    if callee.type in {"identifier", "operator"}:
        return [Found(text_of(callee, source), callee.start_byte)]
    return []


def julia_type(node: ts.Node, source: bytes) -> list[Found]:
    """The first word of `Crate{T} <: AbstractCrate`."""
    at = next((c for c in node.named_children if c.type == "type_head"), None)
    while at is not None and at.type != "identifier":
        at = at.named_children[0] if at.named_children else None
    return [Found(text_of(at, source), at.start_byte)] if at is not None else []


def julia_value(node: ts.Node, source: bytes) -> list[Found]:
    """The name, or the names, that an assignment gives to values."""
    left = node.named_children[0] if node.named_children else None
    if left is not None and left.type == "typed_expression" and left.named_children:
        left = left.named_children[0]
    if left is None:
        return []
    if left.type == "parametrized_type_expression" and left.named_children:
        left = left.named_children[0]
    names = left.named_children if left.type in {"open_tuple", "tuple_expression"} else [left]
    return [Found(text_of(n, source), n.start_byte) for n in names if n.type in {"identifier", "operator"}]
