"""What `.gitattributes` says about a file, as far as an index cares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ckvd.model import display_path
from ckvd.worktree.git.process import records

NAMES = ("linguist-language", "linguist-generated")
_TRUTH = {b"set": True, b"true": True, b"unset": False, b"false": False}


@dataclass(frozen=True, slots=True)
class Attributes:
    """linguist's name of the language, and whether the file is called generated; None: unsaid."""

    language: str | None
    generated: bool | None


def parse(output: bytes) -> Iterable[tuple[bytes, Attributes]]:
    """The paths of which `git check-attr -z` says anything under NAMES."""
    told: dict[bytes, dict[bytes, bytes]] = {}
    fields = iter(records(output))
    for path, name, value in zip(fields, fields, fields, strict=True):
        if value != b"unspecified":
            told.setdefault(path, {})[name] = value
    for path, values in told.items():
        language = values.get(b"linguist-language")
        yield (
            path,
            Attributes(
                None if language in (None, b"set", b"unset") else display_path(language),
                _TRUTH.get(values.get(b"linguist-generated", b"")),
            ),
        )
