"""What was done with a file that did not come out clean, and what would mend it. Pure."""

from __future__ import annotations

import re

from ckvd.report.values import Failure

_WITHOUT_PARSE = {
    "unreadable": "make it readable (chmod u+r, and u+x on its folders), or ignore it",
    "encoding": "save it as UTF-8, or state its encoding where the language has a way to",
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
_MISSING = re.compile(r"""(['"])(.+?)\1 (is|seems to be) missing""")

_C_LIKE = frozenset(("c", "cpp", "objc", "cuda"))

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
        "this looks like a template: give it its template's suffix (.j2, .erb, .ejs), "
        "or set linguist-language in .gitattributes",
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
    if f.parse_status == "partial":
        return f"{kept}; windows over the damage"
    if f.parse_status == "failed":
        return f"{kept}; windows over all else"
    return "listed without content" if f.strategy == "skipped" else "indexed all the same"


def remedy(f: Failure, line: str | None) -> str:
    """What would mend it. `line` is the source line of the first damage, None where it cannot be shown."""
    if f.reason in _WITHOUT_PARSE:
        return _WITHOUT_PARSE[f.reason]
    missing = _MISSING.search(f.detail or "")
    if line and (missing is None or missing[3] == "is"):  # else putting it back made all of the file readable
        for among, looks, words in _TRAPS:
            if (among is None or f.language in among) and looks.search(line):
                return words
    if missing:
        return f"add the missing {missing[2]}; look for what is left open at or above this line"
    if line is not None and _unbalanced(line):
        return "look for a bracket, brace or quote that is left open at or above this line"
    return (
        "mend the syntax at this line; if a compiler takes it, the grammar does not know the construct, "
        "and only the damaged ranges go without symbols"
    )


def _unbalanced(line: str) -> bool:
    pairs = ("()", "[]", "{}")
    return any(line.count(pair[0]) != line.count(pair[1]) for pair in pairs) or any(
        line.count(q) % 2 for q in "\"'`"
    )
