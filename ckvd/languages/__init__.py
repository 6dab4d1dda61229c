"""The registry of languages: one TOML file of this folder each (`schema` says what it may hold)."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from ckvd.languages.schema import HeaderRule, Language, LanguageDataError, Rule, extended, load

__all__ = ["HeaderRule", "Language", "LanguageDataError", "Rule", "get", "names"]


@cache
def _all() -> dict[str, Language]:
    files = (f for f in resources.files(__name__).iterdir() if f.name.endswith(".toml"))
    found = {f.name.removesuffix(".toml"): tomllib.loads(f.read_text("utf-8")) for f in files}
    loaded = {}
    for name, data in sorted(found.items()):
        while "extends" in data:
            base = found[data["extends"]]
            data = extended(base, {k: v for k, v in data.items() if k != "extends"})
            if "extends" in base:
                data["extends"] = base["extends"]
        loaded[name] = load(f"{name}.toml", {"name": name, **data})
    return loaded


def names() -> tuple[str, ...]:
    """The names of all languages, sorted."""
    return tuple(_all())


def get(name: str) -> Language:
    """The language of that name; raises KeyError."""
    return _all()[name]
