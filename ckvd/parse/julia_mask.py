"""What Julia's grammar cannot read, in a form that it reads, byte for byte."""

from __future__ import annotations

import re

from ckvd.parse.blanks import blanked

_PICTURE = re.compile(rb"\xe2[\x98-\x9e][\x80-\xbf]|\xef\xb8\x8f|\xe2\x80\x8d|\xf0\x9f[\x80-\xab][\x80-\xbf]")


def julia_pictures(source: bytes) -> bytes:
    """Letters in place of pictures (`🍭`), which Julia takes as parts of names and the grammar does not."""
    return _PICTURE.sub(lambda found: b"_" * len(found[0]), source)


_KEYWORD = re.compile(
    rb"(?<![\w:)\]}]):(?:abstract|baremodule|begin|break|catch|const|continue|do|else|elseif|end|export|finally|for"
    rb"|function|global|if|import|in|isa|let|local|macro|module|mutable|primitive|quote|return|struct|try|using"
    rb"|where|while)\b(?!\()"
)
_TRAIT = re.compile(rb"::(::)(?=[!(\w])")
_TRAIT_OF = re.compile(rb";\s*!?\w+\{\w+\}(?=\})")


def julia_symbols(source: bytes) -> bytes:
    """Besides `julia_pictures`, symbols that are keywords (`:in`), and the traits of SimpleTraits.jl."""
    text = _KEYWORD.sub(lambda found: b":" + b"x" * (len(found[0]) - 1), julia_pictures(source))
    text = _TRAIT.sub(lambda _found: b"::  ", text)
    return _TRAIT_OF.sub(lambda found: blanked(found[0]), text)
