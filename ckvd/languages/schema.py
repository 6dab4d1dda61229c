"""What a language is: the values that one TOML file of this folder holds, and how it is read.

A file may say `extends = "name"` and then holds only what differs from that language.

A *path* says where in a node something stands. Its steps are joined by `.`:

- `name` or `a|b`: the first child with that field (of `a|b`, the first field that there is);
  `left:identifier|tuple`: every child with that field that has one of these types;
- `@type|type`: the first child of these types, named or not; `@-type`: the last; `@@type`: every one;
- `**type|type`: every descendant of these types, none below a match;
- `<`: the node that this one lies in; `-`: the sibling before it;
- a leading `^` starts at the wrapper around the node; `=text` alone is a literal name.

Of several paths the first that leads to a node counts; for the names that an import binds, all count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

Paths = tuple[str, ...]
Conditions = tuple[tuple[str, frozenset[str]], ...]
Chunked = Literal["always", "never", "multiline"]

TYPES = frozenset(
    {
        "class",
        "interface",
        "struct",
        "enum",
        "trait",
        "impl",
        "record",
        "union",
        "object",
        "protocol",
        "extension",
        "contract",
        "library",
        "annotation",
    }
)
"""Kinds whose functions are methods."""

SPACES = frozenset({"namespace", "module", "package"})
"""Kinds whose functions stay functions."""

COARSE = TYPES | SPACES | {"service", "message"}
"""Kinds that are containers among the units of retrieval."""

VALUES = frozenset({"constant", "variable", "field", "property", "enum_member"})
"""Kinds that are rows, but no units of retrieval of their own."""

HEADER_VALUES = VALUES - {"enum_member"} | {"macro"}
"""Kinds that the headers of other units may show, where they are no units themselves."""


class LanguageDataError(ValueError):
    """A language's TOML file has an unknown key or a bad value; the message names file and key."""


@dataclass(frozen=True, slots=True)
class Rule:
    """When and how a node becomes a symbol; of a node type's rules the first that applies counts.

    `kind` is the symbol's kind, `member` the one inside a type or of a name that a type qualifies,
    `upper` the one of a name that is all capitals; `kinds` maps the type (or text) of the node at
    `kinds_from` to a kind.
    `when` lists conditions: a path, and what its first node must be: of one of these types (`*`: any),
    of the text behind a `=`, or of a text in which the expression behind a `~` is found.
    `at` says in which scope: `module`, `type`, `local`, or what an `inside` says; empty means all.
    `hook` names a function of `ckvd.parse.hooks` that gives the names instead of `name`.
    `split` are separators inside a name, whose left parts qualify it.
    `body` is what an outline leaves out, of several nodes from the first to the last; a body that is a
    token (`{`) is all from there on.
    `scope` is whether the symbol qualifies what lies in it; `inside` what `at` calls its inside;
    `rest` that it qualifies its later siblings (`namespace X;`); `listed = false` that it does no more
    than qualify and is no symbol itself; `free` that what it lies in does not qualify it.
    `members` (whether its functions are methods) and `coarse` (whether it is a container among the
    units) follow from the kind where they are not given. `chunk` is whether it is a unit of its own;
    `multiline` only where it, with its doc comment, has more than one line.
    `semicolon` takes a `;` directly behind into the range, `trailing` the following siblings of these
    types, past comments, `leading` the preceding ones. `joined` goes on with a `joined` declaration of
    the same name, if that comes right before it in the same scope: the signature and the equations of a
    function are one symbol.
    """

    kind: str
    name: Paths = ()
    body: Paths = ()
    member: str | None = None
    upper: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    kinds_from: Paths = ()
    when: Conditions = ()
    at: frozenset[str] = frozenset()
    hook: str | None = None
    split: tuple[str, ...] = ()
    chunk: Chunked = "always"
    coarse: bool | None = None
    members: bool | None = None
    scope: bool = True
    inside: str | None = None
    rest: bool = False
    listed: bool = True
    joined: bool = False
    free: bool = False
    semicolon: bool = False
    trailing: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeaderRule:
    """A node that belongs to the file's header, and where the names stand that it binds.

    A node of a type in `open` below it means that one cannot tell (`import *`). `when` is as in `Rule`.
    """

    kind: Literal["package", "import"]
    names: Paths = ()
    when: Conditions = ()
    open: frozenset[str] = frozenset()
    hook: str | None = None


@dataclass(frozen=True, slots=True)
class MarkRule:
    """A node that speaks of a declaration and is none, besides `comments` and `attributes`.

    A `doc` is the doc comment of the declaration behind it, an `attribute` belongs to that declaration,
    and an `inside` documents the one that it lies in. `when` is as in `Rule`. `blank` is whether a blank
    line may follow it.
    """

    kind: Literal["doc", "attribute", "inside"]
    when: Conditions = ()
    blank: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """A language as data. `comment` begins a line comment, `comments` are its comment node types.

    `grammar` is a grammar of tree-sitter-language-pack, `parser` one of the special parsers of
    `ckvd.parse`; with neither, files are only recognised. `sections` means cut by heading.
    `attributes` are decorators and the like: as siblings before a declaration they belong to it, as
    its children they are left out of its one-line signature. `modifiers` may hold such children.
    `wrappers` widen the range of the one declaration in them. `skip` are node types that hold no
    declaration and are not entered, `locals` such whose inside is `local` though they have no name.
    `docstrings` are the node types that document a body they begin;
    `constructors` are names that make a method a constructor (`*`: its type's own name).
    `masks` name functions of `ckvd.parse.mask` that blank what the grammar cannot read, tried where it
    finds errors, `premasks` such without which it errs and finds none; `filler` is a statement that
    does nothing, where an empty block is an error.
    `rivals` maps a suffix to the languages that are tried too; the least damaged parse wins.
    `clues` maps a suffix that other languages use too to an expression that is found, line by line, in
    the first bytes of files of this one.
    `blocks` those at whose end a comment may hang that does not belong to the declaration.
    `problem` is what is wrong with its file, which then says no more than which files are of this language.
    """

    name: str
    grammar: str | None = None
    parser: str | None = None
    sections: bool = False
    suffixes: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    comment: str = "#"
    comments: tuple[str, ...] = ()
    docstrings: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    modifiers: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    locals: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()
    premasks: tuple[str, ...] = ()
    filler: str = ""
    rivals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    clues: Mapping[str, str] = field(default_factory=dict)
    blocks: tuple[str, ...] = ()
    constructors: frozenset[str] = frozenset()
    symbols: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    header: Mapping[str, tuple[HeaderRule, ...]] = field(default_factory=dict)
    marks: Mapping[str, tuple[MarkRule, ...]] = field(default_factory=dict)
    problem: str | None = None

    @property
    def parses(self) -> bool:
        """Whether there is a parser for it."""
        return self.grammar is not None or self.parser is not None

    def claims(self, suffix: str, head: bytes) -> bool:
        """Whether a file with this suffix, which other languages use too, can be one of this language."""
        clue = self.clues.get(suffix)
        return clue is None or not head.strip() or re.search(clue.encode(), head, re.MULTILINE) is not None


def extended(base: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a language that says only where it differs from `base`; an empty list takes a rule away."""
    merged = {**base, **data}
    for name in ("symbols", "header", "marks"):
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
    for clue in data.get("clues", {}).values():
        try:
            re.compile(clue)
        except re.error as error:
            raise LanguageDataError(f"{file}: 'clues': {clue!r} is no expression ({error})") from error
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
        semicolon=row.get("semicolon", False),
        trailing=_paths(row.get("trailing")),
        leading=_paths(row.get("leading")),
    )


def _header(file: str, node: str, row: dict[str, Any]) -> HeaderRule:
    _known(file, node, row, HeaderRule)
    return HeaderRule(
        kind=row.get("kind", "import"),
        names=_paths(row.get("names")),
        when=_conditions(row),
        open=frozenset(_paths(row.get("open"))),
        hook=row.get("hook"),
    )


def _mark(file: str, node: str, row: dict[str, Any]) -> MarkRule:
    _known(file, node, row, MarkRule)
    kind = row.get("kind")
    if kind not in ("doc", "attribute", "inside"):
        raise LanguageDataError(f"{file}: {node}: 'kind' is {kind!r}")
    return MarkRule(kind=kind, when=_conditions(row), blank=row.get("blank", False))
