"""A constant or an import is told with the condition that it stands under; what is bound unseen, to all."""

from __future__ import annotations

import pytest
from chunk_toy import words
from test_real_headers import chunks_of

from ckvd import parse
from ckvd.chunk import cut
from ckvd.languages.detect import detect
from ckvd.model import Chunk, CutOptions


def ordered(path: str, text: str, **options: int) -> tuple[Chunk, ...]:
    data = text.encode()
    language = detect(path, data)
    assert language is not None
    return cut(path, data, parse.parse(path, data, language), "symbol", CutOptions(**options), words)


PYTHON = """\
import sys

try:
    import ujson as json
except ImportError:
    json = None

if sys.platform == "win32":
    SEP = ";"
elif (
    sys.platform == "x"
):
    SEP = "|"
else:  # the rest
    # of them
    SEP = ":"

with quiet():
    import loud


def f(s):
    return json.loads(s).split(SEP)


def g():
    return loud
"""


@pytest.mark.parametrize(
    ("path", "text", "name", "told"),
    [
        ("a.py", PYTHON, "f", PYTHON.split("\n\n")[1].split("\n") + PYTHON.split("\n\n")[2].split("\n")),
        ("a.py", PYTHON, "g", ["with quiet():", "    import loud"]),
        (
            "a.h",
            "#ifndef A_H\n#define A_H\n#if defined(A) && \\\n  B\n#define X 1\n#elif C\n#define Y 1\n#else\n"
            "#define X 2\n#endif\n\nint f(void)\n{\n  return X;\n}\n#endif\n",
            "f",
            ["#if defined(A) && \\", "  B", "#define X 1", "#elif C", "#else", "#define X 2", "#endif"],
        ),
        (
            "a.c",
            "#ifndef X\n#define X\n#endif\n#ifndef Y\n#define Y (1 + 1)\n#endif\n\n"
            "int f(void)\n{\n  return X + Y;\n}\n",
            "f",
            ["#ifndef X", "#define X", "#endif", "#ifndef Y", "#define Y (1 + 1)", "#endif"],
        ),
        (
            "b.c",
            "#if A\n# include <a.h>\n# define T a_t\n#elif B\n# include <b.h>\n# define T b_t\n#endif\n\n"
            "int f(void)\n{\n  return 1;\n}\n",
            "f",
            ["#if A", "# include <a.h>", "#elif B", "# include <b.h>", "#endif"],
        ),
        (
            "A.cs",
            "using A;\n#if NET6\nusing B;\n#else\nusing C;\n#endif\nclass D\n{\n    int F() => 1;\n}\n",
            "D.F",
            ["using A;", "#if NET6", "using B;", "#else", "using C;", "#endif", "class D", "{"],
        ),
        (
            "a.php",
            "<?php\nif (!defined('A')) {\n    define('A', 1);\n} else {\n    define('B', 2);\n}\n\n"
            "function f() {\n    return B;\n}\n",
            "f",
            ["if (!defined('A')) {", "} else {", "    define('B', 2);", "}"],
        ),
        (
            "a.js",
            "let x = 1;\nif (quick) {\n  var N = 1;\n} else {\n  var N = 2;\n}\n\n"
            "function f() {\n  return N;\n}\n",
            "f",
            ["if (quick) {", "  var N = 1;", "} else {", "  var N = 2;", "}"],
        ),
        (
            "a.rb",
            "begin\n  require 'a'\nrescue LoadError\n  A = nil\nend\n\nif RUBY_VERSION > '3'\n  B = 1\nelse\n"
            "  B = 2\nend\n\ndef f\n  [A, B]\nend\n",
            "f",
            [
                *("begin", "  require 'a'", "rescue LoadError", "  A = nil", "end", "if RUBY_VERSION > '3'"),
                *("  B = 1", "else", "  B = 2", "end"),
            ],
        ),
        (
            "a.sh",
            'if [ -n "$A" ]; then\n  B=1\nelse\n  B=2\nfi\ncase $A in\n  x) C=1 ;;\nesac\n'
            "f() {\n  go $B $C\n}\n",
            "f",
            [
                *('if [ -n "$A" ]; then', "  B=1", "else", "  B=2", "fi"),
                *("case $A in", "  x) C=1 ;;", "esac"),
            ],
        ),
        (
            "a.lua",
            "if a then\n  N = 1\nelse\n  N = 2\nend\n\nfunction f()\n  return N\nend\n",
            "f",
            ["if a then", "  N = 1", "else", "  N = 2", "end"],
        ),
        (
            "a.jl",
            "if a\n    const N = 1\nelse\n    const N = 2\nend\n\nfunction f()\n    N\nend\n",
            "f",
            ["if a", "    const N = 1", "else", "    const N = 2", "end"],
        ),
        (
            "a.pl",
            "use strict;\nour $N;\nif ($a) {\n  our $M = 1;\n}\n\nsub f {\n  return $M;\n}\n",
            "f",
            ["if ($a) {", "  our $M = 1;", "}"],
        ),
        (
            "a.ps1",
            "if ($a) {\n  $n = 1\n} else {\n  $n = 2\n}\n\nfunction F {\n  $n\n}\n",
            "F",
            ["if ($a) {", "  $n = 1", "} else {", "  $n = 2", "}"],
        ),
        (
            "a.ex",
            "defmodule A do\n  if Code.ensure_loaded?(B) do\n    @n 1\n  else\n    @n 2\n  end\n\n"
            "  def f do\n    @n\n  end\nend\n",
            "A.f",
            [
                *("defmodule A do", "  if Code.ensure_loaded?(B) do", "    @n 1", "  else", "    @n 2"),
                "  end",
            ],
        ),
        (
            "a.rs",
            "#[cfg(unix)]\nuse a::b;\n#[cfg(not(unix))]\nuse c::b;\n\nfn f() {\n    b();\n}\n",
            "f",
            ["#[cfg(unix)]", "use a::b;", "#[cfg(not(unix))]", "use c::b;"],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_what_is_used_is_told_with_its_condition(path: str, text: str, name: str, told: list[str]) -> None:
    assert chunks_of(path, text)[name].header_text.split("\n") == told


@pytest.mark.parametrize(
    ("path", "text", "bodies"),
    [
        (
            "a.py",
            "if new:\n    def f():\n        return 1\nelse:  # old\n    def f():\n        return 2\n",
            ["if new:\n    def f():\n        return 1", "else:  # old\n    def f():\n        return 2"],
        ),
        (
            "a.c",
            "#ifdef A\nint f(void)\n{\n  return 1;\n}\n#else\n"
            "int f(void)\n{\n  return 2;\n}\n#endif /* A */\n\nint g(void)\n{\n  return 3;\n}\n",
            [
                "#ifdef A\nint f(void)\n{\n  return 1;\n}",
                "#else\nint f(void)\n{\n  return 2;\n}\n#endif /* A */",
                "int g(void)\n{\n  return 3;\n}",
            ],
        ),
        (
            "a.lua",
            "if a then\n  function f()\n    return 1\n  end\n"
            "else\n  function f()\n    return 2\n  end\nend\n",
            [
                "if a then\n  function f()\n    return 1\n  end",
                "else\n  function f()\n    return 2\n  end\nend",
            ],
        ),
    ],
    ids=["python", "c", "lua"],
)
def test_the_lines_of_a_condition_are_no_chunks_of_their_own(path: str, text: str, bodies: list[str]) -> None:
    assert [c.body for c in ordered(path, text)] == bodies


def test_what_is_told_of_the_lines_behind_a_condition_is_not_under_it() -> None:
    text = "class A {\n#if DEBUG\n  int F() {\n    return 1;\n  }\n#endif\n  int after = 3;\n}\n"
    assert chunks_of("a.cs", text)["A.F"].header_text == "class A {\n#if DEBUG\n#endif\n  int after = 3;"


def test_what_lies_in_a_branch_is_told_so() -> None:
    text = (
        "from a import new\n\n\nclass A:\n    if new:\n        def f(self):\n            return 1\n"
        "    else:\n        def f(self):\n            return 2\n"
    )
    found = chunks_of("a.py", text)
    assert found["A.f"].header_text == "from a import new\nclass A:\n    if new:"
    assert found["A.f#2"].header_text == "from a import new\nclass A:\n    if new:\n    else:"


FILLER = "".join(f"x{n} = {n}\n" for n in range(45))


@pytest.mark.parametrize(
    ("path", "text", "ends"),
    [
        (
            "a.py",
            FILLER + "try:\n" + "".join(f"    y{n} = {n}\n" for n in range(20)) + "except E:\n    pass\n"
            "z = 1\n\n\ndef f():\n    return 1\n",
            "x44 = 44",
        ),
        (
            "a.py",
            "import a\nx = 1\n\n# Where there is one.\ntry:\n    import b\n\n    def f():\n        return b\n"
            "except ImportError:\n    f = None\n",
            "x = 1",
        ),
        (
            "a.py",
            FILLER + "if __name__ == '__main__':\n    y = 1\n\n    def f():\n        return 1\n\n    f()\n",
            "x44 = 44",
        ),
        (
            "a.c",
            "#include <a>\n" + "".join(f"#define X{n} {n}\n" for n in range(45)) + "#ifdef B\n#define Y 1\n"
            "#define Z 1\n\nint f(void)\n{\n  return 1;\n}\n#endif\n\nint g(void)\n{\n  return 1;\n}\n",
            "#define X44 44",
        ),
        (
            "a.h",
            "/* A. */\n#ifndef A_H\n#define A_H\n#include <a>\n\nint f(void)\n{\n  return 1;\n}\n#endif\n",
            "#include <a>",
        ),
        (
            "a.h",
            '#ifndef A_H\n#define A_H\n#include <a>\n\n#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
            "#define X 1\n\nint f(\n  int x);\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n",
            "#include <a>",
        ),
    ],
    ids=["line", "gap", "main", "preprocessor", "guard", "linkage"],
)
def test_a_file_header_ends_at_the_top_level(path: str, text: str, ends: str) -> None:
    first = ordered(path, text)[0]
    assert first.unit == "file_header"
    assert first.body.endswith(ends)


@pytest.mark.parametrize(
    ("path", "text", "name", "told"),
    [
        (
            "a.rs",
            "#[macro_use]\nextern crate log;\nextern crate rand;\n#[macro_use]\nmod macros;\nmod other;\n"
            "use std::io::{Read, Write};\npub use a::B;\n\nfn f(x: &mut dyn Write) {\n    x.go();\n}\n\n"
            "fn g() {\n    other::go();\n}\n",
            "g",
            [
                *("#[macro_use]", "extern crate log;", "#[macro_use]", "mod macros;", "mod other;"),
                "use std::io::{Read, Write};",
            ],
        ),
        (
            "a.kt",
            "import a.plusAssign\nimport a.b\n\nfun f() {\n  b()\n}\n\nfun g() {\n}\n",
            "g",
            ["import a.plusAssign"],
        ),
        (
            "a.scala",
            "import a.Show\nimport a.b\n\ndef f() = {\n  b()\n}\n\ndef g() = {\n  1.show\n}\n",
            "g",
            ["import a.Show"],
        ),
        (
            "A.hs",
            "import A (toList)\nimport B (b)\n\nf x = b x\n\ng x = x\n",
            "g",
            ["import A (toList)"],
        ),
        ("a.py", "from a import *\nfrom b import c\n\n\ndef f():\n    return 1\n", "f", ["from a import *"]),
        ("a.jl", "using A\nusing B: b\nimport C\n\nfunction f()\n    1\nend\n", "f", ["using A"]),
        (
            "a.cpp",
            "using namespace a::b;\nusing c::d;\n\nint f() {\n  return 1;\n}\n",
            "f",
            ["using namespace a::b;"],
        ),
        (
            "a.php",
            "<?php\nnamespace N;\ndefine('OLD', 5);\nconst NEW = 6;\nrequire_once __DIR__ . '/lib.php';\n"
            "$a = ['x' => 1];\n$go = function () {\n    $c = 3;\n};\n\n"
            "function f() {\n    global $a, $c;\n    return OLD + $a + $c;\n}\n",
            "N.f",
            ["namespace N;", "define('OLD', 5);", "require_once __DIR__ . '/lib.php';", "$a = ['x' => 1];"],
        ),
        (
            "a.sh",
            "source ./a.sh\n[ -f b ] && . ./b\nset -e\nreadonly N=1\nf() {\n  echo $N\n}\n",
            "f",
            ["source ./a.sh", "[ -f b ] && . ./b", "readonly N=1"],
        ),
        (
            "a.go",
            "package a\n\n//go:embed x.sql\nvar x string\n\n//nolint:all\nvar y string\n\n"
            "func F() string {\n\treturn x + y\n}\n",
            "F",
            ["package a", "//go:embed x.sql", "var x string", "var y string"],
        ),
        (
            "a.c",
            "enum { RED, GREEN };\nenum b\n{\n  B1 = 1, /* one */\n  B2,\n};\n"
            "typedef enum {\n  C1,\n  C2\n} c;\n"
            "int f(void)\n{\n  enum { D1 };\n  return RED + B1 + C2 + D1;\n}\n",
            "f",
            [
                *("enum { RED, GREEN };", "enum b", "{", "  B1 = 1, /* one */", "};"),
                *("typedef enum {", "  C2", "} c;"),
            ],
        ),
        (
            "a.cpp",
            "struct S {\n  enum class K {\n    A,\n    B,\n  };\n};\n\nint f() {\n  return g(S::K::B);\n}\n",
            "f",
            ["  enum class K {", "    B,", "  };"],
        ),
    ],
    ids=[
        *("rust", "kotlin", "scala", "haskell", "python", "julia", "using", "php", "shell", "embed"),
        *("enum", "enum-class"),
    ],
)  # fmt: skip
def test_what_is_bound_without_being_named_is_told(path: str, text: str, name: str, told: list[str]) -> None:
    assert chunks_of(path, text)[name].header_text.split("\n") == told


def test_code_outside_functions_need_not_say_that_a_variable_is_not_its_own() -> None:
    text = "<?php\n$a = new App();\n\nfunction f() {\n    return $a;\n}\n\n$a->run();\n"
    found = chunks_of("a.php", text)
    assert found["<module>"].header_text == "$a = new App();"
    assert found["f"].header_text == ""
