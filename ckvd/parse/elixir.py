"""The names of Elixir, where every definition is a call: of `defmodule`, `def`, `@type` and their like."""

from __future__ import annotations

import re

import tree_sitter as ts

from ckvd.parse.found import Found, text_of


def _child(node: ts.Node, *types: str) -> ts.Node | None:
    return next((c for c in node.named_children if c.type in types), None)


def elixir_module(node: ts.Node, source: bytes) -> list[Found]:
    """A module's own name; that of `defimpl Size, for: Crate` is `Size.Crate`."""
    arguments = _child(node, "arguments")
    name = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    if arguments is None or name is None or name.type not in ("alias", "dot"):
        return []
    words, end = text_of(name, source).removeprefix("__MODULE__."), name.end_byte
    target = re.search(rb"\bfor:\s*([A-Z][\w.]*)\s*\Z", source[arguments.start_byte : arguments.end_byte])
    if target is not None and node.named_children[0].text == b"defimpl":
        words += "." + target[1].decode("utf-8", "replace")
        end = arguments.start_byte + target.end(1)
    *parents, last = words.split(".")
    return [Found(last, end - len(last.encode()), tuple(parents))]


def elixir_function(node: ts.Node, source: bytes) -> list[Found]:
    """The name in `def name(…) when …`, an operator where it defines one."""
    arguments = _child(node, "arguments")
    at = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    return _elixir_head(at, source)


def _elixir_head(at: ts.Node | None, source: bytes) -> list[Found]:
    while at is not None:
        if at.type == "identifier":
            return [Found(text_of(at, source), at.start_byte)]
        operator = at.child_by_field_name("operator")
        if at.type == "call":
            at = at.child_by_field_name("target")
            if at is not None and at.type != "identifier":
                return []
        elif operator is not None and operator.type not in ("when", "::"):
            return [Found(text_of(operator, source), operator.start_byte)]
        else:
            at = at.child_by_field_name("left")
    return []


def elixir_attribute(node: ts.Node, source: bytes) -> list[Found]:
    """What a `@type` or `@callback` defines; any other module attribute by its own name, `@timeout`."""
    call = node.child_by_field_name("operand")
    target = call.child_by_field_name("target") if call is not None else None
    if call is None or target is None:
        return []
    if target.text in (b"type", b"typep", b"opaque", b"callback", b"macrocallback"):
        return elixir_function(call, source)
    return [Found(f"@{text_of(target, source)}", node.start_byte)]


def elixir_alias(node: ts.Node, source: bytes) -> list[str]:
    """The names that an `alias` binds: of `A.{B, C.D}` `B` and `D`, of `A.B, as: C` `C`."""
    text = re.sub(r"\A\w+\s*\(?|\)\Z", "", text_of(node, source))
    renamed = re.search(r"\bas:\s*([\w.]+)", text)
    if renamed is not None:
        return [renamed[1]]
    listed = re.search(r"\{([^}]*)\}", text)
    return [
        part.strip().rpartition(".")[2] for part in (listed[1] if listed else text).split(",") if part.strip()
    ]
