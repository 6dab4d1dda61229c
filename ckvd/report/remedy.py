"""What was done with a file that did not come out clean, and what would mend it. Pure."""

from __future__ import annotations

import re

from ckvd.report.values import Failure

_WITHOUT_PARSE = {
    "unreadable": "make it readable (chmod u+r, and u+x on its folders), or ignore it",
    "timeout": "split the file, or leave it out in .ckvignore",
    "memory": "split the file, or leave it out in .ckvignore",
    "crashed": "report the file as a fault of the grammar; in .ckvignore it is left out",
}
_DONE = {
    "unreadable": "listed without content; tried again when it changes",
    "timeout": "cut into windows, without symbols; tried again when it changes",
    "memory": "cut into windows, without symbols; tried again when it changes",
    "crashed": "cut into windows, without symbols; tried again when it changes",
}
_ENCODING = {
    "# -*- coding: … -*- in its first line": frozenset(("python", "ruby", "julia", "elixir", "perl")),
    '<meta charset="…">': frozenset(("html", "vue", "svelte", "erb", "ejs", "php")),
    '@charset "…"; before all else': frozenset(("css", "scss")),
}
"""How a language states the encoding of its files."""
_MISSING = re.compile(r"""(['"])(.+?)\1 (is|seems to be) missing""")

# What a grammar calls the places for a name, for a value and for anything else, where one is missing.
_PLACES = {
    "a name": re.compile(r"(?:\w+_)?(?:identifier|word|name|key|variable|constant)"),
    "a value": re.compile(r"number|integer|string|\w*(?:_literal|expression|value)"),
    "something": re.compile(r"\w*_\w*"),
}
_CLOSERS = re.compile(r"[)\]}>]+|['\"`]+|end\w*|fi|done|esac|</.*")

_SAID = {
    "has no end": "close what is opened here, or take the opening mark out",
    "found a tab": "indent with spaces",
    "the file ends where more": "look for a bracket, a quote or a block that is left open above",
    "this is no JSON": "save it as a notebook again, or give it another suffix",
    "a notebook has 'cells'": "save it as a notebook again, or give it another suffix",
}
"""What mends it, by what a parser says of it."""

_TEMPLATED = re.compile(r"\.(j2|jinja2?|erb|ejs|tpl|tmpl|gotmpl|gohtml)$", re.IGNORECASE)
_OWN_BRACES = frozenset(("vue", "svelte", "jupyter", "php", "erb", "ejs", "jinja", "gotemplate"))
"""Languages that have such marks themselves, or that no template is written in."""

_C_LIKE = frozenset(("c", "cpp", "objc", "cuda"))

_A_TEMPLATE = (
    "this looks like a template: give it its template's suffix (.j2, .erb, .ejs), "
    "or set linguist-language in .gitattributes"
)

# (languages or None for all, what the damaged line looks like, the remedy); the first that fits.
_TRAPS: tuple[tuple[frozenset[str] | None, re.Pattern[str], str], ...] = (
    (None, re.compile(r"^([<=>|])\1{6}( |$)"), "resolve the merge conflict that is left in the file"),
    (
        frozenset(("python",)),
        re.compile(
            r"^\s*(print\s+[^\s(=.,:\[]|exec\s+['\"]|except\s+\w[\w.]*\s*,|raise\s+\w+\s*,)|\bur?['\"]|<>|`"
        ),
        "this looks like Python 2; the grammar knows Python 3 (2to3 or futurize rewrite it)",
    ),
    (
        None,
        re.compile(r"\{\{|\{%|<%|<\?=|^\s*#(if|set|foreach|end)\b.*\$|@@\w+@@|__[A-Z]+__|\$\{\{"),
        _A_TEMPLATE,
    ),
    (
        frozenset(("ruby", "lua", "luau", "julia", "elixir")),
        re.compile(r"^\s*(def\w*|class|module|function|if|unless|while|for|case|begin|do)\b"),
        "look from here on for a block without its 'end', or with one too many",
    ),
    (
        frozenset(("make",)),
        re.compile(r"^ +\S"),
        "begin a line of a recipe with a tab, not with blanks",
    ),
    (
        _C_LIKE,
        re.compile(r"^\s*#\s*(if|ifdef|ifndef|else|elif|endif)\b"),
        "a branch of the preprocessor cuts a declaration in two; keep whole declarations within each branch",
    ),
    (
        _C_LIKE,
        re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b"),
        "this looks like a macro, which no grammar can expand: end its use with ';', or ignore it here: "
        "the symbols around it are intact",
    ),
)


def done(f: Failure) -> str:
    """What stands in the index instead of a clean result."""
    if f.reason in _DONE:
        return _DONE[f.reason]
    kept = "1 symbol kept" if f.symbols == 1 else f"{f.symbols or 'no'} symbols kept"
    if f.strategy == "names":
        return f"{kept} by name; the text of a {f.reason} file is not indexed"
    if f.parse_status == "partial":
        return f"{kept}; windows over the damage"
    if f.parse_status == "failed":
        return f"{kept}; windows over all else"
    return "listed without content" if f.strategy == "skipped" else "indexed all the same"


def remedy(f: Failure, line: str | None) -> str:
    """What would mend it. `line` is the source line of the first damage, None where it cannot be shown."""
    if f.reason in _WITHOUT_PARSE:
        return _WITHOUT_PARSE[f.reason]
    if f.reason == "encoding":
        return _encoding(f)
    missing = _MISSING.search(f.detail or "")
    if line and (missing is None or missing[3] == "is"):  # else putting it back made all of the file readable
        for among, looks, words in _TRAPS:
            if words is _A_TEMPLATE and (f.language in _OWN_BRACES or _TEMPLATED.search(f.path)):
                continue
            if (among is None or f.language in among) and looks.search(line):
                return words
    if missing:
        return _put_back(missing[2], missing[1])
    for words, mend in _SAID.items():
        if words in (f.detail or ""):
            return mend
    if line is not None and _unbalanced(line):
        return "look for a bracket, brace or quote that is left open at or above this line"
    return (
        "mend the syntax at this line; if a compiler takes it, the grammar does not know the construct, "
        "and only the damaged ranges go without symbols"
    )


def _encoding(f: Failure) -> str:
    if (f.detail or "").startswith("declared as"):
        return "take the declaration out, or save the file in what it declares"
    how = next((how for how, among in _ENCODING.items() if f.language in among), None)
    if how is None or f.strategy == "skipped":  # a byte order mark is stronger than what the text declares
        return "save it as UTF-8"
    return f"save it as UTF-8, or state its encoding ({how})"


def _put_back(what: str, quote: str) -> str:
    place = next((place for place, kinds in _PLACES.items() if kinds.fullmatch(what)), None)
    if place:
        return f"{place} is missing here: write it, or take out the mark before it"
    mark = f"{quote}{what}{quote}"
    if _CLOSERS.fullmatch(what):
        return f"add the missing {mark}; look for what is left open at or above this line"
    return f"add the missing {mark} here, or where what stands before it ends"


def _unbalanced(line: str) -> bool:
    pairs = ("()", "[]", "{}")
    return any(line.count(pair[0]) != line.count(pair[1]) for pair in pairs) or any(
        line.count(q) % 2 for q in "\"'`"
    )
