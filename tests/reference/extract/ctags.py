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
_MADE_UP = re.compile(r"__anon|^anon\w{8,}")


def main(language: str, kinds: str) -> None:
    paths = [line.rstrip("\n") for line in sys.stdin]
    command = [
        "ctags", "--options=NONE", "--output-format=json", "--fields=+neZ", "--sort=no", "--extras=-F",
        f"--languages={language}", f"--language-force={language}", f"--kinds-{language}={kinds}", "-L", "-",
    ]  # fmt: skip
    done = subprocess.run(
        command, input="\n".join(paths), capture_output=True, text=True, encoding="utf-8", errors="replace"
    )
    if done.returncode:
        sys.exit(done.stderr.strip() or "ctags failed")
    rows: dict[str, list[dict[str, object]]] = {path: [] for path in paths}
    for tag in map(json.loads, done.stdout.splitlines()):
        names = [p for p in _SEPARATORS.split(tag.get("scope", "")) if p] + [_OPERATOR.sub("operator", tag["name"])]
        if language == "C" and tag["kind"] in ("prototype", "function") and "scope" in tag:
            continue  # a macro that makes a field: C has no functions in a struct
        if not any(_MADE_UP.match(name) for name in names):
            end = None if tag["kind"] == "macro" else tag.get("end")  # that of a macro is the line behind it
            rows[tag["path"]].append({"symbol": ".".join(names), "name": tag["line"], "end": end})
    for path, found in rows.items():
        print(json.dumps({"path": path, "rows": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
