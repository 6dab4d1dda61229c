"""Items by rustc's own parser: paths on standard input, one JSON line a file on standard output.

rustc prints its syntax tree indented, which is read here by its lines. An `impl` is named by the last segment
of its type's path, or by the text of a type that has none, behind references; `mod x;` declares nothing here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence

RUSTC = os.environ.get("RUSTC", "rustc")
_SPAN = re.compile(r"span: .*?:(\d+):(\d+): (\d+):(\d+) \(#0\)")
_NAME = re.compile(r"(?:ident: )?((?:r#)?[\w$]+)#\d+")
_KIND = re.compile(r"kind: (\w+)\(")
_REFERENCE = re.compile(r"^(?:&\s*(?:'\w+\s+)?(?:mut\s+)?)+")
_COMPOSED = ("kind: Slice(", "kind: Array(", "kind: Tup(")
KINDS = {
    "Fn",
    "Struct",
    "Enum",
    "Union",
    "Trait",
    "TraitAlias",
    "Impl",
    "Mod",
    "TyAlias",
    "Type",
    "Const",
    "Static",
}
KINDS |= {"MacroDef"}
Row = dict[str, str | int]


def rows(lines: Iterable[str], source: Sequence[str]) -> Iterator[Row]:
    """The items of a printed tree; each open one is kept with its indentation until a line closes it."""
    open_: list[Item] = []
    for line in lines:
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        while open_ and indent <= open_[-1].indent:
            item = open_.pop()
            yield from item.rows(open_)
        if text == "Item {\n" or text.endswith("(Item {\n"):
            open_.append(Item(indent, source))
        elif open_:
            open_[-1].read(indent, text)
    while open_:
        item = open_.pop()
        yield from item.rows(open_)


class Item:
    """An item while its lines are read."""

    def __init__(self, indent: int, source: Sequence[str]) -> None:
        self.indent = indent
        self._source = source
        self.span: tuple[int, int] | None = None
        self.attributes: list[int] = []
        self.kind = ""
        self.name = ""
        self._attribute = ""
        self._self_type = False
        self._path = 0
        self._composed = False

    def read(self, indent: int, text: str) -> None:
        depth = indent - self.indent
        if not self.kind:
            if depth == 4 and (found := _KIND.match(text)):
                self.kind = found[1]
            elif depth == 4 and (found := _SPAN.match(text)):
                self.span = int(found[1]), int(found[3]) if int(found[4]) > 1 else int(found[3]) - 1
            elif depth == 12 and text.startswith("kind: "):
                self._attribute = "doc" if text.startswith("kind: DocComment") else "plain"
            elif depth == 12 and text.startswith("style: Inner"):
                self._attribute = ""
            elif depth == 12 and self._attribute == "plain" and (found := _SPAN.match(text)):
                self.attributes.append(int(found[1]))
        elif self.kind == "Impl":
            if depth == 12:
                self._self_type = text.startswith("self_ty: ")
            if self._self_type:
                self._of(depth, text)
        elif self.kind == "Mod" and depth == 8 and text.startswith("Unloaded"):
            self.kind = "Use"
        elif not self.name and depth in (8, 12) and (found := _NAME.match(text)):
            self.name = found[1].removeprefix("r#")

    def _of(self, depth: int, text: str) -> None:
        """The last segment of the type's own path, behind references; arguments lie deeper."""
        if not self._path and text.startswith(_COMPOSED):
            self._composed = True  # the paths inside are those of its parts
        elif text.startswith("segments: [") and not self._composed and (not self._path or depth < self._path):
            self._path = depth
        elif self._path and depth == self._path + 8 and (found := _NAME.match(text)):
            self.name = found[1].removeprefix("r#")
        elif depth == 16 and not self.name and (found := _SPAN.match(text)):
            first, last = int(found[1]) - 1, int(found[3])
            lines = list(self._source[first:last])
            lines[-1] = lines[-1][: int(found[4]) - 1]
            lines[0] = lines[0][int(found[2]) - 1 :]
            self.name = _REFERENCE.sub("", " ".join("\n".join(lines).split()))

    def rows(self, outer: list[Item]) -> Iterator[Row]:
        if self.kind in KINDS and self.name and self.span:
            names = [item.name for item in outer if item.kind in KINDS and item.name]
            start = min([self.span[0], *self.attributes])
            yield {"symbol": ".".join([*names, self.name]), "start": start, "end": self.span[1]}


def read(path: str) -> dict[str, object]:
    command = [RUSTC, "--edition", "2021", "--crate-type", "lib", "-Zunpretty=ast-tree", path]
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", env={**os.environ, "RUSTC_BOOTSTRAP": "1"}
    )
    if done.returncode:
        return {"path": path, "error": (done.stderr.strip() or "failed").splitlines()[0]}
    with open(path, encoding="utf-8", newline="\n") as file:
        source = file.read().split("\n")
    return {"path": path, "rows": list(rows(done.stdout.splitlines(keepends=True), source))}


if __name__ == "__main__":
    for given in sys.stdin:
        print(json.dumps(read(given.rstrip("\n"))))
