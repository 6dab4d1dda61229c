"""The registry of languages: one TOML file of this folder each (`schema` says what it may hold)."""

from __future__ import annotations

from functools import cache
from importlib import resources

from ckvd.languages.schema import HeaderRule, Language, LanguageDataError, Rule, load

__all__ = ["HeaderRule", "Language", "LanguageDataError", "Rule", "get", "names"]


@cache
def _all() -> dict[str, Language]:
    files = (f for f in resources.files(__name__).iterdir() if f.name.endswith(".toml"))
    loaded = (load(f.name, f.read_text("utf-8")) for f in sorted(files, key=lambda f: f.name))
    return {language.name: language for language in loaded}


def names() -> tuple[str, ...]:
    """The names of all languages, sorted."""
    return tuple(sorted(_all()))


def get(name: str) -> Language:
    """The language of that name; raises KeyError."""
    return _all()[name]
