"""Blanking of what a grammar cannot read, offset for offset, so that it can read the rest.

A mask replaces bytes by spaces, or by letters where a name must stay one, and never changes a text's length
or its lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ckvd.parse.blanks import blanked
from ckvd.parse.c_mask import c_attributes, c_branches, c_macros, c_statements, csharp_branches
from ckvd.parse.cpp_mask import c_blocks, cpp_declarations
from ckvd.parse.julia_mask import julia_pictures, julia_symbols
from ckvd.parse.kotlin_mask import (
    kotlin_annotations,
    kotlin_constructors,
    kotlin_delegates,
    kotlin_newer,
    kotlin_one_line,
)
from ckvd.parse.luau import luau_aliases, luau_types
from ckvd.parse.objc import objc_bodies, objc_macros
from ckvd.parse.perl import perl_forwards, perl_operators
from ckvd.parse.powershell import powershell_statements
from ckvd.parse.proto_mask import proto_groups
from ckvd.parse.python_mask import python_newer

Mask = Callable[[bytes], bytes]
"""A text → the same text, blanked here and there; of several the one with the fewest errors is taken."""


def blank(found: re.Match[bytes]) -> bytes:
    return blanked(found[0])


_EXTENSION = re.compile(
    rb"(?<![\w.@\"])extension(?P<of>\s*+(?:<[^<>{}();]*+>\s*+)?+)(?P<given>\((?:[^(){};]|\([^(){};]*+\))*+\))(?=[^(){};=]*+\{)"
)


def csharp_extensions(source: bytes) -> bytes:
    """The blocks of extensions (`extension(string s) {`) as classes, which else are read as constructors."""
    return _EXTENSION.sub(lambda found: b"class   _" + found["of"] + blanked(found["given"]), source)


_CONDITION = re.compile(rb"^[ \t]*#(?:if|elseif|else|endif|error|warning)\b[^\n]*", re.MULTILINE)


_NEWER_SWIFT = re.compile(
    rb"(?<=\bthrows)[ \t]*\([^()\n]*\)|(?<=\bnonisolated)\(unsafe\)|\bisolated(?=\s+deinit\b)"
    rb"|(?<=[<,])\s*let(?=\s+\w+\s*:)|(?<=[:>][ \t])sending(?=[ \t]+[\w(\[@])"
)


def swift_newer(source: bytes) -> bytes:
    """The type of what is thrown, words of isolation, and the `let` of a generic value."""
    return _NEWER_SWIFT.sub(blank, source)


def swift_conditions(source: bytes) -> bytes:
    """The lines of conditional compilation and what they complain of; both branches stay."""
    return _CONDITION.sub(blank, source)


_HEREDOC = re.compile(rb"""(?<![\w<])<<[~-]?(["'`]?)([A-Za-z_]\w*)\1""")


def ruby_heredocs(source: bytes) -> bytes:
    """The text of heredocs, which may hold interpolations with heredocs of their own."""
    lines = source.split(b"\n")
    out: list[bytes] = []
    open_: list[bytes] = []
    for line in lines:
        if open_:
            if line.strip() == open_[0]:
                open_.pop(0)
                out.append(line)
            else:
                out.append(b" " * len(line))
            continue
        out.append(line)
        open_ = [found[2] for found in _HEREDOC.finditer(line)]
    return source if open_ else b"\n".join(out)


_ENDLESS = re.compile(
    rb"^([ \t]*(?:\w+[ \t]+)?def[ \t]+(?:self\.)?\w+[?!]?(?:\([^()\n]*\))?[ \t]*=[ \t]+)"
    rb"((?!(?:if|unless|case|while|until|not|begin|yield|for)\b)[a-z_]\w*[?!]?[ \t]+"
    rb"(?!(?:if|unless|and|or|while|until|rescue|do)\b)[\"':@\w\[]"
    rb"[^\n#]*?(?<![\s,\\|({\[])(?<!\bdo))(?=[ \t]*\r?$)",
    re.MULTILINE,
)


def ruby_endless(source: bytes) -> bytes:
    """Besides `ruby_heredocs`, one word for the call without parentheses that is all of a method
    (`def f = puts "a"`)."""
    return _ENDLESS.sub(lambda found: found[1] + b"_" * len(found[2]), ruby_heredocs(source))


_BARE_AMPERSAND = re.compile(rb"(?<!&)&(?!&|#?\w+;)")


def jsx_ampersands(source: bytes) -> bytes:
    """A `|` for each `&` of text, which the grammar takes for the start of an entity.

    In code and in types a `|` is as good, so that text need not be told from them.
    """
    return _BARE_AMPERSAND.sub(b"|", source)


_ACCESSOR = re.compile(rb"\baccessor(?=[ \t]+(?!(?:in|of|instanceof|as|satisfies|is|extends)\b)[\w$#\[\"'])")


def js_accessors(source: bytes) -> bytes:
    """Besides `jsx_ampersands`, the word before a field with a getter and a setter (`static accessor x`)."""
    return _ACCESSOR.sub(blank, jsx_ampersands(source))


_NAMED_ACCESSOR = re.compile(rb"(?<![.\w$])accessor(?=\s*[(=:;?!<])")
_EXPORTED_TYPES = re.compile(rb"(?<=\bexport)[ \t]+type(?=[ \t]*\*)")
_TAG_TYPES = re.compile(rb"(?<=[\w)\]])<(?:[^<>`;=]|=>|<(?:[^<>`;=]|=>|<[^<>`;=]*+>)*+>)*+>(?=`)")


def ts_newer(source: bytes) -> bytes:
    """That word too, the `type` of `export type * from`, and the types of a tag (`` f<T>`…` ``);
    and another word where `accessor` is a name."""
    text = _NAMED_ACCESSOR.sub(b"_ccessor", _ACCESSOR.sub(blank, source))
    return _TAG_TYPES.sub(blank, _EXPORTED_TYPES.sub(blank, text))


def tsx_newer(source: bytes) -> bytes:
    """What `jsx_ampersands` and `ts_newer` take out."""
    return ts_newer(jsx_ampersands(source))


_HERE_DOCUMENT = re.compile(
    rb"<<<[ \t]*(['\"]?)([A-Za-z_]\w*)\1(\r?\n.*?^[ \t]*)\2\b", re.DOTALL | re.MULTILINE
)


def php_heredocs(source: bytes) -> bytes:
    """Blank strings for heredocs and nowdocs: the grammar knows little of what may follow their end."""

    def quoted(found: re.Match[bytes]) -> bytes:
        return b"'" + blanked(found[0])[1:-1] + b"'"

    return _HERE_DOCUMENT.sub(quoted, source)


_HALT = re.compile(rb"^[ \t]*__halt_compiler\s*\(\s*\)\s*;", re.MULTILINE | re.IGNORECASE)


def php_halted(source: bytes) -> bytes:
    """What comes behind `__halt_compiler();`, which is data; in a heredoc it is a text like another."""
    if not _HALT.search(source):
        return source
    found = _HALT.search(php_heredocs(source))
    return source[: found.end()] + blanked(source[found.end() :]) if found else source


_BACKTICK = re.compile(
    rb"\A(?:[ \t]*#[ \t]*\w+[ \t]*=[^\n]*\n)*?[ \t]*#[ \t]*escape[ \t]*=[ \t]*`", re.IGNORECASE
)


_FLAG = re.compile(rb"(?<=[ \t])--(?:link|parents|keep-git-dir|checksum)(?:=\S+)?(?=[ \t])")


def dockerfile_flags(source: bytes) -> bytes:
    """Besides `dockerfile_escapes`, flags of COPY and ADD."""
    return _FLAG.sub(blank, dockerfile_escapes(source))


_BLANKS_LAST = re.compile(rb"(?<=[^\s\\`])[ \t]++(?=\r?$)", re.MULTILINE)


def dockerfile_blanks(source: bytes) -> bytes:
    """Ends of lines for the blanks before one, which make the grammar take the next line for more paths."""
    return _BLANKS_LAST.sub(lambda found: b"\n" * len(found[0]), source)


def dockerfile_escapes(source: bytes) -> bytes:
    """Backslashes for the backticks that go on with a line, where the first comment makes them do so."""
    if not _BACKTICK.match(source):
        return source
    return re.sub(rb"`(?=[ \t]*\r?$)", rb"\\", source, flags=re.MULTILINE)


_DART = re.compile(
    rb"^library[ \t]*;"
    rb"|^[ \t]+\babstract[ \t]+(?!(?:base|final[ \t]+class|interface|mixin|class|sealed)\b)"
    rb"|^[ \t]+external(?=[ \t][^\n(){}=]*;)",
    re.MULTILINE,
)


def dart_newer(source: bytes) -> bytes:
    """A `library;` without a name, and the `abstract` and `external` of fields."""
    return _DART.sub(blank, source)


_EXTENDED_SCHEMA = re.compile(rb"\bextend\s+schema(?:\s*+@\w++(?:\s*+\([^()]*+\))?+)++(?!\s*\{)")


def graphql_links(source: bytes) -> bytes:
    """An `extend schema @link(…)` without a block."""
    return _EXTENDED_SCHEMA.sub(blank, source)


_DESTRUCTURED = re.compile(
    rb"^[ \t]*(?:(?:(?:const|var)[ \t]+)?[\w.*\[\]]+(?:[ \t]*:[ \t]*[\w.?*\[\]]+)?,[ \t]*)+"
    rb"(?=(?:(?:const|var)[ \t]+)?[\w.*\[\]]+[ \t]*(?::[^=;\n]+)?=[^=>])",
    re.MULTILINE,
)


_LABELLED = re.compile(rb"\b\w+:[ \t]*(?=switch\b)")


def zig_newer(source: bytes) -> bytes:
    """All but the last of the names that one `=` sets (`const a, const b = pair;`); labels of `switch`."""
    return _LABELLED.sub(blank, _DESTRUCTURED.sub(blank, source))


_PRIMITIVE_MACRO = re.compile(rb"\b(?:str|bool|char|[iu](?:8|16|32|64|128|size)|f32|f64)!(?=[ \t]*[\[({])")


def rust_primitive_macros(source: bytes) -> bytes:
    """The name of a macro that is called like a primitive type (`str![…]`)."""
    return _PRIMITIVE_MACRO.sub(blank, source)


MASKS: dict[str, Mask] = {
    "c_attributes": c_attributes,
    "c_blocks": c_blocks,
    "c_branches": c_branches,
    "c_macros": c_macros,
    "c_statements": c_statements,
    "cpp_declarations": cpp_declarations,
    "csharp_branches": csharp_branches,
    "csharp_extensions": csharp_extensions,
    "dart_newer": dart_newer,
    "dockerfile_blanks": dockerfile_blanks,
    "dockerfile_escapes": dockerfile_escapes,
    "dockerfile_flags": dockerfile_flags,
    "graphql_links": graphql_links,
    "js_accessors": js_accessors,
    "jsx_ampersands": jsx_ampersands,
    "julia_pictures": julia_pictures,
    "julia_symbols": julia_symbols,
    "kotlin_annotations": kotlin_annotations,
    "kotlin_constructors": kotlin_constructors,
    "kotlin_delegates": kotlin_delegates,
    "kotlin_newer": kotlin_newer,
    "kotlin_one_line": kotlin_one_line,
    "luau_aliases": luau_aliases,
    "luau_types": luau_types,
    "objc_bodies": objc_bodies,
    "objc_macros": objc_macros,
    "perl_forwards": perl_forwards,
    "perl_operators": perl_operators,
    "php_halted": php_halted,
    "php_heredocs": php_heredocs,
    "powershell_statements": powershell_statements,
    "proto_groups": proto_groups,
    "python_newer": python_newer,
    "ruby_endless": ruby_endless,
    "ruby_heredocs": ruby_heredocs,
    "rust_primitive_macros": rust_primitive_macros,
    "swift_conditions": swift_conditions,
    "swift_newer": swift_newer,
    "ts_newer": ts_newer,
    "tsx_newer": tsx_newer,
    "zig_newer": zig_newer,
}
