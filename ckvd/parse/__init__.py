"""Bytes and a language → symbols, header, damage. Pure: no file, no clock, and no recursion.

A grammar may crash, hang or eat memory on hostile input: parse in a process that can be replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ckvd.languages import Language
from ckvd.model import Parsed
from ckvd.parse import (
    conflict,
    css,
    damage,
    data,
    islands,
    make,
    markdown,
    notebook,
    rst,
    sql,
    templates,
    tree,
)

__all__ = ["parse"]

Parser = Callable[[str, bytes, Language], Parsed]

PARSERS: dict[str, Parser] = {
    "css": css.parse,
    "data": data.keys,
    "ejs": islands.ejs,
    "erb": islands.erb,
    "html": islands.html,
    "make": make.parse,
    "markdown": markdown.parse,
    "notebook": notebook.parse,
    "php": islands.php,
    "rst": rst.parse,
    "sql": sql.parse,
    "template": templates.parse,
    "yaml": data.yaml,
}
"""The parsers that are not the tree-sitter engine, by the name that a language's `parser` gives."""


def parse(path: str, source: bytes, language: Language) -> Parsed:
    """What the UTF-8 text of a file holds; `path` serves for messages alone.

    Raises ValueError for a language without a parser (`Language.parses` is False).
    """
    if not language.parses:
        raise ValueError(f"{language.name} has no parser")
    found = conflict.around(path, source, language, _parse)
    # What is missing takes the byte at it, and what was parsed may have blanks for the bytes of a character.
    whole = damage.in_characters(source, found.damage)
    if whole == [*found.damage]:
        return found
    return replace(found, damage=tuple(whole), error_bytes=sum(end - start for start, end in whole))


def _parse(path: str, source: bytes, language: Language) -> Parsed:
    if language.parser is not None:
        return PARSERS[language.parser](path, source, language)
    return templates.around(path, source, language, tree.parse, own_braces=True)
