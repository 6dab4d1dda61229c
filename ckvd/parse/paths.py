"""Paths into a node (`ckvd.languages.schema` has their grammar), compiled to a grammar's own ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import tree_sitter as ts

from ckvd.languages.schema import LanguageDataError

ERROR_KIND = 0xFFFF
"""The id that tree-sitter gives to the type of an ERROR node in every grammar."""

Step = Callable[[ts.Node], list[ts.Node]]


class Grammar:
    """A grammar with its node types and fields by name. `where` is what an error message names."""

    def __init__(self, language: ts.Language, where: str) -> None:
        self.language = language
        self._where = where
        self._ids: dict[str, set[int]] = {"ERROR": {ERROR_KIND}}
        self._named: set[int] = {ERROR_KIND}
        for i in range(language.node_kind_count):
            name = language.node_kind_for_id(i)
            if name is not None and language.node_kind_is_visible(i):
                self._ids.setdefault(name, set()).add(i)
                if language.node_kind_is_named(i):
                    self._named.add(i)

    def kinds(self, names: str) -> frozenset[int]:
        """The ids of the node types in `a|b` (one name can have several); `*` is every type."""
        if names == "*":
            return frozenset(i for ids in self._ids.values() for i in ids)
        unknown = [name for name in names.split("|") if name not in self._ids]
        if unknown:
            raise LanguageDataError(f"{self._where}: the grammar has no node type {unknown[0]!r}")
        return frozenset(i for name in names.split("|") for i in self._ids[name])

    def named(self, name: str) -> frozenset[int]:
        """The ids of a node type without those of a keyword that reads the same."""
        return self.kinds(name) & self._named

    def field(self, name: str) -> int:
        found = self.language.field_id_for_name(name)
        if found is None:
            raise LanguageDataError(f"{self._where}: the grammar has no field {name!r}")
        return found


@dataclass(frozen=True, slots=True)
class Path:
    """A compiled path: `literal`, or steps that each take a node to nodes."""

    steps: tuple[Step, ...] = ()
    from_wrapper: bool = False
    literal: str | None = None

    def find(self, node: ts.Node, wrapper: ts.Node | None) -> list[ts.Node]:
        """The nodes that the path leads to, in file order."""
        if self.from_wrapper:
            if wrapper is None:
                return []
            node = wrapper
        found = [node]
        for step in self.steps:
            found = [hit for at in found for hit in step(at)]
        return found


def first(paths: Sequence[Path], node: ts.Node) -> list[ts.Node]:
    """The nodes that the first path leads to that leads to any."""
    return next((hits for path in paths if (hits := path.find(node, None))), [])


def compile_path(text: str, grammar: Grammar) -> Path:
    """Raises LanguageDataError for a field or node type that the grammar does not have."""
    if text.startswith("="):
        return Path(literal=text[1:])
    steps = tuple(_step(step, grammar) for step in text.removeprefix("^").split(".") if step)
    return Path(steps, text.startswith("^"))


def _step(step: str, grammar: Grammar) -> Step:
    if step == "<":
        return lambda node: [node.parent] if node.parent is not None else []
    if step.startswith("<"):
        outer = grammar.kinds(step[1:])
        return lambda node: [node.parent] if node.parent is not None and node.parent.kind_id in outer else []
    if step == "-":
        return lambda node: [node.prev_sibling] if node.prev_sibling is not None else []
    if step.startswith("**"):
        return _descendants(grammar.kinds(step[2:]))
    if step.startswith("@@"):
        every = grammar.kinds(step[2:])
        return lambda node: [c for c in node.children if c.kind_id in every]
    if step.startswith("@-"):
        last = grammar.kinds(step[2:])
        return lambda node: next(([c] for c in reversed(node.children) if c.kind_id in last), [])
    if step.startswith("@"):
        first = grammar.kinds(step[1:])
        return lambda node: next(([c] for c in node.children if c.kind_id in first), [])
    names, _, types = step.partition(":")
    fields = tuple(grammar.field(name) for name in names.split("|"))
    if not types:
        return lambda node: _first_field(node, fields)
    kept = grammar.kinds(types)
    return lambda node: [c for f in fields for c in node.children_by_field_id(f) if c.kind_id in kept]


def _first_field(node: ts.Node, fields: tuple[int, ...]) -> list[ts.Node]:
    for f in fields:
        child = node.child_by_field_id(f)
        if child is not None:
            return [child]
    return []


def _descendants(kinds: frozenset[int]) -> Step:
    def find(node: ts.Node) -> list[ts.Node]:
        found: list[ts.Node] = []
        cursor = node.walk()
        while True:
            here = cursor.node
            assert here is not None
            hit = here.kind_id in kinds and here != node
            if hit:
                found.append(here)
            if not hit and cursor.goto_first_child():
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return found

    return find
