"""Python: what an assignment binds."""

from __future__ import annotations

import tree_sitter as ts

from ckvd.parse.found import Found, text_of

_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"})


def python_targets(node: ts.Node, source: bytes) -> list[Found]:
    """The names that a whole assignment binds: `a, (b, *c) = …` three, `x = y = …` two; attributes and
    items are none. An assignment that is the value of another is part of that one."""
    found: list[Found] = []
    if node.parent is not None and node.parent.type == node.type:
        return found
    at: ts.Node | None = node
    while at is not None and at.type == node.type:
        left = at.child_by_field_name("left")
        pending = [left] if left is not None else []
        while pending:
            target = pending.pop()
            if target.type == "identifier":
                found.append(Found(text_of(target, source), target.start_byte))
            elif target.type in _PATTERNS:
                pending.extend(reversed(target.named_children))
        at = at.child_by_field_name("right")
    return found
