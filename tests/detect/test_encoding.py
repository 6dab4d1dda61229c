"""Decoding a file, and the way back from an offset in the text to one in the file."""

from __future__ import annotations

import codecs
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckvd.parse.encoding import Decoded, Undecodable, decode

MARKED = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
DECLARABLE = [
    "ascii", "latin-1", "cp1252", "cp1251", "koi8-r", "mac-roman", "iso8859-15", "gbk", "gb18030",
    "big5", "big5hkscs", "euc-jp", "euc-kr", "shift_jis", "cp932", "iso2022_jp", "hz", "johab",
]  # fmt: skip
TEXTS = st.text(
    st.one_of(
        st.characters(min_codepoint=1, max_codepoint=0x7F),
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
        st.sampled_from("aé€д中日本語ｱﾊ\u0304Ê😀\n\r"),
    )
)


def decoded(raw: bytes, language: str | None = None) -> Decoded:
    result = decode(raw, language)
    assert isinstance(result, Decoded), result
    return result


def check_mapping(result: Decoded, raw: bytes, codec: str) -> None:
    """Each character's bytes in the file lie where the mapping says, in order and without a gap."""
    text = result.text.decode()
    at = 0
    offsets = []
    for character in text:
        offsets.append(result.raw_offset(at))
        width = len(character.encode())
        assert {result.raw_offset(at + i) for i in range(width)} == {offsets[-1]}
        at += width
    assert at == len(result.text)
    offsets.append(result.raw_offset(at))
    assert offsets == sorted(offsets)
    assert offsets[-1] <= len(raw)
    decoder = codecs.getincrementaldecoder(codec)()
    back = [decoder.decode(raw[a:b]) for a, b in itertools.pairwise(offsets)]
    assert "".join(back) == text
    for cut in range(len(back)):
        assert "".join(back[:cut]) == text[:cut] or offsets[cut] == offsets[cut + 1]


@pytest.mark.parametrize("codec", MARKED)
@given(text=TEXTS)
def test_marked_text_maps_back(codec: str, text: str) -> None:
    raw = MARKED[codec] + text.encode(codec)
    result = decoded(raw)
    assert result.text == text.encode()
    assert result.note is None
    offsets = [result.raw_offset(len(text[:i].encode())) for i in range(len(text) + 1)]
    assert offsets == [len(MARKED[codec]) + len(text[:i].encode(codec)) for i in range(len(text) + 1)]


@pytest.mark.parametrize("codec", DECLARABLE)
@given(text=TEXTS)
def test_declared_text_maps_back(codec: str, text: str) -> None:
    body = text.replace("\x1b", "").encode(codec, "ignore").decode(codec)
    raw = f"# coding: {codec}\n".encode() + body.encode(codec)
    result = decode(raw, "python")
    if isinstance(result, Undecodable):  # begins like a binary format: cannot happen below a cookie
        pytest.fail(result.detail)
    assert result.text.decode() == raw.decode(codec)
    check_mapping(result, raw, codec)


@given(raw=st.binary())
def test_any_bytes_have_one_outcome(raw: bytes) -> None:
    result = decode(raw)
    if isinstance(result, Undecodable):
        assert result.reason in ("binary", "encoding")
        assert result.detail
        return
    result.text.decode("utf-8")
    assert b"\0" not in result.text
    offsets = [result.raw_offset(i) for i in range(len(result.text) + 1)]
    assert offsets == sorted(offsets)
    assert offsets[-1] == len(raw)


def test_plain_utf8_is_the_file_itself() -> None:
    result = decoded("naïve = 'ü'\r\n".encode(), "python")
    assert (result.text, result.encoding, result.note) == ("naïve = 'ü'\r\n".encode(), "utf-8", None)
    assert result.raw_offset(9) == 9


def test_a_mark_counts_in_the_file_and_not_in_the_text() -> None:
    raw = b"\xef\xbb\xbfdef at_byte_three():\n    return 3\n"
    result = decoded(raw, "python")
    assert result.text == raw[3:]
    assert (result.raw_offset(0), result.raw_offset(len(result.text))) == (3, len(raw))


def test_utf16_java_source() -> None:
    raw = codecs.BOM_UTF16_LE + "class Paket {\n\tvoid senden() {}\n}\n".encode("utf-16-le")
    result = decoded(raw, "java")
    assert result.text == b"class Paket {\n\tvoid senden() {}\n}\n"
    assert raw[result.raw_offset(15) : result.raw_offset(31)].decode("utf-16-le") == "void senden() {}"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'def before():\n    return 0\n\nBLOB = " \0 "\n', "binary"),
        (b"\x7fELF" + b"\0" * 40 + b"def not_code(): pass\n", "binary"),
        ("class K { }\n".encode("utf-16-le"), "binary"),
        (b"\xef\xbb\xbfa\0b", "binary"),
        (codecs.BOM_UTF16_LE + "a\0b".encode("utf-16-le"), "binary"),
        (codecs.BOM_UTF16_LE + b"abc", "encoding"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8a\0", "encoding"),
        (b"\xef\xbb\xbfcaf\xe9", "encoding"),
        (b"\x1f\x8b\x08\x01\x02\x03\xff", "binary"),
        (b"\x01\x02\x03\x04\xff\xfe\x80abc", "binary"),
    ],
)
def test_no_text_is_said_and_why(raw: bytes, reason: str) -> None:
    result = decode(raw)
    assert isinstance(result, Undecodable)
    assert result.reason == reason


@pytest.mark.parametrize(
    ("raw", "language", "encoding", "text"),
    [
        (b"#!/usr/bin/python\n# -*- coding: latin-1 -*-\nx = '\xe9'\n", "python", "iso8859-1", "é"),
        (b"x = 1\n# coding: cp1251\ny = '\xe9'\n", "python", "latin-1", "é"),
        (b"# vim: set fileencoding=cp1251 :\nx = '\xe9'\n", "python", "cp1251", "й"),
        (b"# encoding: koi8-r\nx = '\xca'\n", "ruby", "koi8-r", "й"),
        (b"<?xml version='1.0' encoding='ISO-8859-15'?>\n<a>\xa4</a>", None, "iso8859-15", "€"),
        (b"<html><meta charset=windows-1251>\xe9", "html", "cp1251", "й"),
        (b"<html><meta http-equiv=x content='text/html; charset=ISO-8859-1'>\x80", "html", "cp1252", "€"),
        (b'@charset "shift_jis";\n/* \x93\xfa */', "css", "shift-jis", "日"),
        (b";; -*- mode: lisp; coding: euc-jp-unix -*-\n\xc6\xfc", None, "euc-jp", "日"),
        (b"// caf\xe9\n", "go", "latin-1", "é"),
        (b"// \x93caf\xe9\x94\n", "go", "cp1252", "“café”"),
        (b"// \x81\xe9\n", "go", "latin-1", "\x81é"),
        (b"# coding: no-such-codec\nx = '\xe9'\n", "python", "latin-1", "é"),
        (b"# coding: rot13\nx = 'a'\n", "python", "utf-8", "x = 'a'"),
        ("# coding: ascii\nx = 'é'\n".encode(), "python", "utf-8", "é"),
        (b"# coding: iso2022_jp\n\x1b$BF|\x1b(B", "python", "iso2022-jp", "日"),
    ],
)
def test_declarations(raw: bytes, language: str | None, encoding: str, text: str) -> None:
    result = decoded(raw, language)
    assert result.encoding == encoding
    assert text in result.text.decode()


def test_the_last_resort_says_so() -> None:
    assert decoded(b"caf\xe9").note == "not UTF-8: read as Latin-1 (first at line 1, column 4)"
    windows = decoded("a\né\n".encode() + b"\x93caf\xe9\x94").note
    assert windows == "not UTF-8: read as Windows-1252 (first at line 3, column 1)"
    assert (
        decoded("# coding: ascii\n'é'".encode(), "python").note == "declared as ascii but valid as UTF-8 only"
    )
