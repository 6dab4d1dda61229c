"""One way to read a text by its grammar: the tree, where it is broken, and the declarations in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import tree_sitter as ts

from ckvd.model import HeaderItem, Range
from ckvd.parse import comments, damage
from ckvd.parse.draft import Draft
from ckvd.parse.paths import ERROR_KIND
from ckvd.parse.table import Table
from ckvd.parse.walk import Walk


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a source: the text that was parsed for it, the tree, its errors, and what was found.

    `whole` is whether nothing is broken but what was set apart as such.
    `inserted` is the place of a character that the text has and the source lacks, and that character: the
    tree's offsets behind it are greater by one than those of all else here.
    """

    text: bytes
    root: ts.Node
    errors: list[Range]
    drafts: list[Draft]
    header: list[HeaderItem]
    whole: bool = False
    inserted: tuple[int, bytes] | None = None

    @property
    def intact(self) -> int:
        return sum(d.clean for d in self.drafts)

    @property
    def left(self) -> list[Range]:
        """The damage: what is broken and lies in no intact symbol."""
        intact = [(d.start, d.end) for d in self.drafts if d.clean]
        return damage.without(damage.merged(self.errors), intact)

    @property
    def failed(self) -> bool:
        return damage.status(self.root, self.left, len(self.text)) == "failed"


class Parse(NamedTuple):
    """A text, its tree's root, and the sorted ranges of what is broken in it."""

    text: bytes
    root: ts.Node
    errors: list[Range]


def tree(rules: Table, text: bytes) -> tuple[ts.Node, list[Range]]:
    """The root and the sorted ranges of what is broken."""
    root, errors = _parsed(rules, text, len(text))
    if errors and not text.endswith(b"\n") and errors[-1][1] > text.rfind(b"\n"):
        ended = _parsed(rules, text + b"\n", len(text))  # some grammars want an end of the last line
        return ended if total(ended[1]) < total(errors) else (root, errors)
    return root, errors


def is_clean(rules: Table, text: bytes) -> bool:
    """Whether `tree` finds no error, mostly without asking where they are."""
    root = _root(rules, text)
    if not root.has_error:
        return not _unclosed(rules, root, text)
    if text.endswith(b"\n") and root.kind_id != ERROR_KIND:
        return False
    return not tree(rules, text)[1]


def walked(rules: Table, source: bytes, text: bytes, root: ts.Node, errors: list[Range]) -> Reading:
    """The declarations of a source by the tree of a text of its length."""
    walk = Walk(rules, source, text, root, errors).run()
    marks = sorted(walk.marks)
    for draft in walk.drafts:
        draft.settle(source, marks)
    return Reading(text, root, errors, walk.drafts, walk.header)


def premasked(rules: Table, source: bytes) -> bytes:
    """The text without what the grammar would read as something else."""
    for mask in rules.premasks:
        source = mask(source)
    return source


def read(rules: Table, source: bytes) -> tuple[Parse, Parse]:
    """The text as it is, or masked where that has fewer errors; and as masked last where that has errors."""
    plain = premasked(rules, source)
    best = last = Parse(plain, *tree(rules, plain))
    for mask in rules.masks:
        if not best.errors:
            break
        masked = mask(plain)
        last = best if masked == best.text else Parse(masked, *tree(rules, masked))
        if total(last.errors) < total(best.errors):
            best = last
    return best, last


def total(ranges: Sequence[Range]) -> int:
    """The bytes that ranges cover."""
    return sum(b - a for a, b in damage.merged(ranges))


def _parsed(rules: Table, text: bytes, size: int) -> tuple[ts.Node, list[Range]]:
    root = _root(rules, text)
    if damage.nothing(root, text, rules.comments):
        return root, []
    return root, damage.errors(root, size) or _unclosed(rules, root, text)


def _root(rules: Table, text: bytes) -> ts.Node:
    return ts.Parser(rules.grammar).parse(text).root_node


def _unclosed(rules: Table, root: ts.Node, text: bytes) -> list[Range]:
    return comments.unclosed(
        root, text, rules.comments, rules.language.comment, lambda more: _root(rules, more)
    )
