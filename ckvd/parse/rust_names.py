"""Rust: whose an `impl` is, and what a `use` or a macro binds."""

from __future__ import annotations

import re

import tree_sitter as ts

from ckvd.parse.found import Found, text_of


def rust_impl(node: ts.Node, source: bytes) -> list[Found]:
    """The type that an `impl` is for, without path, references and type arguments."""
    at = node.child_by_field_name("type")
    while at is not None:
        inner = at.child_by_field_name("type") or at.child_by_field_name("name")
        if inner is None:
            return [Found(" ".join(text_of(at, source).split()), at.start_byte)]
        at = inner
    return []


def rust_use(node: ts.Node, source: bytes) -> list[str]:
    """The last segments and aliases of a `use`; nothing where a `*` is among them."""
    text = text_of(node, source)
    if "*" in text:
        return []
    names: list[str] = []
    prefix = ""
    for part in re.split(r"[{},;]", re.sub(r"^\s*(pub(\([^)]*\))?\s+)?use\s+", "", text)):
        segments = [s.strip() for s in re.split(r"::|\bas\b", part)]
        if segments[-1]:
            names.append(prefix if segments == ["self"] else segments[-1])
        elif len(segments) > 1:
            prefix = segments[-2]
    return names


_STATIC = re.compile(r"\b(?:static|const)\s+(?:ref\s+|mut\s+)?(\w+)\s*:")


def rust_statics(node: ts.Node, source: bytes) -> list[str]:
    """The values that a macro declares (`thread_local! { static A: … }`), which the grammar does not read."""
    return _STATIC.findall(text_of(node, source))
