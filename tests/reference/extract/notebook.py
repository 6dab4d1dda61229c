"""Functions and classes of a notebook's Python by `ast`: paths on standard input, one JSON line a file on
standard output. A notebook is read that has a line for each of its strings, as Jupyter writes them; `json` is
the judge.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from python import rows

_MAGIC = re.compile(r"^\s*[%!?].*|^[\w.]+\?{1,2}\s*$")


def cells(text: str) -> Iterator[list[tuple[int, str]]]:
    """The code of each cell: lines of the file with what stands there."""
    kind, found, inside = "", [], False
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.fullmatch(r'   "cell_type": "(\w+)",?', line):
            kind = match[1]
        elif re.fullmatch(r'   "source": \[', line):
            inside, found = True, []
        elif inside and line.strip() in ("]", "],"):
            inside = False
            if kind == "code":
                yield found
        elif inside:
            found.append((number, json.loads(line.strip().removesuffix(","))))


def read(path: str) -> dict[str, object]:
    text = Path(path).read_text("utf-8")
    notebook = json.loads(text)
    if notebook["metadata"].get("language_info", {}).get("name", "python") != "python":
        return {"path": path, "error": "not Python"}
    wanted = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code" and c["source"]]
    given = [cell for cell in cells(text) if cell]
    if wanted != ["".join(string for _, string in cell) for cell in given]:
        return {"path": path, "error": "not as Jupyter writes it"}
    found = []
    for cell in given:
        code = "".join(_MAGIC.sub("", string.rstrip("\n")) + "\n" for _, string in cell)
        if cell[0][1].startswith("%%"):
            continue
        for row in rows(ast.parse(code)):
            start, end = (cell[int(row[side]) - 1][0] for side in ("start", "end"))
            found.append({"symbol": row["symbol"], "start": start, "end": end})
    return {"path": path, "rows": found}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        path = line.rstrip("\n")
        try:
            print(json.dumps(read(path)))
        except (SyntaxError, ValueError, KeyError, TypeError) as error:
            print(json.dumps({"path": path, "error": str(error)}))
