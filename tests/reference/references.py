"""The references: programs that read files of a language and say which symbols there are."""

from __future__ import annotations

import importlib.util
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


def packages(script: str, *names: str) -> Callable[[], list[str]]:
    """A script in this Python, which must have the packages (`module` or `module=what to install`)."""

    def command() -> list[str]:
        for name in names:
            module, _, package = name.partition("=")
            if importlib.util.find_spec(module) is None:
                raise ReferenceMissing(f"pip install {package or module}")
        return [sys.executable, str(EXTRACT / script)]

    return command


def csharp() -> list[str]:
    command = packages("csharp.py", "clr=pythonnet", "dotnetcore2")()
    if "ROSLYN" not in os.environ:
        os.environ["ROSLYN"] = str(Path(node_module("@autorest/csharp")) / "@autorest/csharp")
    return command


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


def options(command: Callable[[], list[str]], *more: str) -> Callable[[], list[str]]:
    return lambda: [*command(), *more]


def built(source: str, tool_name: str, remedy: str, *arguments: str) -> Path:
    """A program compiled from a copy of its source in a folder of its own, `{out}` in the arguments."""
    out = Path(tempfile.mkdtemp(prefix="ckvd-reference-"))
    shutil.copy(EXTRACT / source, out)
    compiler = tool(tool_name, remedy)
    subprocess.run([compiler, *(a.format(out=out) for a in arguments), source], check=True, cwd=out)
    return out / "extract"


def ocaml() -> list[str]:
    remedy = "apt-get install ocaml-nox ocaml-compiler-libs"
    arguments = ("-I", "+compiler-libs", "ocamlcommon.cma", "-o", "extract")
    return [str(built("ocaml.ml", "ocamlc", remedy, *arguments))]


def haskell() -> list[str]:
    remedy = "apt-get install ghc"
    arguments = ("-v0", "-w", "-O0", "-package", "ghc", "-outputdir", "{out}", "-o", "{out}/extract")
    program = built("haskell.hs", "ghc", remedy, *arguments)
    library = subprocess.run(
        [tool("ghc", remedy), "--print-libdir"], capture_output=True, text=True, check=True
    )
    return ["env", "LC_ALL=C.UTF-8", str(program), library.stdout.strip()]


def zig() -> list[str]:
    packages("python.py", "ziglang")()
    caches = ("--cache-dir", "{out}/cache", "--global-cache-dir", "{out}/cache")
    arguments = ("-m", "ziglang", "build-exe", "-femit-bin={out}/extract", *caches)
    return [str(built("zig.zig", sys.executable, "", *arguments))]


def kotlin() -> list[str]:
    jars = Path(node_module("kotlin-compiler")) / "kotlin-compiler/lib"
    names = (
        "kotlin-compiler",
        "kotlin-stdlib",
        "kotlin-reflect",
        "kotlin-script-runtime",
        "annotations-13.0",
    )
    path = os.pathsep.join(str(jars / f"{name}.jar") for name in (*names, "kotlinx-coroutines-core-jvm"))
    tool("javac", "apt-get install default-jdk-headless")
    return [tool("java", "apt-get install default-jdk-headless"), "-cp", path, str(EXTRACT / "Kotlin.java")]


def elixir() -> list[str]:
    return ["env", "LC_ALL=C.UTF-8", tool("elixir", "apt-get install elixir"), str(EXTRACT / "elixir.exs")]


def perl() -> list[str]:
    runner = tool("perl", "apt-get install perl libppi-perl")
    if subprocess.run([runner, "-MPPI", "-e", "1"], capture_output=True).returncode:
        raise ReferenceMissing("Perl's PPI is not installed: apt-get install libppi-perl")
    return [runner, str(EXTRACT / "perl.pl")]


def r() -> list[str]:
    runner = tool("Rscript", "apt-get install r-base-core")
    return ["env", "LC_ALL=C.UTF-8", runner, "--vanilla", str(EXTRACT / "r.R")]


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

OWN = "ckvd's own scanner"
LUA = frozenset({"function"})
SECTIONS = frozenset({"section"})
ML = FUNCTIONS | {
    "constant",
    "type",
    "enum",
    "record",
    "enum_member",
    "exception",
    "module",
    "interface",
    "class",
}
HASKELL = FUNCTIONS | {"type", "class", "impl", "enum_member"}
ELIXIR = FUNCTIONS | {"module", "macro", "protocol", "impl", "type", "test"}
OBJC = frozenset({"function", "method", "class", "impl", "protocol"})
JULIA = FUNCTIONS | {"macro", "module", "struct", "type"}
SWIFT = CODE | {"property", "enum_member", "extension", "protocol", "type"}
DART = CODE | {"property", "enum_member", "extension", "mixin"}
ZIG = FUNCTIONS | {"struct", "enum", "union", "error", "constant", "variable", "field", "enum_member", "test"}
SOLIDITY = frozenset({"contract", "interface", "library", "function", "method", "modifier", "constructor"})
SOLIDITY |= {"event", "error", "struct", "enum", "type", "field", "constant"}
KOTLIN = CODE | {"object", "property", "constant", "enum_member", "type", "annotation"}
SCALA = FUNCTIONS | {"class", "object", "trait", "enum", "type", "constant", "variable"}
PROTO = frozenset({"message", "enum", "service", "rpc"})
TERRAFORM = frozenset({"resource", "data", "variable", "output", "module", "provider", "block"})
SQL = frozenset(
    {"table", "view", "function", "procedure", "index", "type", "trigger", "schema", "sequence", "extension"}
    | {"policy", "role", "operator", "rule", "wrapper", "collation", "language", "dictionary"}
)
ISLANDS = FUNCTIONS | {"class", "interface", "type", "rule", "keyframes", "mixin", "namespace"}


def islands(language: str, *modules: str) -> Reference:
    command = node("islands.cjs", "typescript", "postcss", "postcss-scss", *modules)
    return Reference(f"{modules[0]}, TypeScript compiler, PostCSS", ISLANDS, options(command, language))


def keys(language: str, module: str, *kinds: str) -> Reference:
    return Reference(module, frozenset(kinds), options(node("data.cjs", module), language))


REFERENCES: dict[str, Reference] = {
    "c": Reference(CTAGS, C, ctags("C", "fpsugtd")),
    "cmake": Reference(CTAGS, frozenset({"function", "macro"}), ctags("CMake", "fm")),
    "cpp": Reference(CTAGS, C | {"class", "namespace"}, ctags("C++", "fpcsugtdn")),
    "csharp": Reference(
        "Roslyn 4.1", CODE | {"property", "event", "enum_member", "type", "namespace"}, csharp
    ),
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
    "dart": Reference(OWN, DART, options(packages("scan.py"), "dart")),
    "elixir": Reference("Elixir's parser", ELIXIR, elixir),
    "haskell": Reference("GHC 9.0", HASKELL, haskell),
    "hcl": Reference("python-hcl2", TERRAFORM, packages("hcl.py", "hcl2=python-hcl2")),
    "html": islands("html", "parse5"),
    "json": keys("json", "jsonc-parser", "property"),
    "julia": Reference(CTAGS, JULIA, ctags("Julia", "fmnst")),
    "jupyter": Reference("ast", CODE, packages("notebook.py")),
    "kotlin": Reference("Kotlin compiler 2.4", KOTLIN, kotlin),
    "lua": Reference("luaparse", LUA, node("lua.cjs", "luaparse")),
    "luau": Reference(OWN, LUA, options(packages("scan.py"), "luau")),
    "markdown": Reference("commonmark.js", SECTIONS, node("markdown.cjs", "commonmark")),
    "objc": Reference(CTAGS, OBJC, ctags("ObjectiveC", "iIPmcf")),
    "ocaml": Reference("OCaml's parser 4.13", ML, ocaml),
    "ocaml_interface": Reference("OCaml's parser 4.13", ML, ocaml),
    "perl": Reference("PPI", frozenset({"package", "function"}), perl),
    "powershell": Reference(CTAGS, LUA, ctags("PowerShell", "f")),
    "proto": Reference("protoc", PROTO, packages("proto.py", "grpc_tools=grpcio-tools")),
    "r": Reference("R's parser", FUNCTIONS, r),
    "rst": Reference("docutils", SECTIONS, packages("rst.py", "docutils")),
    "scala": Reference("Scalameta", SCALA, node("scala.cjs", "scalameta-parsers")),
    "shell": Reference("mvdan/sh", LUA, node("shell.mjs", "mvdan-sh")),
    "solidity": Reference("@solidity-parser", SOLIDITY, node("solidity.cjs", "@solidity-parser/parser")),
    "sql": Reference("PostgreSQL's parser", SQL, packages("sql.py", "pglast")),
    "svelte": islands("svelte", "svelte"),
    "swift": Reference(OWN, SWIFT, options(packages("scan.py"), "swift")),
    "terraform": Reference("python-hcl2", TERRAFORM, packages("hcl.py", "hcl2=python-hcl2")),
    "toml": keys("toml", "toml-eslint-parser", "property", "table"),
    "vue": islands("vue", "@vue/compiler-sfc"),
    "yaml": keys("yaml", "yaml", "property"),
    "zig": Reference("Zig's parser", ZIG, zig),
}
