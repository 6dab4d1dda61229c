"""Files that no one writes by hand: generated, minified, editors' litter.

The rules are those that measurement left: each names what is certain, and nothing is guessed from size.
"""

from __future__ import annotations

import re

HEAD_BYTES = 16384
HEAD_LINES = 40
LONG_LINE = 1000
MINIFIED_BYTES = 2048
DATA_BYTES = 200
"""What a long line of data has at most beside its strings, numbers and words without end. Measured where most
bytes lie in long lines: at most 20 in the 6 files written by hand (an image in a view, a style sheet in a
string, geometries), 999 and more in each of 164 minified ones."""

_LOCK_FILES = frozenset(
    """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock composer.lock
    gemfile.lock cargo.lock poetry.lock pipfile.lock pdm.lock uv.lock pixi.lock pylock.toml conda-lock.yml
    go.sum go.work.sum mix.lock rebar.lock pubspec.lock podfile.lock cartfile.resolved package.resolved
    flake.lock .terraform.lock.hcl packages.lock.json paket.lock gradle.lockfile buildscript-gradle.lockfile
    stack.yaml.lock cabal.project.freeze shard.lock renv.lock module.bazel.lock chart.lock buf.lock
    """.split()  # noqa: SIM905 -- a list of names reads best as one
)
_PROSE = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".asciidoc", ".org", ".tex", ".ipynb", ".po")

_GO_MARKER = re.compile(rb"^// Code generated .* DO NOT EDIT\.\r?$", re.MULTILINE)
_GO_PACKAGE = re.compile(rb"^package\b", re.MULTILINE)
_AT_GENERATED = re.compile(
    rb"(?<![\w@.`'\"/-])@generated"
    rb"(?=\s*(?:$|\*/|-->|\.|<<|SignedSource|(?:by|from|with|using|automatically)\b))"
)
_LINE_COMMENT = re.compile(rb"\s*(#|//|--|;|%|!|'|rem\b|dnl\b)", re.IGNORECASE)
_IN_COMMENT = re.compile(rb"\s*(?:#|//|/\*|\*|--|;|%|<!--|\(\*|\{-|!|@generated)")
_BLOCKS = {
    b"/*": b"*/",
    b"<!--": b"-->",
    b'"""': b'"""',
    b"'''": b"'''",
    b"(*": b"*)",
    b"{-": b"-}",
    b"--[[": b"]]",
    b"=begin": b"=end",
    b"{#": b"#}",
}
_CODE = re.compile(rb"""(?!\s*(?:#|//|/?\*|--|;|%|[<{\["']))[^\n]*\w""")  # no comment, markup, JSON
_DATA = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*+"""|"(?:[^"\\]|\\.)*+"|\'(?:[^\'\\]|\\.)*+\'|`(?:[^`\\]|\\.)*+`'
    rb"|[\w+/=-]{200,}+|[\d\s.,]+"
)
_PREAMBLE = re.compile(
    rb"\s*(?:#!.*|<\?php|<\?xml.*\?>|<!doctype.*>|['\"]use \w+['\"];?|#.*coding[:=].*|@charset.*|)\s*$",
    re.IGNORECASE,
)
_SENTENCE = rb"(?:\A\W*|[.!:;>*]\W*|\n\W*(?=(?-i:[A-Z])))"
_NOT_BY_HAND = rb"\bdo(?:\s+not|n'?t)\s+(?:manually\s+|hand[- ])?(?:edit|modify)\b"
_UNLESS = rb"(?!\W+(?:the|these|those|unless|if|except|without|any|it)\b)"
_MADE = rb"\b(?:re-?)?generated?\b"
_BY_ITSELF = rb"(?:auto|machine)(?:matically)?[- ]?\s*generated\b"
_THIS = rb"(?:file|code|source|module|header)\b"
_BY_WHAT = rb"(?=\W*\Z|\s*[.,:;!(*\n-]|\s+(?:by|from|with|using|via|automatically|do|don'?t)\b)"
_FIRST_COMMENT = re.compile(
    b"|".join(
        [
            # One of these words without the other is said of notices, and of files in use.
            _MADE + rb".{0,120}?" + _NOT_BY_HAND + _UNLESS,
            _NOT_BY_HAND + rb".{0,120}?" + _MADE,
            _SENTENCE
            + rb"(?:this\s+is\s+)?(?:an?\s+)?"
            + _BY_ITSELF
            + rb"(?:\s+"
            + _THIS
            + rb")?"
            + _BY_WHAT,
            _SENTENCE + rb"(?:the|this)\s+" + _THIS + rb"[^.;]{0,40}?\s(?:is|was|has\s+been)\s+"
            rb"(?:" + _BY_ITSELF + rb"|generated\b" + _BY_WHAT + rb")",
            # From a file: what Django and its like begin for people to go on with tells a version.
            rb"\A\W*generated\s+(?:by|from|with)\s+[\w./-]*\w\.\w",
            rb"<auto-?generated\b",
        ]
    ),
    re.IGNORECASE | re.DOTALL,
)
"""What the first comment of a generated file says. Measured on 143 repositories: of 2,112 files that a wider
expression took for generated, 1,277 were migrations of Django, into which people write functions."""

_LITTER = re.compile(
    rb"\.#.*"  # Emacs' lock links
    rb"|#.*#"  # Emacs' autosave
    rb"|.*~|.+\.bak"  # backups
    rb"|\..*\.sw[a-px]|\..*\.swpx|\..*\.un~|_.*\.swp"  # Vim's swap and undo
    rb"|4913"  # Vim's probe for a writable folder
    rb"|.*___jb_(?:tmp|old|bak)___"  # JetBrains' safe write
    rb"|\.~lock\..*#|~\$.*"  # locks of LibreOffice and Word
    rb"|\..*\.kate-swp|\.goutputstream-\w+|\.fuse_hidden\w+|\.nfs[0-9a-f]{16,}|.*\.sb-[0-9a-f]{8}-\w+",
    re.DOTALL,
)


def reason(path: str, text: bytes, attribute: bool | None = None) -> str | None:
    """`generated` or `minified` for a file that is, else None. `text` is the whole file in UTF-8.

    `attribute` is the `linguist-generated` of `.gitattributes`: it decides where it is set.
    """
    if attribute is not None:
        return "generated" if attribute else None
    name = path.rpartition("/")[2].lower()
    if name in _LOCK_FILES or _marked(name, text):
        return "generated"
    if not name.endswith(_PROSE) and _minified(text):
        return "minified"
    return None


def _marked(name: str, text: bytes) -> bool:
    if name.endswith(".go"):
        package = _GO_PACKAGE.search(text)  # as go/ast.IsGenerated: a raw string below may hold the marker
        return _GO_MARKER.search(text, 0, package.start() if package else len(text)) is not None
    head = text[:HEAD_BYTES].split(b"\n")[:HEAD_LINES]
    if any(_AT_GENERATED.search(line) and _IN_COMMENT.match(line) for line in head):
        return True
    return _FIRST_COMMENT.search(b"\n".join(_first_comment(head))) is not None


def _first_comment(lines: list[bytes]) -> list[bytes]:
    """The words of the comment that a file begins with, below its `#!` and the like."""
    rest = iter(lines)
    first = next((line for line in rest if not _PREAMBLE.match(line)), b"")
    opener = next((mark for mark in _BLOCKS if first.lstrip().startswith(mark)), None)
    if opener is not None:
        body = b"\n".join([first.lstrip().removeprefix(opener), *rest]).partition(_BLOCKS[opener])[0]
        return [line.strip(b" \t\r*#=-") for line in body.split(b"\n")]
    marker = _LINE_COMMENT.match(first)
    words: list[bytes] = []
    while marker and (found := _LINE_COMMENT.match(first)) and found[1] == marker[1]:
        words.append(first[found.end() :].strip(b" \t\r*#=/-;"))
        first = next(rest, b"")
    return words


def _minified(text: bytes) -> bool:
    """Whether more than half of a file lies in lines of over 1,000 characters, unless these are data in code
    that is written by hand: no more than strings and numbers, and fewer than its lines with a word."""
    if len(text) <= MINIFIED_BYTES:
        return False
    lines = text.split(b"\n")
    long = [n for n in lines if len(n) > LONG_LINE and len(n.decode("utf-8", "replace")) > LONG_LINE]
    if 2 * sum(map(len, long)) <= len(text):
        return False
    code = sum(len(n) <= LONG_LINE and bool(_CODE.match(n)) for n in lines)
    return code <= len(long) or any(len(_DATA.sub(b"", n)) > DATA_BYTES for n in long)


def is_litter(name: bytes) -> bool:
    """Whether a file of that name (no folder) is an editor's swap, lock, probe or backup file."""
    return _LITTER.fullmatch(name) is not None
