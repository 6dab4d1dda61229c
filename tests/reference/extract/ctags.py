"""Declarations by universal-ctags: `ctags.py LANGUAGE KINDS`, paths on standard input, one JSON line a file
on standard output. ctags says on which line a name stands and, for some kinds, where the declaration ends.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

_SEPARATORS = re.compile(r"::|/|\\|#|:|\.")
_OPERATOR = re.compile(r"operator (?=\W)")
_BY_SUITE = re.compile(r"(?:(?:GTEST_|TYPED_)?TEST|TEST_[FP]|TYPED_TEST_P|BENCHMARK_(?:DEFINE_)?F)$")
_BY_CASE = re.compile(r"(?:TEST_(?:IMPL|BEGIN|CASE)|(?:BENCHMARK|HELPER)_IMPL|MATCHER(?:_P\d*)?|BENCHMARK)$")
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


def own(name: str, signature: str) -> list[str]:
    """The name of a declaration; of a macro that defines a test those that its arguments give, where ctags
    has the macro's."""
    given = [word.strip() for word in signature.strip("()").split(",") if word.strip()]
    most = 2 if _BY_SUITE.match(name) else 1 if _BY_CASE.match(name) else 0
    return given[:most] or [_OPERATOR.sub("operator", name)]


def main(language: str, kinds: str) -> None:
    paths = [line.rstrip("\n") for line in sys.stdin]
    command = [
        "ctags", "--options=NONE", "--output-format=json", "--fields=+neZS", "--sort=no",
        f"--languages={language}", f"--language-force={language}", f"--kinds-{language}={kinds}", "-L", "-",
    ]  # fmt: skip
    done = subprocess.run(
        command, input="\n".join(paths), capture_output=True, text=True, encoding="utf-8", errors="replace"
    )
    if done.returncode:
        sys.exit(done.stderr.strip() or "ctags failed")
    spaces = {path: file_scoped(path) for path in paths} if language == "C#" else {}
    passed = {path: no_rules(path) for path in paths} if language == "Make" else {}
    rows: dict[str, list[dict[str, object]]] = {path: [] for path in paths}
    for tag in map(json.loads, done.stdout.splitlines()):
        scopes = [p for p in _SEPARATORS.split(tag.get("scope", "")) if p and not _MADE_UP.match(p)]
        if language == "C" and tag["kind"] in ("prototype", "function") and "scope" in tag:
            continue  # a macro that makes a field: C has no functions in a struct
        if not _MADE_UP.match(tag["name"]) and tag["line"] not in passed.get(tag["path"], ()):
            names = [*spaces.get(tag["path"], []), *scopes, *own(tag["name"], tag.get("signature", ""))]
            end = None if tag["kind"] == "macro" else tag.get("end")  # that of a macro is the line behind it
            # That of a selector in parts is the line of its last one.
            line = None if ":" in tag["name"] else tag["line"]
            rows[tag["path"]].append({"symbol": ".".join(names), "name": line, "end": end})
    for path, found in rows.items():
        print(json.dumps({"path": path, "rows": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
