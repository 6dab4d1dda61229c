"""The references: programs that read files of a language and say which symbols there are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

EXTRACT = Path(__file__).parent / "extract"


class ReferenceMissing(Exception):
    """What a reference runs on is not installed; the message says what to install."""


@dataclass(frozen=True, slots=True)
class Row:
    """A symbol: its qualified name and its lines; of a reference, None where it does not say."""

    symbol: str
    start: int | None = None
    end: int | None = None
    name: int | None = None
    kind: str = ""

    def agrees(self, given: Row) -> bool:
        """Whether a row of ckvd has this one's name and all of its lines."""
        return (
            self.symbol == given.symbol
            and self.start in (None, given.start)
            and self.end in (None, given.end)
            and self.name in (None, given.name)
        )

    def __str__(self) -> str:
        lines = f"{self.start or '?'}-{self.end or '?'}"
        return f"{self.symbol} {lines} {self.kind}".rstrip() + (f" (name {self.name})" if self.name else "")


@dataclass(frozen=True, slots=True)
class Reference:
    """`kinds` are ckvd's kinds that it knows all of; `command` gives the program to run."""

    name: str
    kinds: frozenset[str]
    command: Callable[[], list[str]]

    def read(self, files: Sequence[str]) -> Iterator[tuple[str, list[Row]]]:
        """The rows of each file that it can read. Raises ReferenceMissing."""
        if not files:
            return
        command = self.command()
        told = "".join(f"{path}\n" for path in files)
        done = subprocess.run(command, input=told, capture_output=True, text=True, encoding="utf-8")
        if done.returncode:
            raise ReferenceMissing(f"{command[0]}: {(done.stderr.strip() or 'failed').splitlines()[-1]}")
        for answer in map(json.loads, done.stdout.splitlines()):
            if not answer.get("error"):
                yield answer["path"], [Row(**row) for row in answer["rows"]]


def tool(name: str, remedy: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ReferenceMissing(f"{name} is not installed: {remedy}")
    return found


def python() -> list[str]:
    return [sys.executable, str(EXTRACT / "python.py")]


def go() -> list[str]:
    built = Path(tempfile.mkdtemp(prefix="ckvd-reference-")) / "extract-go"
    compiler = tool("go", "apt-get install golang-go")
    subprocess.run([compiler, "build", "-o", str(built), str(EXTRACT / "go.go")], check=True)
    return [str(built)]


def node_module(name: str) -> str:
    """The folder of npm packages that holds one: `$NODE_PATH`, or `node_modules` above here."""
    places = [Path(p) for p in os.environ.get("NODE_PATH", "").split(os.pathsep) if p]
    places += [folder / "node_modules" for folder in EXTRACT.parents]
    for place in places:
        if (place / name).is_dir():
            return str(place)
    raise ReferenceMissing(
        f"the npm package {name} is not there: npm install {name}, and NODE_PATH set to it"
    )


def node(script: str, *modules: str) -> Callable[[], list[str]]:
    def command() -> list[str]:
        paths = os.pathsep.join(dict.fromkeys(node_module(name) for name in modules))
        runner = tool("node", "apt-get install nodejs")
        return ["env", f"NODE_PATH={paths}", runner, "--stack-size=4000", str(EXTRACT / script)]

    return command


def sheets(language: str) -> Callable[[], list[str]]:
    return lambda: [*node("sheets.cjs", "postcss", "postcss-scss")(), language]


def java() -> list[str]:
    tool("javac", "apt-get install default-jdk-headless")
    return [tool("java", "apt-get install default-jdk-headless"), str(EXTRACT / "Extract.java")]


def php() -> list[str]:
    return [tool("php", "apt-get install php-cli php-parser"), str(EXTRACT / "php.php")]


def rust() -> list[str]:
    tool(os.environ.get("RUSTC", "rustc"), "install Rust, or set RUSTC")
    return [sys.executable, str(EXTRACT / "rust.py")]


def ctags(language: str, kinds: str) -> Callable[[], list[str]]:
    def command() -> list[str]:
        tool("ctags", "apt-get install universal-ctags")
        return [sys.executable, str(EXTRACT / "ctags.py"), language, kinds]

    return command


FUNCTIONS = frozenset({"function", "method", "constructor"})
CODE = FUNCTIONS | {"class", "interface", "struct", "enum", "trait", "record"}
RUST = CODE | {"union", "impl", "module", "type", "constant", "macro"}
C = FUNCTIONS | {"struct", "union", "enum", "type", "macro"}
CTAGS = "universal-ctags"

TYPESCRIPT = Reference(
    "TypeScript compiler", CODE | {"type", "namespace", "module"}, node("typescript.js", "typescript")
)

SHEETS = frozenset({"rule", "namespace", "keyframes", "mixin", "function", "variable"})
GRAPHQL = frozenset(
    {
        "type",
        "interface",
        "input",
        "union",
        "enum",
        "enum_member",
        "scalar",
        "directive",
        "extension",
        "field",
    }
    | {"query", "mutation", "subscription", "fragment"}
)

REFERENCES: dict[str, Reference] = {
    "c": Reference(CTAGS, C, ctags("C", "fpsugtd")),
    "cmake": Reference(CTAGS, frozenset({"function", "macro"}), ctags("CMake", "fm")),
    "cpp": Reference(CTAGS, C | {"class", "namespace"}, ctags("C++", "fpcsugtdn")),
    "csharp": Reference(CTAGS, CODE | {"property", "event"}, ctags("C#", "cgimpsE")),
    "css": Reference("PostCSS", SHEETS, sheets("css")),
    "dockerfile": Reference("dockerfile-ast", frozenset({"stage"}), node("dockerfile.cjs", "dockerfile-ast")),
    "go": Reference("go/parser", CODE | {"type"}, go),
    "graphql": Reference("graphql-js", GRAPHQL, node("graphql.cjs", "graphql")),
    "java": Reference("javac", CODE | {"annotation"}, java),
    "javascript": TYPESCRIPT,
    "make": Reference(CTAGS, frozenset({"target"}), ctags("Make", "t")),
    "php": Reference("PHP-Parser", CODE, php),
    "python": Reference("ast", CODE, python),
    "ruby": Reference("Prism", CODE | {"module"}, node("ruby.mjs", "@ruby/prism")),
    "rust": Reference("rustc", RUST, rust),
    "scss": Reference("PostCSS", SHEETS, sheets("scss")),
    "tsx": TYPESCRIPT,
    "typescript": TYPESCRIPT,
}
