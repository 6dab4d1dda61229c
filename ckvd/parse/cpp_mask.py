"""Masks of what C++ allows and its grammar does not know, blanked so that the declarations around it stay."""

from __future__ import annotations

import re

from ckvd.parse.blanks import blanked
from ckvd.parse.c_mask import c_types

LOOK_BACK = 300
"""How many bytes before a macro on a line of its own are looked at for the end of what comes before."""

_ATTRIBUTE = rb"""\[\[(?:[^\[\]"]|"(?:[^"\\\n]|\\.)*+"|\[[^\[\]]*+\])*+\]\]"""
_CALLED = rb"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\))*+\)"
_ARGUMENTS = rb"<(?:[^<>;{}]|<(?:[^<>;{}]|<[^<>;{}]*+>)*+>)*+>"

_BEHIND_A_WORD = re.compile(rb"(?<=[\w)])[ \t]*+" + _ATTRIBUTE)
_ENUM_ATTRIBUTES = re.compile(
    rb"\b(enum(?:\s+(?:class|struct))?)((?:\s+(?:__attribute__|__declspec|alignas)\s*+" + _CALLED + rb")++)"
)
_INSTANTIATION = re.compile(
    rb"^[ \t]*(?:extern[ \t]+)?template[ \t]+(?:class|struct|union)\b[^;{}]*;", re.MULTILINE
)
_CALL_BEFORE_A_BLOCK = re.compile(
    rb"^(?P<macro>[ \t]*(?:[A-Z][A-Z0-9_]*|Test)[ \t]*\()(?=[^(){};]*[,\"])"
    rb"(?P<given>(?:[^(){};\"]|\"(?:[^\"\\\n]|\\.)*+\"|" + _CALLED + rb")*+)(?=\)\s*+\{)",
    re.MULTILINE,
)
_OF_MEMBER = re.compile(rb"(?:(?:\b[A-Za-z_]\w*+(?:\s*+" + _ARGUMENTS + rb")?+)?\s*+::\s*+)++(?=\*)")
_QUALIFIED_MEMBER = re.compile(
    rb"(::\s*+\*\s*+\w*\s*+\)\s*+" + _CALLED + rb")((?:\s*+(?:const|volatile|noexcept)\b|\s*+&)++)"
)
_BEHIND_QUALIFIER = re.compile(
    rb"(?<=\))(\s*+(?:(?:const|noexcept|override|final)\b\s*+)++)([A-Z][A-Z0-9_]{3,}\([^(){};\n]*+\))(?=\s*+\{)"
)
_ALONE = re.compile(rb"^[A-Z][A-Z0-9]*_[A-Z0-9_]*+[ \t]*+(?=\r?\n[ \t]*+\r?\n)", re.MULTILINE)
_WHOLE = re.compile(rb"(?:\A|[;}]|\*/|^[ \t]*//[^\n]*|^[ \t]*#(?:[^\n]*[^\n\\])?)\s*\Z", re.MULTILINE)
_THROUGH_POINTER = re.compile(rb"->\*")


def c_blocks(source: bytes) -> bytes:
    """Besides `c_types`, what stands between `enum` and its name; macros between blank lines and statements;
    and one word for the arguments of a macro whose call comes before a block (`TEST(a, b) {`,
    `SCENARIO("…") {`), which is then read as a function."""
    text = _CALL_BEFORE_A_BLOCK.sub(_one_word, _ALONE.sub(_unless_inside, source))
    return _ENUM_ATTRIBUTES.sub(lambda found: found[1] + blanked(found[2]), c_types(text))


def _unless_inside(found: re.Match[bytes]) -> bytes:
    """A macro on its line alone (`LIB_END_NAMESPACE`), which is no type of what comes behind a blank line."""
    before = found.string[max(0, found.start() - LOOK_BACK) : found.start()]
    return blanked(found[0]) if _WHOLE.search(before) else found[0]


def _one_word(found: re.Match[bytes]) -> bytes:
    given = found["given"]
    word = given.partition(b"\n")[0].rstrip(b"\r")
    return found["macro"] + b"_" * len(word) + blanked(given[len(word) :])


def cpp_declarations(source: bytes) -> bytes:
    """Besides `c_blocks`, explicit instantiations, which define nothing; attributes behind a word;
    macros between a method's qualifiers and its body; and the class in the type of a pointer to a member,
    which is then any pointer."""
    text = _BEHIND_A_WORD.sub(lambda found: blanked(found[0]), source)
    text = _QUALIFIED_MEMBER.sub(lambda found: found[1] + blanked(found[2]), text)
    text = _BEHIND_QUALIFIER.sub(lambda found: found[1] + blanked(found[2]), text)
    text = _OF_MEMBER.sub(lambda found: blanked(found[0]), text)
    text = _THROUGH_POINTER.sub(b" + ", text)
    text = _INSTANTIATION.sub(lambda found: blanked(found[0]), text)
    return c_blocks(text)
