"""What tells one state of the language data from another: a change re-cuts only what depends on it."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from importlib import metadata, resources

from ckvd import languages

_GRAMMARS = ("tree-sitter", "tree-sitter-language-pack", "tree-sitter-c-sharp", "tree-sitter-yaml")


@cache
def key(name: str) -> str:
    """Changes with the data of the language, of those that it extends, that are tried beside it or may lie in
    it, and with the grammars installed."""
    digest = hashlib.blake2b(repr([(p, _installed(p)) for p in _GRAMMARS]).encode(), digest_size=12)
    for each in sorted(_kin(name)):
        digest.update(_data(each))
    return digest.hexdigest()


def _kin(name: str) -> set[str]:
    """The language, its rivals, those whose rival it is, and what these extend."""
    if languages.get(name).parser is not None:
        return set(languages.names())  # it may hold code of any other
    found = {name}
    for other in languages.names():
        rivals = {rival for each in languages.get(other).rivals.values() for rival in each}
        if name == other or name in rivals:
            found |= {other, *rivals}
    for each in tuple(found):
        base: str | None = each
        while base is not None:
            found.add(base)
            base = _extended(base)
            base = base if base not in found and base in languages.names() else None
    return found


def _extended(name: str) -> str | None:
    try:
        base = tomllib.loads(_data(name).decode()).get("extends")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return None
    return base if isinstance(base, str) else None


def _data(name: str) -> bytes:
    return resources.files(languages).joinpath(f"{name}.toml").read_bytes()


@cache
def detection_key() -> str:
    """Changes when a file may be taken for another language than before."""
    table = [
        (
            name,
            sorted(found.suffixes),
            sorted(found.filenames),
            sorted(found.interpreters),
            sorted(found.clues.items()),
        )
        for name in languages.names()
        for found in [languages.get(name)]
    ]
    return hashlib.blake2b(repr(table).encode(), digest_size=12).hexdigest()


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
