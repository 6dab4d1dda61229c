"""The names that no table can say: small functions that a language's TOML refers to by name."""

from __future__ import annotations

import re
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


def go_method(node: ts.Node, source: bytes) -> list[Found]:
    """The receiver's type qualifies a Go method, without `*` and type parameters."""
    name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    if name is None or receiver is None:
        return []
    found = re.search(r"(\w+)\s*(?:\[.*\])?\s*,?\s*\)$", text_of(receiver, source), re.DOTALL)
    return [Found(text_of(name, source), name.start_byte, (found[1],) if found else ())]


def go_import(node: ts.Node, source: bytes) -> list[str]:
    """The name before the path, else the path's last element that is not a version."""
    name, path = node.child_by_field_name("name"), node.child_by_field_name("path")
    if name is not None:
        named = text_of(name, source)
        return [] if named in (".", "_") else [named]
    if path is None:
        return []
    parts = text_of(path, source).strip("\"`").split("/")
    if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]):
        parts.pop()
    last = re.sub(r"\.v\d+$", "", parts[-1])
    return [last, *re.split(r"[-.]", last)]


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
    parts = tuple(p for p in re.split(r"\s*\.\s*", owners) if p not in ("prototype", "this", "exports", "module"))
    name = text_of(last, source)
    return [Found("default" if owners == "module" and name == "exports" else name, last.start_byte, parts)]


NAME_HOOKS: dict[str, NameHook] = {
    "go_method": go_method,
    "js_assigned": js_assigned,
}

IMPORT_HOOKS: dict[str, ImportHook] = {
    "go_import": go_import,
}
