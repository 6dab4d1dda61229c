"""Every kind that a language can give has a number of the LSP's."""

from __future__ import annotations

from pathlib import Path

from store_support import select

from ckvd import languages
from ckvd.store.writer import Writer

CONTRACT = """
function method constructor class interface struct enum trait impl record union type constant field property
macro namespace module message service rpc table view index procedure trigger resource data variable output
provider contract event modifier section
"""
PARSERS = "rule keyframes mixin target key test"
"""Kinds of languages that are read without a grammar."""


def test_every_kind_has_a_number(writer: Writer, db: Path) -> None:
    kinds = {*CONTRACT.split(), *PARSERS.split()}
    for name in languages.names():
        for rules in languages.get(name).symbols.values():
            for rule in rules:
                kinds |= {rule.kind, *rule.kinds.values()}
                kinds |= {kind for kind in (rule.member, rule.upper) if kind is not None}
    assert kinds - {kind for (kind,) in select(db, "SELECT kind FROM lsp_kind")} == set()
