"""Perl's expressions that its grammar cannot read, in a form that it reads, byte for byte."""

from __future__ import annotations

import re

from ckvd.parse.blanks import blanked

_FORWARD = re.compile(rb"^[ \t]*(?:sub|method)[ \t]+[\w:']+\s*(?:\([^()\n]*\))?\s*;", re.MULTILINE)
_REPLACED = (
    (re.compile(rb"&&"), rb"||"),  # after a function without parentheses
    (re.compile(rb"(?<=\s)&(?=\s)"), rb"|"),
    (re.compile(rb"(?<=['\")\]])x(?=\d)"), rb"."),  # 'a'x3
    (re.compile(rb"(?<=[\s=,.])\$\$(?=[\s;])"), rb"$0"),
    (re.compile(rb"(?<=\w )/(?= \d)"), rb","),
    (re.compile(rb"\btrue(?=\(\))"), rb"True"),
    (re.compile(rb"\bfalse(?=\(\))"), rb"False"),
)
_LABEL = re.compile(rb"^([ \t]*)(?:BEGIN|CHECK|END|INIT|UNITCHECK):(?!:)", re.MULTILINE)


def perl_forwards(source: bytes) -> bytes:
    """Blanks declarations of subroutines that are defined elsewhere."""
    return _FORWARD.sub(lambda found: blanked(found[0]), source)


def perl_operators(source: bytes) -> bytes:
    """Besides `perl_forwards`, other operators in the place of those that are misread."""
    text = _LABEL.sub(lambda found: blanked(found[0]), perl_forwards(source))
    for pattern, other in _REPLACED:
        text = pattern.sub(other, text)
    return text
