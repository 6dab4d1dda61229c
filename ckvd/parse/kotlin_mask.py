"""Blanking of what the grammar of Kotlin cannot read, or takes for something else."""

from __future__ import annotations

import re

from ckvd.parse.blanks import blanked

_BLANK_BEFORE_BRACE = re.compile(rb"(?<=[^\s{;,>])([ \t]*)[ \t](?=\})")


def kotlin_one_line(source: bytes) -> bytes:
    """A `;` before each brace that closes on the line of what it holds: the grammar wants a line's end."""
    return _BLANK_BEFORE_BRACE.sub(rb"\1;", source)


_GUARD = re.compile(rb"^([ \t]*(?:!?i[ns]\b|else\b|\w)[^\n{}=]*?)(\bif\b[^\n{}]*?)(?=->)", re.MULTILINE)
_NEWER = re.compile(rb'(?<![\w$"])\$++(?=")|(?<=\.\.)<')


def kotlin_newer(source: bytes) -> bytes:
    """Besides `kotlin_one_line`, guards in `when`, the dollars before a string, the `<` of open ranges."""
    plain = _NEWER.sub(lambda found: blanked(found[0]), kotlin_one_line(source))
    return _GUARD.sub(lambda found: found[1] + blanked(found[2]), plain)


_PRIMARY = re.compile(
    rb"(\bclass\s+\w+(?:\s*<[^(){}]*>)?)"
    rb"(\s*\n\s*(?:@[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?\s+|(?:internal|private|protected|public)\s+)*constructor\s*)(?=\()"
)


def kotlin_constructors(source: bytes) -> bytes:
    """Besides `kotlin_newer`, what stands before the parameters of a class on a line of its own."""
    return _PRIMARY.sub(lambda found: found[1] + blanked(found[2]), kotlin_newer(source))


_ARGUMENTS = rb"\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\)"
_TYPES = rb"<(?:[^<>(){}]|<[^<>(){}]*+>)*+>"
_DELEGATED = re.compile(
    rb"(\b(?:(?:class|interface)\s+\w++|object\b(?:\s+\w++)?+)\s*+(?:" + _TYPES + rb"\s*+)?+"
    rb"(?:[@\w \t]{0,200}\bconstructor\s*+)?+(?:" + _ARGUMENTS + rb"\s*+)?+"
    rb":(?:(?!\b(?:val|var|fun|class|object)\b)[^(){}=;]|" + _ARGUMENTS + rb"){1,500}?)"
    rb"(\bby\s++(?:[\w.!?]|" + _ARGUMENTS + rb"|" + _TYPES + rb")++)(?=\s*\{)"
)


def kotlin_delegates(source: bytes) -> bytes:
    """What a class delegates to (`class A(b: B) : B by b {`), which takes its body for a lambda."""
    return _DELEGATED.sub(lambda found: found[1] + blanked(found[2]), source)


_ANNOTATED = re.compile(rb"^[ \t]*(?=@(?!file:)|context[ \t]*\()", re.MULTILINE)
_MODIFIERS = (
    rb"abstract|actual|annotation|companion|const|crossinline|data|enum|expect|external|final|infix|inline|inner"
    rb"|internal|lateinit|noinline|open|operator|override|private|protected|public|sealed|suspend|tailrec|value|vararg"
)
_BEFORE_DECLARATION = re.compile(
    rb"(?P<between>\s+|//[^\n]*|/\*(?!\*)(?:[^*]|\*(?!/))*+\*/)"
    rb"|(?P<blanked>@(?:\w+:)?(?:[\w.]+(?:<[^<>\n]*>)?(?P<given>\()?|(?=(?P<listed>\[)))|context[ \t]*(?=\())"
    rb"|(?P<modifier>(?:" + _MODIFIERS + rb")\b)"
    rb"|(?P<declared>(?:class|constructor|fun|interface|object|typealias|va[lr])\b)"
)
_BRACKET = re.compile(
    rb'"""(?:[^"]|"(?!""))*+"""|"(?:[^"\\\n]|\\.)*+"|\'(?:[^\'\\\n]|\\.)*+\'|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/|[()\[\]]'
)
LONGEST_ARGUMENTS = 10_000
"""Bytes of the arguments of one annotation; what has more is not looked through."""


def kotlin_annotations(source: bytes) -> bytes:
    """Annotations and contexts that begin a line and a declaration.

    The grammar takes those on lines of their own for an expression, and the declaration for a part of it.
    """
    parts: list[bytes] = []
    last = 0
    for found in _ANNOTATED.finditer(source):
        if found.end() < last:
            continue
        for start, end in _before_declaration(source, found.end()):
            parts += (source[last:start], blanked(source[start:end]))
            last = end
    return b"".join((*parts, source[last:])) if parts else source


def _before_declaration(source: bytes, at: int) -> list[tuple[int, int]]:
    """The ranges of the annotations from an offset to a declaration, with what lies between them; none if
    something else follows them."""
    ranges: list[tuple[int, int]] = []
    start: int | None = None
    while token := _BEFORE_DECLARATION.match(source, at):
        at = token.end()
        if token["blanked"] is not None:
            start = token.start() if start is None else start
            if token["given"] or token["listed"] or token["blanked"].startswith(b"context"):
                at = _closed(source, at - bool(token["given"]))
        elif token["between"] is None:
            if start is not None:
                ranges.append((start, token.start()))
            if token["declared"] is not None:
                return ranges
            start = None
    return []


def _closed(source: bytes, at: int) -> int:
    """Behind the bracket that closes the one at an offset; the text's end where none does."""
    depth = 0
    for token in _BRACKET.finditer(source, at, at + LONGEST_ARGUMENTS):
        depth += (token[0] in (b"(", b"[")) - (token[0] in (b")", b"]"))
        if not depth:
            return token.end()
    return len(source)
