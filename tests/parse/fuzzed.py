"""Hostile and broken files in every language, and what must hold of the outcome of each.

Run as a program, `fuzzed.py FOLDER` breaks the real files of a folder and prints each outcome that is not
`ok`, `partial` or `failed`, and how many there were of each kind.
"""

from __future__ import annotations

import hashlib
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from ckvd.analyze import Job
from ckvd.embed import registry
from ckvd.languages import names
from ckvd.languages.detect import detect
from ckvd.model import CutOptions, FileResult
from ckvd.workers import Limits, Pool

HERE = Path(__file__).parent
SOURCES = (HERE / "golden", HERE.parent / "chunk" / "sources", HERE.parent / "parse_special")
DEEP = 20_000
BRACKETS = ["(", "[", "{", "<", "()", "[]", "{}", "({[", ")", "]", "}", ">"]
NESTS: dict[str, list[str]] = {
    "c": ["if(a){", "#if A\n", "struct a{", "a(*", "int(", "/*", "a?b:"],
    "cmake": ["if(A)\n", "function(a)\n", "${", "#[["],
    "cpp": ["namespace a{", "a<", "template<class T>", "[](){", "class A{", "decltype("],
    "csharp": ["namespace A{", "class A{", "a=>", "A<", "#if A\n", '$"{', "x switch{"],
    "css": ["a{", "@media x{", "a:not(", "url(", "/*"],
    "dart": ["class A{", "f(){", "A<", "'${", "()=>"],
    "dockerfile": ["FROM a\n", "RUN a\\\n", "ONBUILD ", "RUN <<A\n", "${"],
    "ejs": ["<%", "<% if(a){ %>", "<script>", "<div>"],
    "elixir": ["defmodule A do\n", "fn a -> ", "%{", "#{", '"#{', "<<", "case a do\n"],
    "erb": ["<%", "<% if a %>", "<div>", "<% a do |b| %>"],
    "go": ["func(){", "struct{", "[]", "*", "map[a]", "if a{", "a(", "interface{"],
    "gotemplate": ["{{if a}}", "{{", "{{range a}}", "{{(", "<div>"],
    "graphql": ["{a", "a(b:{", "[", "query a{", '"""'],
    "haskell": ["(", "do\n ", "let a=", "\\a->", "where\n ", "{-", "[|", "case a of\n "],
    "hcl": ["a{", 'a "b"{', "a=[", "a={", '"${', "a(", "<<A\n"],
    "html": ["<div>", "<script>", "<style>", "<!--", "<a b='", "<svg>", "<table><tr><td>", "<p>"],
    "java": ["class A{", "void f(){", "A<", "if(a){", "@A(", "()->", "new A(){"],
    "javascript": [
        "function a(){",
        "a=>",
        "`${",
        "class A{",
        "<a>",
        "{a:",
        "a(",
        "if(a)",
        "[a,",
        "async()=>{",
    ],
    "jinja": ["{% if a %}", "{{", "{% for a in b %}", "{#", "{% block a %}", "<div>"],
    "json": ['{"a":', "[", "[{", '["a",', "-"],
    "jupyter": ['{"cells":[', '{"cells":[{"source":[', '"'],
    "julia": ["begin\n", "function a()\n", "$(", '"$(', "module A\n", "if a\n", "A{", "#="],
    "kotlin": ['"${', "class A{", "fun a(){", "A<", "{a->", "if(a)", "/*"],
    "lua": ["function a()", "do ", "{a=", "if a then ", "[[", "(function()"],
    "luau": ["function a()", "{a:", "if a then ", "`{", "a<"],
    "make": ["$(", "ifdef A\n", "define A\n", "a:", "${", "\\\n"],
    "markdown": ["> ", "- ", "* ", "1. ", "# ", "```\n", "[", "![", "<div>", "**", "    ", "> - ", "|"],
    "nix": ["{a=", "let a=", "a:", "(", "with a;", '"${', "''${", "if a then ", "rec{a="],
    "objc": ["@interface A\n", "[a ", "^{", "@implementation A\n", "@{", "if(a){"],
    "ocaml_interface": ["module A:sig ", "(*", "val a:(", "{a:", "[`A of "],
    "ocaml": ["let a=", "begin ", "module A=struct ", "fun a->", "(*", "match a with b->", "{a="],
    "perl": ["sub a{", "{", "if(a){", "@{", "$", "qw(", "s/", "<<A\n", "=pod\n"],
    "php": ["<?php ", "function a(){", "class A{", '"{$a', "[", "if(a):", "fn()=>", "<?php if(a){ ?>"],
    "powershell": ["$(", "@(", "@{", "function a{", "if(a){", '"$(', "{"],
    "proto": ["message A{", "oneof a{", "option(a)={", "group A=1{"],
    "python": [
        "if a:\n ",
        "lambda:",
        "[a for a in ",
        "f'{",
        "def a():",
        "a[",
        "not ",
        "-",
        "class A:",
        "(yield ",
        "@",
    ],
    "r": ["function(a)", "{", "if(a)", "a%>%", "-", "[[", "\\(x)"],
    "rst": ["* ", "  ", ".. a::\n", "a\n=\n", "| ", ":a:`", "+-+\n"],
    "ruby": [
        "def a;",
        "class A;",
        "do |a|",
        "#{",
        '"#{',
        "begin;",
        "if a;",
        "->{",
        "<<A\n",
        "module A\n",
        "[",
        "%w(",
    ],
    "rust": ["mod a{", "fn a(){", "A<", "&", "|a|", "impl A{", "match a{", "#[a(", "/*", "a!("],
    "scala": ["class A{", "def a={", "A[", 's"${', "a=>", "/*", "object A:\n  "],
    "scss": ["a{", "#{", "@if a{", "@media x{", "(a:", '"#{', "url(", "&:not("],
    "shell": [
        "$(",
        "`",
        "${a:-",
        "if a;then ",
        "a(){",
        "<<A\n",
        "case a in b)",
        "((",
        '"$(',
        "[[",
        "{ ",
        "while a;do ",
    ],
    "solidity": ["contract A{", "function a(){", "mapping(a=>", "if(a){", "unchecked{"],
    "sql": ["(", "BEGIN ", "SELECT(", "CASE WHEN ", "$$", "/*", "'", "CREATE FUNCTION a() AS $$ BEGIN "],
    "svelte": ["{#if a}", "<div>", "{", "<script>", "{#each a as b}"],
    "swift": ["class A{", "func a(){", '"\\(', "{a in ", "A<", "[", "#if A\n", "if a{"],
    "terraform": ['resource "a" "b"{', "a={", '"${', "[for a in b:", "a("],
    "toml": ["a=[", "a={b=", "[a.", "[[a", '"""'],
    "tsx": ["<a>", "a<", "{a:", "`${", "()=>", "class A{", "<a b={"],
    "typescript": [
        "namespace a{",
        "a<",
        "{a:",
        "`${",
        "()=>",
        "class A{",
        "a extends b?",
        "type A=[",
        "abstract ",
    ],
    "vue": ["<div>", "<script>", "<template>", "{{", "<style>"],
    "yaml": ["- ", "a: ", "[", "{a: ", "? ", "&a ", "!a ", "|\n ", "- a: ", "*a"],
    "zig": ["struct{", "if(a)", "{", "*", "?", "[]", ".{", "fn a() void{", "const A=struct{", "switch(a){"],
}
"""What nests in a language besides brackets."""

REASONS = frozenset(
    {
        "syntax-errors",
        "timeout",
        "memory",
        "crashed",
        "generated",
        "minified",
        "binary",
        "encoding",
        "template",
        None,
    }
)


@cache
def samples() -> dict[str, list[bytes]]:
    """The files of the tests by language."""
    found: dict[str, list[bytes]] = {name: [] for name in names()}
    for folder in SOURCES:
        collect(folder, found)
    return found


def collect(folder: Path, found: dict[str, list[bytes]], most: int = 1 << 20) -> None:
    """Adds a folder's files, up to `most` bytes of each."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()):
        data = path.read_bytes()[:most]
        language = detect(path.name, data)
        if language is not None and path.name != "expected.txt":
            found[language.name].append(data)


def broken(texts: Sequence[bytes], rng: random.Random, many: int) -> Iterator[bytes]:
    """Cut, spliced, flipped and torn files, and bytes at random."""
    for _ in range(many):
        a, b = rng.choice(texts), rng.choice(texts)
        i, j = rng.randrange(len(a) + 1), rng.randrange(len(b) + 1)
        yield a[:i]
        yield a[i:]
        yield a[:i] + b[j:]
        flipped = bytearray(a)
        for _ in range(rng.randint(1, 20)):
            if flipped:
                flipped[rng.randrange(len(flipped))] = rng.choice(b"{}[]()<>\"'`$#\\/*;:,\n\t \xff\x00a")
        yield bytes(flipped)
        lines = a.splitlines(keepends=True)
        yield b"".join(rng.sample(lines, len(lines)))
        yield rng.randbytes(rng.choice((1, 100, 5000)))
        yield rng.randbytes(2000).replace(b"\0", b" ")
        yield bytes(rng.choices(b"{}[]()<>\"'`$#\\/*;:,.=|&!?@%^~-+ \n\tab01", k=rng.choice((10, 300, 5000))))


def nested(language: str, deep: int) -> Iterator[bytes]:
    """What nests, `deep` times over: open, and for brackets closed again."""
    for text in dict.fromkeys([*BRACKETS, *NESTS.get(language, [])]):
        prefix = b"<?php " if language == "php" else b""
        yield prefix + text.encode() * deep
    closing = {"(": ")", "[": "]", "{": "}"}
    for opening, end in closing.items():
        yield opening.encode() * deep + end.encode() * deep
    yield b"> " * 256
    yield b"- " * 256
    yield b"".join(b" " * depth + b"a:\n" for depth in range(min(deep, 2000)))


def job(language: str, number: int, data: bytes) -> Job:
    path = f"{language}/{number}.{'h' if language == 'c' and number % 2 else 'x'}".encode()
    return Job(path, data, hashlib.sha1(data).hexdigest(), CutOptions(), language=language)


def faults(data: bytes, result: FileResult) -> list[str]:
    """What is wrong with an outcome, whatever it is."""
    verdict = result.verdict
    found = []
    if verdict.reason not in REASONS:
        found.append(f"reason {verdict.reason}")
    if verdict.reason in ("timeout", "memory", "crashed") and (verdict.strategy, verdict.parse_status) != (
        "window",
        "failed",
    ):
        found.append(f"{verdict.reason}, but {verdict.strategy} and {verdict.parse_status}")
    if verdict.parse_status in ("partial", "failed") and not verdict.detail:
        found.append("no detail")
    if len({c.chunk_id for c in result.chunks}) != len(result.chunks):
        found.append("chunk ids repeat")
    ids = {c.chunk_id for c in result.chunks}
    if verdict.strategy != "names" and not all(s.chunk_id in ids for s in result.symbols):
        found.append("a symbol without a chunk")
    if not all(0 <= s.start < s.end <= len(data) for s in result.symbols):
        found.append("a symbol out of range")
    if verdict.strategy not in ("names", "skipped") and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        at = 0
        for start, end in [*sorted((c.start, c.end) for c in result.chunks), (len(data), len(data))]:
            if start > at and data[at:start].removeprefix(b"\xef\xbb\xbf" if at == 0 else b"").strip():
                found.append(f"bytes {at} to {start} lie in no chunk")
                break
            at = max(at, end)
    if any(a[0] > b[0] for a, b in pairwise((s.start, s.end) for s in result.symbols)):
        found.append("symbols out of order")
    return found


def run(
    files: Sequence[tuple[str, bytes]], limits: Limits, workers: int = 2
) -> Iterator[tuple[str, bytes, FileResult]]:
    """The outcome of each file (language and bytes), through the real pool of workers."""
    jobs = [job(language, number, data) for number, (language, data) in enumerate(files)]
    given = {j.path: file for j, file in zip(jobs, files, strict=True)}
    with Pool(workers, registry.resolve("hash"), limits) as pool:
        for result in pool.run(jobs):
            yield *given[result.path], result


def main(folders: Sequence[str]) -> None:
    found = samples()
    for folder in folders:
        collect(Path(folder), found)
    for language in names():
        rng = random.Random(language)
        files = [(language, data) for data in broken(found[language] or [b"a"], rng, 12)]
        files += [(language, data) for data in nested(language, DEEP)]
        files += [(language, rng.randbytes(1 << 20).replace(b"\0", b"a"))]
        began, outcomes, done = time.monotonic(), Counter[str](), 0
        for _, data, result in run(files, Limits()):
            done += 1
            verdict = result.verdict
            outcomes[
                verdict.reason if verdict.reason in ("timeout", "memory", "crashed") else verdict.parse_status
            ] += 1
            wrong = faults(data, result)
            if wrong or verdict.reason in ("timeout", "memory", "crashed"):
                print(
                    f"  {language} {verdict.reason} {data[:24]!r} {len(data)} {verdict.detail} {wrong or ''}"
                )
        print(
            f"{language}: {done} of {len(files)}, {dict(outcomes)}, {time.monotonic() - began:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
