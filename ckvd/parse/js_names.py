"""JavaScript: what an assignment names."""

from __future__ import annotations

import re

import tree_sitter as ts

from ckvd.parse.found import Found, text_of


def js_assigned(node: ts.Node, source: bytes) -> list[Found]:
    """`A.prototype.b = …` is `A.b`; `exports.f`, `module.exports.f` and `this.f` are `f`."""
    left = node.child_by_field_name("left")
    if left is None:
        return []
    if left.type == "identifier":
        return [Found(text_of(left, source), left.start_byte)]
    last = left.child_by_field_name("property")
    owner = left.child_by_field_name("object")
    if last is None or owner is None:
        return []
    owners = text_of(owner, source)
    if not re.fullmatch(r"[\w$#]+(\s*\.\s*[\w$#]+)*", owners):
        return []
    parts = tuple(
        p for p in re.split(r"\s*\.\s*", owners) if p not in ("prototype", "this", "exports", "module")
    )
    name = text_of(last, source)
    return [Found("default" if owners == "module" and name == "exports" else name, last.start_byte, parts)]


def js_class(node: ts.Node, source: bytes) -> list[Found]:
    """The own name of a class that is an expression and has none by what it is assigned to."""
    name = node.child_by_field_name("name")
    named_by = ("variable_declarator", "assignment_expression", "export_statement")
    if name is None or node.parent is None or node.parent.type in named_by:
        return []
    return [Found(text_of(name, source), name.start_byte)]


def js_object(node: ts.Node, source: bytes) -> list[Found]:
    """The names that qualify the functions of an object: `A.prototype = {…}` is `A`, `exports = {…}` none."""
    left = node.child_by_field_name("left")
    found = js_assigned(node, source)
    if left is None or not found:
        return []
    names = [n for n in (*found[0].parents, found[0].name) if n not in ("default", "prototype", "exports")]
    return [Found(names[-1], left.start_byte, tuple(names[:-1]))] if names else []
