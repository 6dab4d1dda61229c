"""The names of CMake's commands, where an argument of its own says which one is the name."""

from __future__ import annotations

import tree_sitter as ts

from ckvd.parse.found import Found, text_of


def cmake_test(node: ts.Node, source: bytes) -> list[Found]:
    """`add_test(NAME t COMMAND …)` and the older `add_test(t …)`."""
    lists = [child for child in node.named_children if child.type == "argument_list"]
    given = [each for arguments in lists for each in arguments.named_children if each.type == "argument"]
    if given and text_of(given[0], source) == "NAME":
        given = given[1:]
    return [Found(text_of(given[0], source).strip('"'), given[0].start_byte)] if given else []
