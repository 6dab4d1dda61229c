"""From the data of a TOML file to a `Language`, or to what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from ckvd.languages.schema import (
    VALUES,
    Conditions,
    HeaderRule,
    Language,
    LanguageDataError,
    MarkRule,
    Paths,
    Rule,
)


def extended(base: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a language that says only where it differs from `base`; an empty list takes a rule away."""
    merged = {**base, **data}
    for name in ("symbols", "header", "marks", "around", "anonymous"):
        merged[name] = {**base.get(name, {}), **data.get(name, {})}
    return merged


def load(file: str, data: dict[str, Any]) -> Language:
    """The language that a TOML file's data describe; raises LanguageDataError."""
    data = {key: value for key, value in data.items() if key != "extends"}
    _known(file, "", data, Language)
    symbols = {
        node: tuple(_rule(file, node, row) for row in rows) for node, rows in _rows(data.pop("symbols", {}))
    }
    header = {
        node: tuple(_header(file, node, row) for row in rows) for node, rows in _rows(data.pop("header", {}))
    }
    marks = {
        node: tuple(_mark(file, node, row) for row in rows) for node, rows in _rows(data.pop("marks", {}))
    }
    plain: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
    plain["rivals"] = {suffix: _paths(rivals) for suffix, rivals in data.get("rivals", {}).items()}
    plain["constructors"] = frozenset(_paths(data.get("constructors")))
    patterns = [(key, text) for key in ("clues", "signs") for text in data.get(key, {}).values()]
    for key, clue in patterns:
        try:
            re.compile(clue)
        except re.error as error:
            raise LanguageDataError(f"{file}: {key!r}: {clue!r} is no expression ({error})") from error
    return Language(symbols=symbols, header=header, marks=marks, **plain)


def unusable(name: str, data: Mapping[str, Any], problem: str) -> Language:
    """A language by its files alone, since its data are wrong."""
    known: dict[str, Any] = {
        key: tuple(data[key])
        for key in ("suffixes", "filenames", "interpreters", "aliases")
        if key in data and _is_list(data[key])
    }
    return Language(name=name, problem=problem, **known)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_texts(value: object) -> bool:
    return _is_text(value) or _is_list(value)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_map(of: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, dict) and all(map(of, value.values()))


def _is_rule(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and all(isinstance(v, dict) for v in value))


_SHAPES: dict[str, tuple[Callable[[object], bool], str]] = {
    "str": (_is_text, "a text"),
    "str | None": (_is_text, "a text"),
    "Chunked": (_is_text, "a text"),
    "bool": (_is_flag, "true or false"),
    "bool | None": (_is_flag, "true or false"),
    "Paths": (_is_texts, "a text or a list of texts"),
    "frozenset[str]": (_is_texts, "a text or a list of texts"),
    "tuple[str, ...]": (_is_list, "a list of texts"),
    "Conditions": (_is_map(_is_texts), "a table of texts or lists of them"),
    "Mapping[str, str]": (_is_map(_is_text), "a table of texts"),
    "Mapping[str, tuple[str, ...]]": (_is_map(_is_texts), "a table of texts or lists of them"),
    "Mapping[str, tuple[Rule, ...]]": (_is_map(_is_rule), "a table of rules"),
    "Mapping[str, tuple[HeaderRule, ...]]": (_is_map(_is_rule), "a table of rules"),
    "Mapping[str, tuple[MarkRule, ...]]": (_is_map(_is_rule), "a table of rules"),
}
"""What a TOML file may say for a field of each type; a type that is not here is checked where it is read."""


def _rows(tables: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    listed = ((node, rows if isinstance(rows, list) else [rows]) for node, rows in tables.items())
    return [(node, rows) for node, rows in listed if rows]


def _known(file: str, where: str, row: Mapping[str, Any], shape: type) -> None:
    types = {f.name: str(f.type) for f in fields(shape) if f.name != "problem"}
    at = f"{file}: {where}: " if where else f"{file}: "
    for key, value in row.items():
        if key not in types:
            raise LanguageDataError(f"{at}unknown key {key!r}")
        fits, wanted = _SHAPES.get(types[key], (_is_texts, "a text or a list of texts"))
        if shape is not Language and types[key] == "tuple[str, ...]":
            fits, wanted = _is_texts, "a text or a list of texts"
        if not fits(value):
            raise LanguageDataError(f"{at}{key!r} is {value!r}, which is not {wanted}")


def _paths(value: str | list[str] | None) -> Paths:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _conditions(row: Mapping[str, Any]) -> Conditions:
    return tuple((path, frozenset(_paths(wanted))) for path, wanted in row.get("when", {}).items())


def _rule(file: str, node: str, row: dict[str, Any]) -> Rule:
    _known(file, node, row, Rule)
    kind = row.get("kind")
    if not isinstance(kind, str):
        raise LanguageDataError(f"{file}: {node}: 'kind' is missing")
    if ("name" in row) == ("hook" in row):
        raise LanguageDataError(f"{file}: {node}: exactly one of 'name' and 'hook' is needed")
    chunk = row.get("chunk", "never" if kind in VALUES else "always")
    if chunk not in ("always", "never", "multiline"):
        raise LanguageDataError(f"{file}: {node}: 'chunk' is {chunk!r}")
    return Rule(
        kind=kind,
        name=_paths(row.get("name")),
        body=_paths(row.get("body")),
        member=row.get("member"),
        upper=row.get("upper"),
        kinds=row.get("kinds", {}),
        kinds_from=_paths(row.get("kinds_from")),
        when=_conditions(row),
        at=frozenset(_paths(row.get("at"))),
        hook=row.get("hook"),
        split=_paths(row.get("split")),
        chunk=chunk,
        coarse=row.get("coarse"),
        members=row.get("members"),
        scope=row.get("scope", True),
        inside=row.get("inside"),
        rest=row.get("rest", False),
        listed=row.get("listed", True),
        joined=row.get("joined", False),
        free=row.get("free", False),
        by=row.get("by", ""),
        semicolon=row.get("semicolon", False),
        trailing=_paths(row.get("trailing")),
        leading=_paths(row.get("leading")),
        whole=_paths(row.get("whole")),
        owner=_paths(row.get("owner")),
        beside=row.get("beside", False),
        shared=row.get("shared", False),
    )


def _header(file: str, node: str, row: dict[str, Any]) -> HeaderRule:
    _known(file, node, row, HeaderRule)
    return HeaderRule(
        kind=row.get("kind", "import"),
        names=_paths(row.get("names")),
        when=_conditions(row),
        open=frozenset(_paths(row.get("open"))),
        hook=row.get("hook"),
        body=_paths(row.get("body")),
        acts=row.get("acts", False),
        frame=row.get("frame", ""),
    )


def _mark(file: str, node: str, row: dict[str, Any]) -> MarkRule:
    _known(file, node, row, MarkRule)
    kind = row.get("kind")
    if kind not in ("doc", "attribute", "inside"):
        raise LanguageDataError(f"{file}: {node}: 'kind' is {kind!r}")
    return MarkRule(kind=kind, when=_conditions(row), blank=row.get("blank", False))
