"""The registry of languages: one TOML file of this folder each (`schema` says what it may hold)."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from ckvd.languages.load import extended, load, unusable
from ckvd.languages.schema import HeaderRule, Language, LanguageDataError, Rule

__all__ = ["HeaderRule", "Language", "LanguageDataError", "Rule", "get", "names", "problems"]


@cache
def _all() -> dict[str, Language]:
    files = sorted(
        (f for f in resources.files(__name__).iterdir() if f.name.endswith(".toml")), key=lambda f: f.name
    )
    data: dict[str, dict[str, Any]] = {}
    problems: dict[str, str] = {}
    for file in files:
        name = file.name.removesuffix(".toml")
        try:
            data[name] = tomllib.loads(file.read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            data[name], problems[name] = {}, f"{file.name}: {error}"
    loaded = {name: _language(name, data, problems) for name in data}
    for name, language in loaded.items():
        missing = sorted({r for rivals in language.rivals.values() for r in rivals} - loaded.keys())
        if missing:
            problem = f"{name}.toml: 'rivals': there is no language {missing[0]!r}"
            loaded[name] = unusable(name, data[name], problem)
    return loaded


def _language(name: str, data: dict[str, dict[str, Any]], problems: dict[str, str]) -> Language:
    """A language of the folder's; one whose data or bases are wrong is only recognised."""
    own = data[name]
    merged, line = own, [name]
    try:
        while line[-1] in data and "extends" in data[line[-1]] and line[-1] not in problems:
            base = data[line[-1]]["extends"]
            if base not in data or base in line:
                raise LanguageDataError(f"{line[-1]}.toml: 'extends': {base!r} is no other language")
            merged = extended(data[base], merged)
            line.append(base)
        broken = next((problems[each] for each in line if each in problems), None)
        if broken is not None:
            raise LanguageDataError(broken)
        return load(f"{name}.toml", {**merged, "name": name})
    except LanguageDataError as error:
        return unusable(name, own, str(error))


def problems() -> dict[str, str]:
    """What is wrong with each language whose file cannot be used."""
    return {name: found.problem for name, found in _all().items() if found.problem is not None}


def names() -> tuple[str, ...]:
    """The names of all languages, sorted."""
    return tuple(_all())


def get(name: str) -> Language:
    """The language of that name; raises KeyError."""
    return _all()[name]
