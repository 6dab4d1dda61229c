"""Path and first bytes → language: what the repository says, then the file's name, then its `#!` line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from identify import extensions

from ckvd.languages import Language, get, names

_SHEBANG = re.compile(rb"\A(?:\xef\xbb\xbf)?#![ \t]*([^\r\n]+)")
_VERSION = re.compile(r"-?[0-9]+(\.[0-9]+)*$")
_NO_LANGUAGE_OF_OURS = frozenset({"zsh", "csh", "tcsh", "cbsd"})
"""Tags of `identify` whose files it also calls `shell`, though no shell grammar reads them."""
_TEMPLATES = frozenset({"jinja", "gotemplate"})
"""Languages of templates: `deploy.yaml.j2` is YAML."""
_MARKUP = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*<(?:\?xml|!DOCTYPE\s+TS)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Tables:
    """Language names by what a file says of itself; keys are lower case, but for `exact` ones."""

    exact: dict[str, str]
    suffixes: dict[str, str]
    filenames: dict[str, str]
    interpreters: dict[str, str]
    labels: dict[str, str]


def detect(path: str, head: bytes, override: str | None = None) -> Language | None:
    """The language of a file, None where it is none that ckvd knows.

    `head` are the file's first bytes, as they lie on the disk. `override` is the `linguist-language`
    that `.gitattributes` gives; one that ckvd does not know means that the file is of no known language.
    """
    if override is not None:
        name = _tables().labels.get(_label(override))
        return get(name) if name else None
    base = path.rpartition("/")[2]
    name = _by_name(base, head) or _by_shebang(head) or _by_stem(base)
    if name == "typescript" and _MARKUP.match(head):
        return None  # Qt's translations have the same suffix
    return get(name) if name else None


def _by_name(base: str, head: bytes) -> str | None:
    tables = _tables()
    found = tables.filenames.get(base.lower())
    if found:
        return found
    for suffix in _suffixes(base):
        found = tables.exact.get(suffix) or tables.suffixes.get(suffix.lower())
        if found in _TEMPLATES:
            return _by_name(base[: -len(suffix) - 1], head) or found
        if found:
            return found if get(found).claims(suffix.lower(), head) else None
    return None


def _suffixes(base: str) -> Iterator[str]:
    """`b.c`, then `c`, of `a.b.c`; a leading dot begins no suffix."""
    at = base.find(".", 1)
    while at >= 0:
        yield base[at + 1 :]
        at = base.find(".", at + 1)


def _by_stem(base: str) -> str | None:
    """The language of `Dockerfile` for `Dockerfile.dev`."""
    stem = re.split(r"[.-]", base, maxsplit=1)[0].lower()
    return _tables().filenames.get(stem) if stem else None


def _by_shebang(head: bytes) -> str | None:
    line = _SHEBANG.match(head)
    if line is None:
        return None
    words = line[1].decode("utf-8", "replace").split()
    while words:
        word = words.pop(0).rpartition("/")[2]
        if word in ("env", "busybox", "nice", "sudo") or word.startswith("-") or "=" in word:
            continue
        tables = _tables()
        return tables.interpreters.get(word) or tables.interpreters.get(_VERSION.sub("", word))
    return None


def _label(name: str) -> str:
    """How GitHub's Linguist compares names: without case, blanks as hyphens."""
    return name.strip().lower().replace(" ", "-").replace("_", "-")


@cache
def _tables() -> _Tables:
    exact: dict[str, str] = {}
    suffixes: dict[str, str] = {}
    filenames: dict[str, str] = {}
    interpreters: dict[str, str] = {}
    labels: dict[str, str] = {}
    for name in names():
        language = get(name)
        for suffix in language.suffixes:
            (suffixes if suffix == suffix.lower() else exact)[suffix] = name
        filenames.update((filename.lower(), name) for filename in language.filenames)
        interpreters.update((interpreter, name) for interpreter in language.interpreters)
        labels.update((_label(alias), name) for alias in (*language.aliases, *language.suffixes))
    labels.update((_label(name), name) for name in names())
    for table, tagged in ((suffixes, extensions.EXTENSIONS), (filenames, extensions.NAMES)):
        for key, tags in tagged.items():
            found = None if tags & _NO_LANGUAGE_OF_OURS else _of_tags(tags, labels)
            if found:
                table.setdefault(key.lower(), found)
    return _Tables(exact, suffixes, filenames, interpreters, labels)


def _of_tags(tags: set[str], labels: dict[str, str]) -> str | None:
    """The language that a file's tags name, None where they name none or more than one."""
    found = {labels[tag] for tag in tags if tag in labels}
    return found.pop() if len(found) == 1 else None
