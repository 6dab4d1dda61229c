"""`ckv.yaml` → `Config`: pure. Reading the file from disk is `ckvd.settings`.

The dataclasses below are the schema: a section is a field of `Config`, a key is a field of its section,
and a field's metadata holds the rule that turns its YAML node into its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Literal

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ckvd.errors import ConfigError
from ckvd.model import CutOptions

FILE_NAME = "ckv.yaml"
DEFAULT_MODEL = "static-code-256"
_DEEPEST = 3  # mapping of sections, mapping of keys, list of patterns
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,11}")
_SHOWN = 40  # characters of a wrong value that a message quotes

Rule = Callable[[Node], Any]


class _WrongError(Exception):
    """A value breaks its rule: what it must be, and the node that is wrong."""

    def __init__(self, must_be: str, node: Node, index: int | None = None) -> None:
        super().__init__(must_be)
        self.must_be, self.node, self.index = must_be, node, index


def _whole(low: int, high: int, *, or_zero: bool = False) -> Rule:
    must_be = f"a whole number from {low} to {high}" + (", or 0" if or_zero else "")

    def rule(node: Node) -> int:
        if (
            isinstance(node, ScalarNode)
            and node.tag.endswith(":int")
            and re.fullmatch(r"\d{1,12}", node.value)
        ):
            value = int(node.value)
            if low <= value <= high or (or_zero and value == 0):
                return value
        raise _WrongError(must_be, node)

    return rule


def _flag(node: Node) -> bool:
    if isinstance(node, ScalarNode) and node.tag.endswith(":bool"):
        word = node.value.lower()
        if word in ("true", "yes", "on"):
            return True
        if word in ("false", "no", "off"):
            return False
    raise _WrongError("true or false", node)


def _one_of(*words: str) -> Rule:
    def rule(node: Node) -> str:
        if isinstance(node, ScalarNode) and node.value in words:
            return str(node.value)
        raise _WrongError(" or ".join(words), node)

    return rule


def _text(what: str) -> Rule:
    def rule(node: Node) -> str:
        if isinstance(node, ScalarNode) and node.tag.endswith(":str") and node.value.strip():
            return str(node.value)
        raise _WrongError(what, node)

    return rule


def _patterns(node: Node) -> tuple[str, ...]:
    if not isinstance(node, SequenceNode):
        raise _WrongError("a list of patterns in the syntax of .gitignore", node)
    item = _text("a pattern in the syntax of .gitignore")
    out = []
    for index, child in enumerate(node.value):
        try:
            out.append(item(child))
        except _WrongError as wrong:
            raise _WrongError(wrong.must_be, child, index) from None
    return tuple(out)


def _key(default: Any, rule: Rule) -> Any:
    return field(default=default, metadata={"rule": rule})


@dataclass(frozen=True, slots=True)
class Chunking:
    """How files are cut. Lines, characters and tokens as the names say."""

    file_header_lines: int = _key(50, _whole(1, 10_000))
    include_file_header: bool = _key(True, _flag)
    include_file_full: bool = _key(False, _flag)
    max_input_tokens: int = _key(0, _whole(64, 1_000_000, or_zero=True))
    """Tokens that an embedded text may have; 0 is the model's own limit."""
    window_chars: int = _key(1200, _whole(50, 1_000_000))
    window_overlap: int = _key(0, _whole(0, 500_000))
    """Characters that two neighbouring windows share; at most half of `window_chars`."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """What is embedded, and by which model."""

    model: str = _key(DEFAULT_MODEL, _text("a model's name, a folder, hash or none"))
    prefix: Literal["contextual", "raw"] = _key("contextual", _one_of("contextual", "raw"))
    header: bool | None = _key(None, _flag)
    """Whether the header is part of the embedded text; None leaves it to the model's own entry."""


@dataclass(frozen=True, slots=True)
class Index:
    """Which files are indexed. Patterns are in git's ignore syntax, relative to the root."""

    include: tuple[str, ...] = _key((), _patterns)
    exclude: tuple[str, ...] = _key((), _patterns)
    max_file_bytes: int = _key(8 * 1024 * 1024, _whole(1, 1 << 31))
    generated: Literal["names", "full"] = _key("names", _one_of("names", "full"))


@dataclass(frozen=True, slots=True)
class Watch:
    debounce_ms: int = _key(20, _whole(0, 60_000))
    """Milliseconds without an event after which a burst counts as over."""


@dataclass(frozen=True, slots=True)
class Config:
    """All of `ckv.yaml`; an absent file is `Config()`."""

    chunking: Chunking = field(default_factory=Chunking)
    embedding: Embedding = field(default_factory=Embedding)
    index: Index = field(default_factory=Index)
    watch: Watch = field(default_factory=Watch)

    def cut_options(
        self, limit: int, embed_header_default: bool, *, ceiling: int | None = None
    ) -> CutOptions:
        """The options for cutting, given what the model's entry states.

        `limit` is the number of tokens that the entry recommends, `ceiling` the number that the model
        can take at all (None: it has no limit of its own), which no configuration exceeds.
        """
        tokens = self.chunking.max_input_tokens or limit
        header = self.embedding.header
        return CutOptions(
            file_header_lines=self.chunking.file_header_lines,
            include_file_header=self.chunking.include_file_header,
            include_file_full=self.chunking.include_file_full,
            window_chars=self.chunking.window_chars,
            window_overlap=self.chunking.window_overlap,
            limit=tokens if ceiling is None else min(tokens, ceiling),
            prefix=self.embedding.prefix,
            embed_header=embed_header_default if header is None else header,
            generated=self.index.generated,
            max_file_bytes=self.index.max_file_bytes,
        )


_SECTIONS: dict[str, type[Any]] = {
    "chunking": Chunking,
    "embedding": Embedding,
    "index": Index,
    "watch": Watch,
}
_KEYS = [f"{name}.{key.name}" for name, section in _SECTIONS.items() for key in fields(section)]


def parse_config(text: str, name: str = FILE_NAME) -> Config:
    """The configuration that `text` holds; `name` is how messages call the file.

    Raises `ConfigError`, whose one sentence names the key and the line: YAML that does not parse, a key
    that is unknown or given twice, a value of the wrong type or out of range.
    """
    root = _compose(text, name)
    if root is None or _is_null(root):
        return Config()
    sections: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for section, node in _entries(root, "", _SECTIONS, name):
        values: dict[str, Any] = {}
        if not _is_null(node):
            rules: dict[str, Field[Any]] = {key.name: key for key in fields(_SECTIONS[section])}
            for key, value in _entries(node, f"{section}.", rules, name):
                full = f"{section}.{key}"
                lines[full] = _line(value)
                try:
                    values[key] = rules[key].metadata["rule"](value)
                except _WrongError as wrong:
                    where = full if wrong.index is None else f"{full}[{wrong.index}]"
                    raise _error(
                        name, _line(wrong.node), f"{where} must be {wrong.must_be}, not {_shown(wrong.node)}"
                    ) from None
        sections[section] = _SECTIONS[section](**values)
    config = Config(**sections)
    half = config.chunking.window_chars // 2
    if config.chunking.window_overlap > half:
        overlap = "chunking.window_overlap"
        raise _error(
            name, lines[overlap], f"{overlap} must be at most half of chunking.window_chars, {half} here"
        )
    return config


def _compose(text: str, name: str) -> Node | None:
    """The node tree. The depth is checked on the event stream first: composing recurses, events do not."""
    try:
        depth = 0
        for event in yaml.parse(text, yaml.SafeLoader):
            if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                depth += 1
                if depth > _DEEPEST:
                    raise _error(name, _line(event), "this is nested deeper than any key's value")
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                depth -= 1
            elif isinstance(event, yaml.AliasEvent):
                raise _error(name, _line(event), f"*{event.anchor} must be written out, not aliased")
        node: Node | None = yaml.compose(text, yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        character = f"U+{ord(text[error.position]):04X}"
        line = text.count("\n", 0, error.position) + 1
        raise _error(name, line, f"the character {character} is not allowed in YAML") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "it does not parse"
        raise _error(name, mark.line + 1 if mark else 1, f"this is not YAML, {problem}") from None
    return node


def _entries(node: Node, prefix: str, known: dict[str, Any], name: str) -> Iterator[tuple[str, Node]]:
    """The keys and values of a mapping, each key known and given once."""
    if not isinstance(node, MappingNode):
        what = f"{prefix[:-1]} must be" if prefix else "the file must be"
        raise _error(name, _line(node), f"{what} a mapping of keys to values, not {_shown(node)}")
    seen: dict[str, int] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode) or key.value not in known:
            raise _error(name, _line(key), _unknown(prefix, key))
        if key.value in seen:
            twice = f"{prefix}{key.value} is given twice, first in line {seen[key.value]}; keep one of them"
            raise _error(name, _line(key), twice)
        seen[key.value] = _line(key)
        yield key.value, value


def _unknown(prefix: str, key: Node) -> str:
    if not isinstance(key, ScalarNode):
        return f"a key{' of ' + prefix[:-1] if prefix else ''} must be a word, not {_shown(key)}"
    given = prefix + key.value
    known = [k for k in _KEYS if k.startswith(prefix)] if prefix else list(_SECTIONS)
    # By the last word alone: the section in front of both would make any two keys look alike.
    last = {k.rpartition(".")[2]: k for k in [*reversed(_KEYS), *known]}
    if close := get_close_matches(key.value.rpartition(".")[2], last, n=1):
        return f"the key {_short(given)} is unknown; did you mean {last[close[0]]}?"
    return f"the key {_short(given)} is unknown; the keys are {', '.join(known)}"


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.tag.endswith(":null")


def _line(node: Node | yaml.Event) -> int:
    return node.start_mark.line + 1 if node.start_mark else 1


def _shown(node: Node) -> str:
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    plain = isinstance(node, ScalarNode) and node.style is None and node.value.isprintable()
    if plain and not node.value:
        return "nothing"
    return _short(node.value if plain else repr(node.value))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _error(name: str, line: int, what: str) -> ConfigError:
    plain = what if what.isprintable() else repr(what)[1:-1]
    return ConfigError(f"{name}, line {line}: {plain}" + ("" if plain.endswith("?") else "."))
