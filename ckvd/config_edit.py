"""One key of `ckv.yaml` set to a value, all else in the text left as it is: pure."""

from __future__ import annotations

import json
import re

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode

from ckvd.config import FILE_NAME, parse_config
from ckvd.errors import ConfigError

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*[A-Za-z0-9]")
_WORDS = frozenset(["yes", "no", "on", "off", "true", "false", "null"])


def set_key(text: str, section: str, key: str, value: str) -> str:
    """The text with `section.key` set to `value`, comments and order kept.

    Raises ConfigError where the text is no configuration, or is written so that the key must be set by hand.
    """
    parse_config(text)
    root: Node | None = yaml.compose(text, yaml.SafeLoader)
    end = "\r\n" if "\r\n" in text else "\n"
    edited = _edited(text, root, section, key, _scalar(value), end)
    try:
        found = getattr(getattr(parse_config(edited), section), key)
    except ConfigError:
        found = None
    if found != value:
        raise ConfigError(
            f"{FILE_NAME} is written in a way that only a person can edit: set {section}.{key} there."
        )
    return edited


def _edited(text: str, root: Node | None, section: str, key: str, value: str, end: str) -> str:
    found = _value(root, section)
    if found is None:
        if isinstance(root, MappingNode) and root.flow_style:
            return _after_brace(text, root, f"{section}: {{{key}: {value}}}")
        gap = "" if not text or text.endswith("\n") else end
        return f"{text}{gap}{section}:{end}  {key}: {value}{end}"
    name, node = found
    old = _value(node, key)
    if old is not None:
        start, stop = old[1].start_mark.index, old[1].end_mark.index
        return text[:start] + ("" if text[start - 1 : start] in " \t" else " ") + value + text[stop:]
    if isinstance(node, MappingNode) and node.flow_style:
        return _after_brace(text, node, f"{key}: {value}")
    if isinstance(node, MappingNode):
        at = node.start_mark.index
        return f"{text[:at]}{key}: {value}{end}{' ' * node.start_mark.column}{text[at:]}"
    line = text.find("\n", name.end_mark.index)
    at = len(text) if line < 0 else line + 1
    gap = end if line < 0 else ""
    return f"{text[:at]}{gap}  {key}: {value}{end}{text[at:]}"


def _value(node: Node | None, key: str) -> tuple[ScalarNode, Node] | None:
    """A key of a mapping and its value."""
    if isinstance(node, MappingNode):
        for name, value in node.value:
            if isinstance(name, ScalarNode) and name.value == key:
                return name, value
    return None


def _after_brace(text: str, node: MappingNode, entry: str) -> str:
    at = node.start_mark.index + 1
    return f"{text[:at]}{entry}{', ' if node.value else ''}{text[at:]}"


def _scalar(value: str) -> str:
    plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    return value if plain else json.dumps(value, ensure_ascii=False)
