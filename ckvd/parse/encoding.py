"""Bytes of a file → UTF-8 text, with the way back from an offset in the text to one in the file.

A byte order mark decides; then NUL bytes mean binary; then a declaration (PEP 263 and its like), UTF-8,
and as the last resort Windows-1252 or Latin-1 with a note.
"""

from __future__ import annotations

import codecs
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: FF FE begins both
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    b"%PDF-",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",
    b"PK\x03\x04",
    b"7z\xbc\xaf",
    b"\x89PNG",
)
_CONTROL = bytes(c for c in range(32) if c not in b"\t\n\r\f\b\x1b") + b"\x7f"
_SNIFF = 8192

_KNOWN = re.compile(
    r"ascii|latin|iso_?8859|cp\d|koi8|mac_|gb|big5|euc_|shift_jis|iso2022|johab|hz$|kz1048|ptcp154|tis_620|utf_8"
)
_ESCAPING = re.compile(r"iso2022|hz$")  # ASCII bytes that may mean something else

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_MODELINE = re.compile(
    rb"-\*-.*?\bcoding[ \t]*:[ \t]*([-\w.]+).*?-\*-|\bvi?m?:.*?\bf(?:ile)?enc(?:oding)?=([-\w.]+)"
)
_XML = re.compile(rb"\A\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*[\"']([-\w.]+)")
_META = re.compile(rb"<meta\b[^>]{0,300}?\bcharset\s*=\s*[\"']?\s*([-\w.]+)", re.IGNORECASE)
_CSS = re.compile(rb"\A@charset \"([-\w.]+)\";")
_PHP = re.compile(rb"\bdeclare\s*\(\s*encoding\s*=\s*[\"']([-\w.]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decoded:
    """`text` is UTF-8 without a byte order mark; `encoding` is Python's name of what the file is in.

    `note` is a soft remark for the person who looks at the file's row, None where all is as it should be.
    """

    text: bytes
    encoding: str
    note: str | None = None
    _shift: int = 0
    _runs: _Runs | None = field(default=None, repr=False)

    def raw_offset(self, offset: int) -> int:
        """The offset in the raw file of the character that holds byte `offset` of `text`.

        Grows with `offset`; `len(text)` maps to the end of the file (to the end of the last character
        where bytes without a character follow it, as the escapes of ISO-2022 do).
        """
        return offset + self._shift if self._runs is None else self._runs.raw_offset(offset)


@dataclass(frozen=True, slots=True)
class Undecodable:
    """The file is no text; `reason` is the word for its row, `detail` one line a person can act on."""

    reason: Literal["binary", "encoding"]
    detail: str


@dataclass(frozen=True, slots=True)
class _Runs:
    """Stretches of characters that are equally wide in UTF-8 and equally wide in the file."""

    text_starts: array[int]
    raw_starts: array[int]
    text_widths: array[int]
    raw_widths: array[int]

    def raw_offset(self, offset: int) -> int:
        run = bisect_right(self.text_starts, offset) - 1
        characters = (offset - self.text_starts[run]) // self.text_widths[run]
        return self.raw_starts[run] + characters * self.raw_widths[run]


def decode(raw: bytes, language: str | None = None) -> Decoded | Undecodable:
    """Decode a whole file; `language` is the name of its language, which says how it declares encodings."""
    for bom, name in _BOMS:
        if raw.startswith(bom):
            return _decode_marked(raw, len(bom), name)
    if b"\0" in raw:
        return Undecodable("binary", "the file has NUL bytes, so it is taken as binary")
    if raw.startswith(_MAGIC):
        return Undecodable("binary", "the file begins like a compressed or binary format")
    declared = declared_encoding(raw, language)
    if raw.isascii() and not (declared and _ESCAPING.match(declared)):
        return Decoded(raw, "ascii" if declared == "ascii" else "utf-8")
    other = declared if declared and not declared.startswith("utf_8") else None
    decoded = _transcode(raw, 0, other, None) if other else None
    if decoded is not None:
        return decoded
    if (bad := _not_utf8(raw)) is None:
        return Decoded(raw, "utf-8", f"declared as {other} but valid as UTF-8 only" if other else None)
    sample = raw[:_SNIFF]
    if 50 * (len(sample) - len(sample.translate(None, _CONTROL))) > len(sample):
        return Undecodable("binary", "the file is not UTF-8 and has control bytes, so it is taken as binary")
    return _last_resort(raw, bad)


def declared_encoding(raw: bytes, language: str | None) -> str | None:
    """The encoding that the file's text names, as Python's codec name; None if none or one unknown."""
    found = next((m for m in _declarations(raw, language) if m), None)
    if found is None:
        return None
    label = next(g for g in found.groups() if g).decode("ascii", "replace").lower()
    label = re.sub(r"[-_](unix|dos|mac)$", "", label) if not label.startswith(("x-mac", "mac")) else label
    try:
        name = codecs.lookup(label).name.replace("-", "_")
    except LookupError:
        return None
    if name == "iso8859_1" and language in ("html", "css"):
        return "cp1252"  # the web's Latin-1: https://encoding.spec.whatwg.org/#names-and-labels
    return name if _KNOWN.match(name) else None


def _declarations(raw: bytes, language: str | None) -> Iterator[re.Match[bytes] | None]:
    head = raw[:2048]
    lines = head.split(b"\n", 2)[:2]
    if language in ("python", "ruby", "starlark", "julia", "elixir", "perl"):
        yield _COOKIE.match(lines[0])
        # PEP 263: the second line counts only below a first one that is blank or a comment.
        if len(lines) > 1 and re.match(rb"[ \t\f\r]*(?:#|$)", lines[0]):
            yield _COOKIE.match(lines[1])
    yield _XML.search(head)
    if language in ("html", "vue", "svelte", "erb", "ejs", "php"):
        yield _META.search(head)
    if language in ("css", "scss", "less"):
        yield _CSS.search(head)
    if language == "php":
        yield _PHP.search(head)
    for line in (*lines, *raw[-512:].split(b"\n")[-3:]):
        yield _MODELINE.search(line)


def _decode_marked(raw: bytes, skip: int, name: str) -> Decoded | Undecodable:
    if name == "utf-8":
        if b"\0" in raw:
            return Undecodable("binary", "the file has NUL bytes, so it is taken as binary")
        text = raw[skip:]
        bad = _not_utf8(text)
        return Decoded(text, "utf-8-sig", None, skip) if bad is None else _broken("UTF-8", raw, skip + bad)
    decoded = _transcode(raw, skip, name, None)
    if decoded is None:
        return _broken(name.upper())
    if b"\0" in decoded.text:
        return Undecodable("binary", "the file has NUL characters, so it is taken as binary")
    return decoded


def _broken(label: str, raw: bytes = b"", at: int | None = None) -> Undecodable:
    where = "" if at is None else f" ({_place(raw, at)})"
    return Undecodable(
        "encoding", f"the file begins with the mark of {label} but is not {label}{where}; save it as UTF-8"
    )


def _last_resort(raw: bytes, bad: int) -> Decoded:
    where = _place(raw, bad)
    if re.search(rb"[\x80-\x9f]", raw):
        windows = _transcode(raw, 0, "cp1252", f"not UTF-8: read as Windows-1252 ({where})")
        if windows is not None:
            return windows
    text = raw.decode("latin-1")
    note = f"not UTF-8: read as Latin-1 ({where})"
    return Decoded(text.encode(), "latin-1", note, 0, _fixed_runs(text, 0, "latin-1"))


def _not_utf8(raw: bytes) -> int | None:
    """The first byte that is not UTF-8."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def _place(raw: bytes, at: int) -> str:
    line = raw.count(b"\n", 0, at) + 1
    column = at - raw.rfind(b"\n", 0, at)
    return f"first at line {line}, column {column}"


_CLASSES = re.compile("([\0-\x7f]+)|([\x80-\u07ff]+)|([\u0800-\uffff]+)|([\U00010000-\U0010ffff]+)")


def _transcode(raw: bytes, skip: int, name: str, note: str | None) -> Decoded | None:
    try:
        text = raw[skip:].decode(name)
        encoded = text.encode("utf-8")
    except UnicodeError:
        return None
    runs = _fixed_runs(text, skip, name) if _fixed(name) else _stepped_runs(raw, skip, name)
    return Decoded(encoded, name.replace("_", "-"), note, 0, runs)


def _fixed(name: str) -> bool:
    return name.startswith(("utf-16", "utf-32", "latin", "iso8859", "koi8", "mac", "tis", "kz", "ptcp")) or (
        name.startswith("cp") and name not in ("cp932", "cp949", "cp950")
    )


def _runs(spans: Iterator[tuple[int, int, int, int]]) -> _Runs:
    """Runs out of `(text start, raw start, text width, raw width)`."""
    columns = array("q"), array("q"), array("q"), array("q")
    for span in spans:
        for column, value in zip(columns, span, strict=True):
            column.append(value)
    return _Runs(*columns)


def _fixed_runs(text: str, skip: int, name: str) -> _Runs:
    """Runs where a character's width follows from its UTF-8 width."""
    unit = 4 if "32" in name[:6] else 2 if "utf" in name else 1

    def spans() -> Iterator[tuple[int, int, int, int]]:
        at, raw_at = 0, skip
        for run in _CLASSES.finditer(text):
            width = run.lastindex or 1
            raw_width = 2 * unit if unit == 2 and width == 4 else unit
            yield at, raw_at, width, raw_width
            at += len(run[0]) * width
            raw_at += len(run[0]) * raw_width
        yield at, raw_at, 1, unit

    return _runs(spans())


def _stepped_runs(raw: bytes, skip: int, name: str) -> _Runs:
    """Runs of any other encoding, by feeding an incremental decoder one byte at a time."""
    decoder = codecs.getincrementaldecoder(name)()

    def spans() -> Iterator[tuple[int, int, int, int]]:
        at, begun, previous = 0, skip, (0, 0)
        for position in range(skip, len(raw)):
            for character in decoder.decode(raw[position : position + 1]):
                # No raw bytes of its own where one code gives two characters, as Big5-HKSCS does.
                shape = len(character.encode("utf-8")), position + 1 - begun
                if shape != previous:
                    yield at, begun, *shape
                previous = shape
                at, begun = at + shape[0], position + 1
        yield at, begun, 1, 1

    return _runs(spans())
