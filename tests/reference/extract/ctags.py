"""Declarations by universal-ctags: `ctags.py LANGUAGE KINDS`, paths on standard input, one JSON line a file
on standard output. ctags says on which line a name stands and, for some kinds, where the declaration ends.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

_SEPARATORS = re.compile(r"::|/|\\|#|:|\.")
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
        names = [p for p in _SEPARATORS.split(tag.get("scope", "")) if p] + [tag["name"]]
        if not any(_MADE_UP.match(name) for name in names):
            rows[tag["path"]].append({"symbol": ".".join(names), "name": tag["line"], "end": tag.get("end")})
    for path, found in rows.items():
        print(json.dumps({"path": path, "rows": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
