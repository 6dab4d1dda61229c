"""Declarations of Swift, Dart and Luau by their tokens: `scan.py dart|luau|swift`, paths on standard input,
one JSON line a file on standard output.

No parser of these is to be had from a registry of packages. This one shares nothing with ckvd: comments and
strings are blanked, and what remains is read token by token with a stack of braces. It says on which line a
name stands.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TOKEN = re.compile(r"`\w+`|[\w$]+|=>|->|\?\?|[^\w\s]")
TYPES = {
    "swift": frozenset({"class", "struct", "enum", "actor", "protocol", "extension"}),
    "dart": frozenset({"class", "mixin", "enum", "extension"}),
}
OPERATOR = re.compile(r"[^\w\s(){}\[\];,.:]+")


def blanked(text: str, language: str) -> str:
    """The text with every comment and string as spaces; lines stay lines."""
    out: list[str] = []
    at = 0
    opener = re.compile(
        r'//|/\*|#*"""|#*"|r?\'\'\'|r?"""|r?"|r?\'' if language == "dart" else r'//|/\*|#*"""|#*"'
    )
    while found := opener.search(text, at):
        out.append(text[at : found.start()])
        end = _end(text, found[0], found.start(), found.end(), language)
        out.append(re.sub(r"[^\n]", " ", text[found.start() : end]))
        at = end
    return "".join([*out, text[at:]])


def _end(text: str, mark: str, start: int, at: int, language: str) -> int:
    """Where a comment or a string ends, what it interpolates included."""
    if mark == "//":
        return text.find("\n", at) if "\n" in text[at:] else len(text)
    if mark == "/*":
        depth = 1
        for step in re.finditer(r"/\*|\*/", text[at:]):
            depth += 1 if step[0] == "/*" else -1
            if not depth:
                return at + step.end()
        return len(text)
    raw = mark.startswith("r")
    hashes = len(mark) - len(mark.lstrip("#"))
    quote = mark.lstrip("#r")
    closer = quote + "#" * hashes
    escape = "\\" + "#" * hashes
    hole = "${" if language == "dart" else escape + "("
    pairs = {"(": ")", "{": "}"}
    while at < len(text):
        if text.startswith(closer, at):
            return at + len(closer)
        if not raw and text.startswith(hole, at):
            at += len(hole)
            depth, opens = 1, hole[-1]
            while at < len(text) and depth:
                inner = re.compile(r'"""|\'\'\'|"|\'' if language == "dart" else r'"""|"').match(text, at)
                if inner:
                    at = _end(text, inner[0], at, inner.end(), language)
                    continue
                depth += (text[at] == opens) - (text[at] == pairs[opens])
                at += 1
            continue
        if not raw and text.startswith(escape, at):
            at += len(escape) + 1
            continue
        if len(quote) == 1 and text[at] == "\n":
            return at
        at += 1
    return at


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    at: int


@dataclass(slots=True)
class Scope:
    """What a brace has opened: a type, code, or what is neither."""

    names: tuple[str, ...]
    kind: str
    parens: int = 0


class Swift:
    """Swift says each declaration by a keyword."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens

    def _text(self, i: int) -> str:
        return self._tokens[i].text if 0 <= i < len(self._tokens) else ""

    def rows(self) -> Iterator[tuple[tuple[str, ...], int]]:
        open_ = [Scope((), "type")]
        waits: Scope | None = None
        parens = 0
        skip = -1
        for i, token in enumerate(self._tokens):
            text, here = token.text, open_[-1]
            if i <= skip:
                continue
            if text in "([":
                parens += 1
            elif text in ")]":
                parens -= 1
            elif text == "{":
                open_.append(waits if waits and waits.parens == parens else Scope(here.names, "code"))
                open_[-1].parens = parens
                waits = None
                parens = 0
            elif text == "}" and len(open_) > 1:
                parens = open_.pop().parens
            elif parens or self._text(i - 1) == ".":
                continue
            elif found := self._declared(i, here):
                for names, at in found:
                    yield (*here.names, *names), at
                kind = text if text in TYPES["swift"] else "code"
                waits = Scope((*here.names, *found[-1][0]), kind, parens)

    def _declared(self, i: int, here: Scope) -> list[tuple[tuple[str, ...], int]]:
        token, after = self._tokens[i], self._text(i + 1)
        code = here.kind == "code"
        if token.text == "func":
            name = self._tokens[i + 1]
            if re.match(r"[\w`]", name.text):
                return [((name.text.strip("`"),), name.at)]
            signs = ""
            for j in range(i + 1, i + 6):
                if self._text(j) in ("(", "<") and signs:
                    break
                signs += self._text(j)
            return [((signs,), name.at)]
        if (
            token.text in TYPES["swift"]
            and re.match(r"[A-Z_`]", after)
            and self._text(i - 1) not in (":", "case")
        ):
            names, j = [after], i + 2
            while self._text(j) == "." and token.text == "extension":
                names.append(self._text(j + 1))
                j += 2
            return [(tuple(name.strip("`") for name in names), self._tokens[j - 1].at)]
        if token.text in ("init", "deinit", "subscript") and not code and after in ("(", "{", "?", "!", "<"):
            return [((token.text,), token.at)]
        if token.text == "typealias":
            return [((after,), self._tokens[i + 1].at)]
        if token.text in ("var", "let") and not code and re.match(r"[\w`]", after):
            return [((after.strip("`"),), self._tokens[i + 1].at)]
        if token.text == "case" and here.kind == "enum":
            return list(self._cases(i + 1))
        return []

    def _cases(self, i: int) -> Iterator[tuple[tuple[str, ...], int]]:
        depth = 0
        due = True
        while i < len(self._tokens):
            text = self._text(i)
            if text in "([":
                depth += 1
            elif text in ")]":
                depth -= 1
            elif not depth and due and re.match(r"[\w`]", text):
                yield (text.strip("`"),), self._tokens[i].at
                due = False
            elif not depth and text == ",":
                due = True
            elif not depth and not due and text != "=" and self._text(i - 1) not in ("=", "-"):
                return
            i += 1


class Dart:
    """Dart's members and functions are told by the shape of their statement."""

    WORDS = frozenset(
        {
            "if",
            "for",
            "while",
            "switch",
            "catch",
            "return",
            "assert",
            "super",
            "this",
            "await",
            "throw",
            "else",
        }
        | {"do", "try", "new", "const", "case", "yield", "on", "in", "is", "as", "rethrow", "finally", "when"}
    )

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens

    def _text(self, i: int) -> str:
        return self._tokens[i].text if 0 <= i < len(self._tokens) else ""

    def _close(self, i: int) -> int:
        depth = 0
        for j in range(i, len(self._tokens)):
            depth += self._text(j) in ("(", "[", "{")
            depth -= self._text(j) in (")", "]", "}")
            if not depth:
                return j
        return len(self._tokens)

    def rows(self) -> Iterator[tuple[tuple[str, ...], int]]:
        open_ = [Scope((), "type")]
        waits: Scope | None = None
        start = True
        i = 0
        while i < len(self._tokens):
            text, here = self._text(i), open_[-1]
            if start and text == "@":  # an annotation, with its arguments
                i += 2
                while self._text(i) == ".":
                    i += 2
                if self._text(i) == "(" and self._tokens[i].at == self._tokens[i - 1].at + len(
                    self._text(i - 1)
                ):
                    i = self._close(i) + 1
                continue
            if start and here.kind == "enum":
                i = yield from self._constants(i, here)
                here.kind, start = "type", True
                continue
            if start and text not in "{};" and here.kind in ("type", "code"):
                found, body, scope = self._statement(i, here)
                yield from found
                if scope is not None:
                    waits, i, start = scope, body, False
                    continue
                if found:
                    i = body
            text = self._text(i)
            if text == "{":
                open_.append(waits or Scope(here.names, "code"))
                waits = None
            elif text == "}" and len(open_) > 1:
                open_.pop()
                waits = None
            elif text == ";":
                waits = None
            start = text in ("{", "}", ";")
            i += 1

    def _constants(self, i: int, here: Scope) -> Iterator[tuple[tuple[str, ...], int]]:
        due = True
        while i < len(self._tokens):
            text = self._text(i)
            if text == ";":
                return i + 1
            if text == "}":
                return i
            if text == "@":
                i += 2
                if self._text(i) == "(":
                    i = self._close(i) + 1
                continue
            if due and re.match(r"[\w$]", text):
                yield (*here.names, text), self._tokens[i].at
                due = False
            elif text in "([{":
                i = self._close(i)
            elif text == ",":
                due = True
            i += 1
        return i

    def _statement(self, i: int, here: Scope) -> tuple[list[tuple[tuple[str, ...], int]], int, Scope | None]:
        """The names that a statement declares, where to go on, and what its brace opens."""
        first = i
        while self._text(i) in (
            "abstract",
            "base",
            "final",
            "sealed",
            "interface",
            "external",
            "augment",
            "macro",
        ):
            i += 1
        word = self._text(i)
        if word in TYPES["dart"] and re.match(r"[\w$]", self._text(i + 1)):
            j = i + 1
            while self._text(j) in ("class", "type", "const") and word in ("extension", "mixin"):
                j += 1
            if word == "extension" and self._text(j) == "on":
                j += 1
            name = self._tokens[j]
            while j < len(self._tokens) and self._text(j) not in ("{", ";"):
                j = self._close(j) + 1 if self._text(j) == "(" else j + 1
            row = (*here.names, name.text)
            return [(row, name.at)], j, Scope(row, "enum" if word == "enum" else "type")
        if self._text(first) in self.WORDS and self._text(first) not in (
            "const",
            "on",
            "in",
            "is",
            "as",
            "when",
        ):
            return [], first, None
        # a function, an accessor, an operator or a constructor: a name before its parameters, then a body
        j, name_at = first, -1
        angle = 0
        while j < len(self._tokens):
            text = self._text(j)
            if text == "<":
                angle += 1
            elif text == ">":
                angle -= 1
            elif text == "(" and not angle:
                word = j > first and re.match(r"[\w$]", self._text(j - 1)) and self._text(j - 1) != "Function"
                if word or self._operator(first, j):
                    break
                if self._text(j - 1) == ">" and self._generic(j - 1) is not None:
                    break
                j = self._close(j)
            elif (
                text in ("=", ";", "{", "}", "=>", ",", ".")
                and not angle
                and not self._operator(first, j + 1)
                and (text != "." or not re.match(r"[\w$]", self._text(j - 1)))
            ):
                break
            j += 1
        text = self._text(j)
        if text in ("=>", "{", ";") and j > first + 1 and self._text(j - 2) == "get":
            name_at = j - 1
            end = j
        elif text in ("=>", "{") and self._text(j - 1) in ("async", "sync", "*"):
            k = j - 1
            while self._text(k) in ("async", "sync", "*"):
                k -= 1
            if self._text(k - 1) != "get":
                return [], first, None
            name_at, end = k, j
        elif text == "(":
            name_at = j - 1
            if self._text(name_at) == ">":
                opened = self._generic(name_at)
                name_at = opened - 1 if opened is not None else name_at
            end = self._close(j) + 1
            if self._text(end) == ":" and here.kind == "type":  # initializers
                while end < len(self._tokens) and self._text(end) not in ("{", ";"):
                    end = self._close(end) + 1 if self._text(end) in "([" else end + 1
            while self._text(end) in ("async", "sync", "*"):
                end += 1
            operator = self._operator(first, j)
            after = self._text(end)
            allowed = ("{", "=>") if here.kind == "code" else ("{", "=>", ";", "=")
            if after not in allowed or (not operator and self._text(name_at) in self.WORDS):
                return [], first, None
            if here.kind == "code" and self._text(name_at - 1) in (".", "?", "!"):
                return [], first, None
            if operator:
                name = "".join(self._text(k) for k in range(operator + 1, j))
                row = (*here.names, name)
                return [(row, self._tokens[operator + 1].at)], end, Scope(row, "code")
        else:
            return [], first, None
        name_token = self._tokens[name_at]
        if not re.match(r"[\w$]", name_token.text) or name_token.text in self.WORDS:
            return [], first, None
        if self._text(first) == "typedef":
            return [], first, None
        row = (*here.names, name_token.text)
        return [(row, name_token.at)], end, Scope(row, "code")

    def _operator(self, first: int, j: int) -> int:
        """Where the word `operator` stands in a statement before its parameters, 0 where it does not."""
        for k in range(max(first, j - 5), j):
            if (
                self._text(k) == "operator"
                and not re.match(r"[\w$]", self._text(k + 1))
                and self._text(k + 1) != "("
            ):
                return k
        return 0

    def _generic(self, j: int) -> int | None:
        depth = 0
        while j >= 0:
            depth += (self._text(j) == ">") - (self._text(j) == "<")
            if not depth:
                return j
            j -= 1
        return None


LUAU_OPAQUE = re.compile(
    r"--\[(=*)\[.*?\]\1\]|--[^\n]*|\[(=*)\[.*?\]\2\]"
    r"|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`",
    re.DOTALL,
)


class Luau:
    """Luau's functions, by the words that open and end a block; an `if` in an expression has no `end`."""

    BEFORE_STATEMENT = frozenset(
        {"then", "else", "do", "repeat", "until", "end", ")", "}", "]", ";", "?", ">", ""}
    )

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens

    def _text(self, i: int) -> str:
        return self._tokens[i].text if 0 <= i < len(self._tokens) else ""

    def rows(self) -> Iterator[tuple[tuple[str, ...], int]]:
        open_: list[tuple[str, tuple[str, ...]]] = [("", ())]
        given: list[int] = []
        inner = -1
        for i, token in enumerate(self._tokens):
            text, here = token.text, open_[-1][1]
            if text == "function":
                name, at = self._name(i, open_[-1][0] == "{")
                if name and open_[-1][0] != "type":
                    yield (*here, *name), self._tokens[at].at
                open_.append(("function", (*here, *name)))
            elif text == "if" and (inner == i - 1 or not self._is_statement(i)):
                given.append(len(open_))  # an expression, until its `else`
            elif text in ("then", "else") and given and given[-1] == len(open_):
                inner = i
                if text == "else":
                    given.pop()
            elif text in ("do", "repeat", "if"):
                open_.append((text, here))
            elif text in ("end", "until") and len(open_) > 1:
                open_.pop()
            elif text == "{":
                name, _ = self._name(i, open_[-1][0] == "{")
                alone = len(name) == 1 and self._text(i - 2) == name[0]
                named = open_[-1][0] == "{" or (not here and alone)
                open_.append(("{", (*here, *(name if named else ()))))
            elif text == "}" and len(open_) > 1:
                open_.pop()

    def _is_statement(self, i: int) -> bool:
        before = self._text(i - 1)
        return before in self.BEFORE_STATEMENT or (bool(re.match(r"\w", before)) and before not in (
            "return", "and", "or", "not", "in", "if", "elseif", "while",
        ))  # fmt: skip

    def _name(self, i: int, in_table: bool) -> tuple[tuple[str, ...], int]:
        """What a function or a table is called: before its parameters, or what it is given to."""
        if self._text(i) == "function" and re.match(r"[A-Za-z_]", self._text(i + 1)):
            names, at = [self._text(i + 1)], i + 1
            while self._text(at + 1) in (".", ":"):
                names.append(self._text(at + 2))
                at += 2
            return tuple(names), at
        at = i - 1
        if self._text(at) != "=" or self._text(at - 1) in ("=", "~", "<", ">"):
            return (), i
        at -= 1
        names = [self._text(at)]
        if not re.match(r"[A-Za-z_]", names[0]) or (self._text(at - 1) == "," and not in_table):
            return (), i
        while self._text(at - 1) in (".", ":") and re.match(r"[A-Za-z_]", self._text(at - 2)):
            at -= 2
            names.insert(0, self._text(at))
        return (() if self._text(at - 1) in (".", ":", "]") else tuple(names)), i


def read(path: str, language: str) -> dict[str, object]:
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return {"path": path, "error": str(error)}
    if language == "luau":
        plain = LUAU_OPAQUE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    else:
        plain = blanked(text, language)
    if plain.count("{") != plain.count("}"):
        return {"path": path, "error": "braces without another"}
    tokens = [Token(found[0], found.start()) for found in TOKEN.finditer(plain)]
    reader = {"swift": Swift, "dart": Dart, "luau": Luau}[language](tokens)
    rows = [{"symbol": ".".join(names), "name": plain.count("\n", 0, at) + 1} for names, at in reader.rows()]
    return {"path": path, "rows": rows}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(read(line.rstrip("\n"), sys.argv[1])))
