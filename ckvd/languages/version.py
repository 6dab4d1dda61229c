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
    """Changes with the data of the language, of those that it extends, and with the grammars installed."""
    digest = hashlib.blake2b(repr([(p, _installed(p)) for p in _GRAMMARS]).encode(), digest_size=12)
    base: str | None = name
    while base is not None:
        data = resources.files(languages).joinpath(f"{base}.toml").read_bytes()
        digest.update(data)
        base = tomllib.loads(data.decode()).get("extends")
    return digest.hexdigest()


@cache
def detection_key() -> str:
    """Changes when a file may be taken for another language than before."""
    table = [
        (name, sorted(found.suffixes), sorted(found.filenames), sorted(found.interpreters))
        for name in languages.names()
        for found in [languages.get(name)]
    ]
    return hashlib.blake2b(repr(table).encode(), digest_size=12).hexdigest()


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
