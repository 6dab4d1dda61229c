"""Masks of C and C++: what only the preprocessor could make sense of is blanked.

Each takes out what the one before it does and more; lines of the preprocessor itself stay as they are, unless
they divide a bracket from its partner.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from ckvd.parse.blanks import blanked

LOOK_BACK = 2000
"""How many bytes before a directive are looked at for the statement that it may stand in."""

Mark = tuple[int, int, bytes]
"""A directive of a condition: where it begins and ends, and its first words."""

Divides = Callable[[bytearray, list[Mark]], bool]
"""Of a text and the directives of a condition, whether its branches are no whole statements."""

_CALL_LINE = re.compile(
    rb"^[A-Z_][A-Z0-9_]*[ \t]*(?:\([^(){};\n]*\))[ \t]*(?=\r?\n(?!\s*[{(]))", re.MULTILINE
)
_MEMBER_LINE = re.compile(rb"[ \t]+[A-Z_][A-Z0-9_]{2,}[ \t]*(?:\([^{};\n]*\))?[ \t]*\r?")
_BEFORE_MEMBER = re.compile(rb"(?:[;{}]|\*/)[ \t]*(?://[^\n]*)?\r?\Z")
_CONTINUES = (b"{", b"(", b"[", b"=", b"|", b"&", b"+", b"-", b"*", b"?", b":", b"<", b">", b"^", b".", b",")
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\[^\n]|\\\n)*", re.MULTILINE)
_NO_VALUE = re.compile(rb"\s*#\s*define\s+\w+(?:\([^)]*\))?\s*")
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\[^\n]|\\\n)*", re.MULTILINE)
_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)
_ATTRIBUTE = re.compile(
    rb"\b(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*|[A-Z]{4,}[0-9]*)\b(?:\([^(){};\n]*\))?"
    rb"(?=[ \t]+(?:[A-Za-z_~]|::)|[ \t]*\r?\n[ \t]*[a-z_])"
)
_NO_TYPE = re.compile(rb"(?:\A|[;{}(,])\s*(?:(?:typedef|static|extern|inline|const)\s+)*\Z")
_FUNCTION_NEXT = re.compile(rb"(?:[ \t]+[A-Z][A-Z0-9_]*(?=[ \t]))*[ \t*]+\w+[ \t]*\(")
_VALUE_NEXT = re.compile(rb"[ \t*]+\w+[ \t]*[;=\[,)]")
_CONVENTION = re.compile(rb"(?<=\()[ \t]*[A-Z]{2}[A-Z0-9_]*(?=[ \t]*\*[ \t]*\w+[ \t]*\)\s*\()")
_BEHIND = re.compile(
    rb"(?<=\))\s*\b[A-Z][A-Z0-9_]{3,}\b(?:\([^(){};\n]*\))?(?=\s*[;{])"
    rb"|(?<=[\w\])])[ \t]+[A-Z][A-Z0-9]*_[A-Z0-9_]+\([^(){};\n]*\)(?=[ \t]*[;{=])"
)
_WORD = re.compile(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b[ \t]*([^\s]*)")
_ENDERS = b";{},]:>"
_MACRO_LINE = re.compile(rb"[A-Z_][A-Z0-9_]*|\S.*\)")
_LINE_END = re.compile(rb"(?<![\\\r])\r?\n")
_LABEL = re.compile(rb"\s*(?:(?!(?:default|public|private|protected|signals|slots)\b)\w+\s*)?:")
_ELSE = re.compile(rb"\s*else\b")
_LIST = re.compile(rb"(?:[=,{]|\benum\b[^;{}()]*)\s*\{\Z")
_NO_CODE = re.compile(rb"""/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)


_TYPE_MACRO = re.compile(
    rb"\b(class|struct|union)[ \t]+([A-Z][A-Z0-9]*_[A-Z0-9_]*|[A-Z]{3,}[0-9]*)"
    rb"(?=[ \t]+[A-Za-z_]\w*(?:\s+final)?\s*\{(?:(?P<empty>\s*\})|(?!\s*\{)[^{}]*[;{]))"
)


def c_types(source: bytes) -> bytes:
    """The macro before a type's name (`struct LIB_API Options {`), else read as a function's type and name.

    `struct POINT origin {1, 2}` and `struct POINT origin {}` stay the variables that they are.
    """
    return _TYPE_MACRO.sub(_without_macro, source)


def _without_macro(found: re.Match[bytes]) -> bytes:
    if found["empty"] and found[1] != b"class" and b"_" not in found[2]:
        return found[0]
    return found[0][: -len(found[2])] + b" " * len(found[2])


def c_macros(source: bytes) -> bytes:
    """Macros that stand on a line of their own without `;`, and comments inside a `#define`."""
    without = _DEFINE.sub(_uncommented, source)
    return _members(_CALL_LINE.sub(lambda found: blanked(found[0]), without))


def _uncommented(define: re.Match[bytes]) -> bytes:
    """A `#define` without comments, but for one that is all of its value: the next line would become it."""
    without = _COMMENT.sub(lambda found: blanked(found[0]), define[0])
    return define[0] if _NO_VALUE.fullmatch(without) else without


def c_branches(source: bytes) -> bytes:
    """Besides `c_macros`, all but one branch of the conditions whose branches open what another closes."""
    return _one_branch(c_macros(source))


def csharp_branches(source: bytes) -> bytes:
    """All but one branch of the conditions that stand within a statement or divide brackets."""
    return _one_branch(source, lambda text, marks: _within(text, marks[0][0]))


def c_attributes(source: bytes) -> bytes:
    """Besides `c_branches`, macros like attributes: before a declaration's next word, at its end, or in the
    type of a pointer to a function."""
    return _attributes(c_branches(source))


def c_statements(source: bytes) -> bytes:
    """Besides `c_attributes`, all but one branch of the conditions that begin or end within a statement, and
    the other directives in one (`#include "rows.h"` among the values of a table)."""
    text = _one_branch(c_macros(source), _divides)
    out = bytearray(text)
    before, inside = -1, False
    for found in _DIRECTIVE.finditer(text):
        if before < 0 or text[before : found.start()].strip():
            inside = _goes_on(out, found.start())
        before = found.end()
        if inside and not _WORD.match(found[0]):
            out[found.start() : before] = blanked(found[0])
    return _attributes(bytes(out))


def _attributes(text: bytes) -> bytes:
    out, at = [], 0
    for directive in _DIRECTIVE.finditer(text):
        out += [_bare(text[at : directive.start()]), directive[0]]
        at = directive.end()
    return b"".join([*out, _bare(text[at:])])


def _bare(code: bytes) -> bytes:
    code = _CONVENTION.sub(lambda f: blanked(f[0]), _ATTRIBUTE.sub(_unless_type, code))
    return _BEHIND.sub(lambda f: blanked(f[0]), code)


def _unless_type(found: re.Match[bytes]) -> bytes:
    """A macro blanked, but for the one type of a value, and a word without `_` that is the one type of
    a function (`BOOL WINAPI f(`): `LIB_API A(` may be a constructor."""
    text, (start, end) = found.string, found.span()
    before = text[max(0, start - 80) : start]
    if _NO_TYPE.search(before[before.rfind(b"\n") + 1 :]) and (
        _VALUE_NEXT.match(text, end) or (b"_" not in found[0] and _FUNCTION_NEXT.match(text, end))
    ):
        return found[0]
    return blanked(found[0])


def _members(source: bytes) -> bytes:
    """Without the indented lines that hold one macro alone, between the members of a type."""
    lines = source.split(b"\n")
    before, inside = b"", False
    for i, line in enumerate(lines):
        bare = line.strip()
        if not bare:
            continue
        if bare.startswith(b"#") or inside:
            inside = line.rstrip(b"\r").endswith(b"\\")
            continue
        if _MEMBER_LINE.fullmatch(line) and (not before or _BEFORE_MEMBER.search(before)):
            after = next((text for rest in lines[i + 1 : i + 20] if (text := rest.strip())), b"")
            if not after.startswith(_CONTINUES) and after != b";":
                lines[i] = blanked(line)
                continue
        before = line
    return b"\n".join(lines)


def _one_branch(source: bytes, divides: Divides | None = None) -> bytes:
    """With one branch alone of each condition that divides brackets, or what `divides` says: the first, not
    `if 0`.

    Their directives go too, since the grammar wants whole statements between them.
    """
    out = bytearray(source)
    open_: list[list[Mark]] = []  # of each open condition, its directives
    for found in _DIRECTIVE.finditer(source):
        word = _WORD.match(found[0])
        if word is None:
            continue
        mark = (found.start(), found.end(), word[1] + b" " + word[2])
        if word[1].startswith(b"if"):
            open_.append([mark])
        elif open_:
            open_[-1].append(mark)
            if word[1] == b"endif":
                _settle(source, out, open_.pop(), divides)
    return bytes(out)


def _settle(source: bytes, out: bytearray, marks: list[Mark], divides: Divides | None) -> None:
    branches = [(a[1], b[0]) for a, b in pairwise(marks)]
    if not (divides and divides(out, marks)) and all(
        _balanced(bytes(out[start:end])) for start, end in branches
    ):
        return
    kept = 1 if marks[0][2] == b"if 0" and len(branches) > 1 else 0
    for start, end, _ in marks:
        out[start:end] = blanked(source[start:end])
    for i, (start, end) in enumerate(branches):
        if i != kept:
            out[start:end] = blanked(source[start:end])


def _within(text: bytearray, at: int) -> bool:
    """Whether a place in C# stands within a statement: behind a line that is a mere `:`, or has no end."""
    for line in reversed(bytes(text[max(0, at - LOOK_BACK) : at]).split(b"\n")):
        bare = line.strip()
        if not bare or bare.startswith((b"#", b"//", b"*", b"/*")):
            continue
        code = _NO_CODE.sub(b"", bare).rstrip()
        return code == b":" or (bool(code) and code[-1] not in _ENDERS)
    return False


def _divides(text: bytearray, marks: list[Mark]) -> bool:
    """Whether one of the directives of a condition in C stands within a statement, or before an `else`."""
    return any(_goes_on(text, start) or _ELSE.match(text, end) for start, end, _ in marks)


def _goes_on(text: bytearray, at: int) -> bool:
    """Whether a statement in C, or a list of values, goes on behind a place.

    A line from the first column on that ends in `)` or is one word in capitals may be a macro, and ends what
    it is.
    """
    whole = _LINE_END.search(text, at - LOOK_BACK, at) if at > LOOK_BACK else None
    first = whole.end() if whole else 0 if at <= LOOK_BACK else at
    before = _NO_CODE.sub(lambda f: f[0][:1] * 2 if f[0][:1] in b"\"'" else b"", bytes(text[first:at]))
    before = _DIRECTIVE.sub(b"", before[before.rfind(b"*/") + 2 if b"*/" in before else 0 :]).rstrip()
    line = before[before.rfind(b"\n") + 1 :]
    if line.endswith(b"{"):
        return _LIST.search(before) is not None
    if line.endswith(b":"):
        return b"?" in line or _LABEL.fullmatch(line) is not None
    return bool(line) and not line.endswith((b";", b"}")) and not _MACRO_LINE.fullmatch(line)


def _balanced(branch: bytes) -> bool:
    """Whether each brace and parenthesis of a branch has its partner in it."""
    depth = round_ = 0
    for char in _NO_CODE.sub(b"", branch):
        if char in b"{}":
            depth += 1 if char == 0x7B else -1
        elif char in b"()":
            round_ += 1 if char == 0x28 else -1
        if depth < 0 or round_ < 0:
            return False
    return depth == 0 and round_ == 0
