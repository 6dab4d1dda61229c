"""Declarations by universal-ctags: `ctags.py LANGUAGE KINDS`, paths on standard input, one JSON line a file
on standard output. ctags says on which line a name stands and, for some kinds, where the declaration ends.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

_SEPARATORS = re.compile(r"::|/|\\|#|:|\.")
_OPERATOR = re.compile(r"operator (?=[^\w:])")
_SUITES = ("TEST", "GTEST_TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P")
_CASES = ("TEST_IMPL", "TEST_BEGIN", "BENCHMARK_IMPL", "HELPER_IMPL", "ACTION", "MATCHER")
_NUMBERS = ("", *range(2, 11))
_MACROS = [
    *(f"{macro}(a,b)=void a::b()" for macro in (*_SUITES, "BENCHMARK_F", "BENCHMARK_DEFINE_F")),
    *(f"{macro}(a,...)=void a()" for macro in _CASES),
    *(f"{macro}_P{number}(a,...)=void a()" for macro in ("ACTION", "MATCHER") for number in _NUMBERS),
    "TEST_CASE(...)=void TEST_CASE()",
    "GUARDED_BY(...)=",
]
"""What macros before a block define, for ctags: else the block is none to it, and calls in it are prototypes;
and that an attribute of fields is nothing."""
_TITLE = re.compile(r'\s*TEST_CASE\s*\(\s*(?:"(?P<title>(?:[^"\\]|\\.)+)"|(?P<name>\w+))')
_DEFINE = re.compile(r"\s*(?:override\s+|export\s+)?(define|endef)\b")
_FOR_TARGET = re.compile(
    r"[^\t\n:#=][^\n:#=]*::?\s*(?:(?:export|override|private)\s+)*[\w.-]+\s*[:?+!]{0,3}="
)
_MADE_UP = re.compile(r"__anon|^anon\w{8,}")


def file_scoped(path: str) -> list[str]:
    """The names of C#'s `namespace a.b;`, which this ctags passes over."""
    with open(path, encoding="utf-8", errors="replace") as file:
        found = re.search(r"^namespace\s+([\w.]+)\s*;", file.read(), re.MULTILINE)
    return found[1].split(".") if found else []


def no_rules(path: str) -> set[int]:
    """The lines of a makefile that ctags takes for rules: the text of a `define`, and a variable set for one
    target (`all: A = b`)."""
    found: set[int] = set()
    depth = 0
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            word = _DEFINE.match(line)
            depth += word is not None and word[1] == "define"
            if depth or _FOR_TARGET.match(line):
                found.add(number)
            depth = max(0, depth - (word is not None and word[1] == "endef"))
    return found


def titles(path: str) -> dict[int, str]:
    """By line, the tests that are named by a word or a string, which ctags makes no names of."""
    with open(path, encoding="utf-8", errors="replace") as file:
        found = ((number, _TITLE.match(line)) for number, line in enumerate(file, 1))
        return {number: title["title"] or title["name"] for number, title in found if title}


def is_call(tag: dict[str, str], scopes: list[str]) -> bool:
    """Whether what ctags takes for a prototype has no type and is none that needs no type: `MACRO(a);`."""
    name = tag["name"]
    untyped = tag["kind"] == "prototype" and "typeref" not in tag
    return untyped and not name.startswith(("~", "operator")) and scopes[-1:] != [name]


def main(language: str, kinds: str) -> None:
    paths = [line.rstrip("\n") for line in sys.stdin]
    command = [
        "ctags", "--options=NONE", "--output-format=json", "--fields=+neZt", "--sort=no",
        f"--languages={language}", f"--language-force={language}", f"--kinds-{language}={kinds}", "-L", "-",
    ]  # fmt: skip
    family = language in ("C", "C++")
    if family:
        command += [word for macro in _MACROS for word in ("-D", macro)]
    done = subprocess.run(
        command, input="\n".join(paths), capture_output=True, text=True, encoding="utf-8", errors="replace"
    )
    if done.returncode:
        sys.exit(done.stderr.strip() or "ctags failed")
    spaces = {path: file_scoped(path) for path in paths} if language == "C#" else {}
    passed = {path: no_rules(path) for path in paths} if language == "Make" else {}
    tests = {path: titles(path) for path in paths} if family else {}
    title = "TEST_CASE"
    rows: dict[str, list[dict[str, object]]] = {path: [] for path in paths}
    for tag in map(json.loads, done.stdout.splitlines()):
        scopes = [p for p in _SEPARATORS.split(tag.get("scope", "")) if p and not _MADE_UP.match(p)]
        if language == "C" and tag["kind"] in ("prototype", "function") and "scope" in tag:
            continue  # a macro that makes a field: C has no functions in a struct
        if family and is_call(tag, scopes):
            continue
        if not _MADE_UP.match(tag["name"]) and tag["line"] not in passed.get(tag["path"], ()):
            names = [*spaces.get(tag["path"], []), *scopes, tag["name"]]
            if tag["name"] == "TEST_CASE":
                title = tests.get(tag["path"], {}).get(tag["line"], "TEST_CASE")
            names = [title if name == "TEST_CASE" else _OPERATOR.sub("operator", name) for name in names]
            end = None if tag["kind"] == "macro" else tag.get("end")  # that of a macro is the line behind it
            # That of a selector in parts is the line of its last one.
            line = None if ":" in tag["name"] else tag["line"]
            rows[tag["path"]].append({"symbol": ".".join(names), "name": line, "end": end})
    for path, found in rows.items():
        print(json.dumps({"path": path, "rows": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
