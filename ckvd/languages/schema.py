"""What a language is: the values that one TOML file of this folder holds (`load` reads them).

A file may say `extends = "name"` and then holds only what differs from that language.

A *path* says where in a node something stands. Its steps are joined by `.`:

- `name` or `a|b`: the first child with that field (of `a|b`, the first field that there is);
  `left:identifier|tuple`: every child with that field that has one of these types;
- `@type|type`: the first child of these types, named or not; `@-type`: the last; `@@type`: every one;
- `**type|type`: every descendant of these types, none below a match;
- `<`: the node that this one lies in, `<type|type` if it is of these types; `-`: the sibling before it;
- a leading `^` starts at the wrapper around the node; `=text` alone is a literal name.

Of several paths the first that leads to a node counts; for the names that an import binds, all count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

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

HEADER_VALUES = VALUES - {"enum_member"} | {"macro", "event"}
"""Kinds that the headers of other units may show, but for units that hold code (a getter)."""


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
    `by` is a word that a body says of a value that it uses (`global $x`): without it, it has one of its own.
    `semicolon` takes a `;` directly behind into the range, `trailing` the following siblings of these
    types, past comments, `leading` the preceding ones. `joined` goes on with a `joined` declaration of
    the same name, if that comes right before it in the same scope: the signature and the equations of a
    function are one symbol.
    `whole` leads to the expression around it with which its chunk begins (`private def x`);
    `owner` to the type that it adds to from outside. `beside` is whether it is told the members of types
    without a name in its scope, `shared` whether the type around it may use its values as its own.
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
    by: str = ""
    semicolon: bool = False
    trailing: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    whole: Paths = ()
    owner: Paths = ()
    beside: bool = False
    shared: bool = False


@dataclass(frozen=True, slots=True)
class HeaderRule:
    """A node that belongs to the file's header, and where the names stand that it binds.

    A `member` belongs to that of the type it lies in (`include` in a class of Ruby). `body` is what headers
    leave out of it: a constructor tells of the fields that its parameters declare.
    A node of a type in `open` below it means that one cannot tell (`import *`); so does a name that the file
    says nowhere else, of an import that `acts` unnamed (a trait of Rust, by its methods).
    `frame` leads to the group that a `constant` is one of, whose head ends with what opens the node's list.
    `when` is as in `Rule`.
    """

    kind: Literal["package", "import", "member", "constant"]
    names: Paths = ()
    when: Conditions = ()
    open: frozenset[str] = frozenset()
    hook: str | None = None
    body: Paths = ()
    acts: bool = False
    frame: str = ""


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
    `whole_members` is whether the methods of a type are told all that it assigns, used or not.
    `nameless` is the name that binds nothing: a constant of that name is told to nobody, and who uses what is
    imported by it cannot be told.
    `masks` name functions of `ckvd.parse.mask` that blank what the grammar cannot read, tried where it
    finds errors, `premasks` such without which it errs and finds none; `filler` is a statement that
    does nothing, where an empty block is an error.
    `rivals` maps a suffix to the languages that are tried too; the least damaged parse wins.
    `clues` maps a suffix that other languages use too to an expression that is found, line by line, in
    the first bytes of files of this one. `signs` does so for what only this one means, in
    a group of the expression, beside what is to be passed over (comments): of two parses as good its own is
    taken where that is found.
    `blocks` those at whose end a comment may hang that does not belong to the declaration.
    `around` maps the types of nodes that enclose declarations and are none themselves (`extern "C" { … }`,
    `type ( … )`, `if x:`) to the path of what comes behind the head that these are told, of a token that ends
    it, or to nothing where it is a line (`#ifdef X`); `anonymous` does so for those that are types or objects
    without a name (`new X() { … }`), whose members only they are told. A node of `around` that begins as the
    expression `guard` has it only keeps the file from being read twice.
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
    signs: Mapping[str, str] = field(default_factory=dict)
    blocks: tuple[str, ...] = ()
    around: Mapping[str, str] = field(default_factory=dict)
    anonymous: Mapping[str, str] = field(default_factory=dict)
    guard: str = ""
    constructors: frozenset[str] = frozenset()
    whole_members: bool = False
    nameless: str = ""
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

    def signs_in(self, suffix: str, source: bytes) -> bool:
        """Whether a file with this suffix says what only this one of the languages that share it means."""
        sign = self.signs.get(suffix)
        if sign is None:
            return False
        return any(found.lastindex for found in re.finditer(sign.encode(), source, re.MULTILINE))
