"""What a header tells beside imports and enclosing scopes: comments on constants, types added to, members."""

from __future__ import annotations

import pytest
from chunk_toy import words
from test_real_headers import chunks_of

from ckvd.analyze import Job, analyze
from ckvd.model import CutOptions


def header(path: str, text: str, name: str) -> list[str]:
    return chunks_of(path, text)[name].header_text.split("\n")


@pytest.mark.parametrize(
    ("path", "text", "name", "told"),
    [
        (
            "a.py",
            "import os\n\n# Fees exceed what is below this.\n# In cents: os.environ may say more.\n"
            "LEAST = 40\n\n\ndef f():\n    return LEAST\n",
            "f",
            ["# Fees exceed what is below this.", "# In cents: os.environ may say more.", "LEAST = 40"],
        ),
        ("a.py", "# noqa: E501\nLEAST = 40\n\n\ndef f():\n    return LEAST\n", "f", ["LEAST = 40"]),
        ("a.py", "# Not on it.\n\nLEAST = 40\n\n\ndef f():\n    return LEAST\n", "f", ["LEAST = 40"]),
        (
            "a.go",
            "package a\n\n// In cents.\nconst (\n\tLeast = 40\n\t// A year's.\n\tMost = 90\n)\n\n"
            "func F() int { return Most }\n",
            "F",
            ["package a", "// In cents.", "const (", "\tLeast = 40", "\t// A year's.", "\tMost = 90", ")"],
        ),
        (
            "A.java",
            "import b.C;\n\nclass A {\n  /* of a C */\n  int n = 0;\n\n  int get() {\n    f(n);\n  }\n}\n",
            "A.get",
            ["class A {", "  /* of a C */", "  int n = 0;"],
        ),
        (
            "a.scss",
            "// The brand's.\n$main: #036;\n\n.a {\n  color: $main;\n  top: 0;\n}\n",
            ".a",
            ["// The brand's.", "$main: #036;"],
        ),
        (
            "a.rb",
            "class A\n  # At most.\n  MOST = 3\n\n  def f\n    go(MOST)\n  end\nend\n",
            "A.f",
            ["class A", "  # At most.", "  MOST = 3"],
        ),
        (
            "Makefile",
            "# Of the compiler.\nFLAGS = -O2\n\nall:\n\tcc $(FLAGS) a.c\n",
            "all",
            ["# Of the compiler.", "FLAGS = -O2"],
        ),
    ],
    ids=["python", "directive", "apart", "group", "member", "scss", "ruby", "make"],
)
def test_a_comment_on_a_constant_is_told_with_it(path: str, text: str, name: str, told: list[str]) -> None:
    assert header(path, text, name) == told


def test_a_long_comment_hides_no_constant() -> None:
    remark = "".join(f"# Reason {n} for the least amount that is charged at all.\n" for n in range(80))
    lines = header("a.py", f"{remark}LEAST = 40\n\n\ndef f():\n    return LEAST\n", "f")
    assert lines[0] == "# Reason 0 for the least amount that is charged at all."
    assert lines[-2:] == ["...", "LEAST = 40"]


STORE = (
    "// Store keeps rows.\n//\n// Invariant: sorted.\ntype Store struct {\n\trows []string // by name\n}\n"
)


@pytest.mark.parametrize(
    ("path", "text", "name", "told"),
    [
        (
            "a.go",
            f"package a\n\n{STORE}\nfunc other() {{}}\n\nfunc (s *Store) Put() {{\n\ts.rows = nil\n}}\n",
            "Store.Put",
            ["package a", *STORE.rstrip().split("\n")],
        ),
        (
            "a.go",
            "package a\n\nfunc (h Handler) Run() {\n\th()\n}\n\n// Handler runs once.\ntype Handler func()\n",
            "Handler.Run",
            ["package a", "// Handler runs once.", "type Handler func()"],
        ),
        (
            "a.rs",
            "/// Rows, sorted.\npub struct Store {\n    rows: Vec<u8>,\n}\n\nimpl Store {\n"
            "    fn put(&mut self) {\n        self.rows.sort();\n    }\n}\n",
            "Store.put",
            ["/// Rows, sorted.", "pub struct Store {", "    rows: Vec<u8>,", "}", "impl Store {"],
        ),
        (
            "a.cpp",
            "/// Rows, sorted.\nclass Store {\n public:\n  void put();\n  int n_ = 0;\n};\n\n"
            "void Store::put() {\n  n_++;\n}\n",
            "Store.put",
            ["/// Rows, sorted.", "class Store {", "  int n_ = 0;"],
        ),
        (
            "a.swift",
            "/// Rows, sorted.\nstruct Store {\n    var rows = 0\n}\n\nextension Store {\n"
            "    func put() {\n        go()\n    }\n}\n",
            "Store.put",
            ["/// Rows, sorted.", "struct Store {", "    var rows = 0", "extension Store {"],
        ),
        (
            "a.swift",
            "/// Rows.\nclass Store {\n    class Row {\n    }\n}\n\nextension Store.Row {\n"
            "    func put() {\n        go()\n    }\n}\n",
            "Store.Row.put",
            ["/// Rows.", "class Store {", "    class Row {", "    }", "extension Store.Row {"],
        ),
        (
            "a.js",
            "/** Rows, sorted. */\nfunction Store() {\n  this.rows = [];\n}\n\n"
            "Store.prototype.put = function (x) {\n  this.rows.push(x);\n};\n",
            "Store.put",
            ["/** Rows, sorted. */", "function Store() {"],
        ),
    ],
    ids=["go", "go-below", "rust", "cpp", "swift", "swift-inner", "javascript"],
)
def test_a_method_is_told_the_type_that_it_adds_to(path: str, text: str, name: str, told: list[str]) -> None:
    assert header(path, text, name) == told


@pytest.mark.parametrize(
    ("path", "head", "field", "method"),
    [
        ("a.go", "type Big struct {", "\tfield{n}, other{n} int `x`", "func (b Big) F() { b.G(b.other7) }"),
        (
            "a.rs",
            "pub struct Big {",
            "    pub(crate) field{n}: u8,",
            "impl Big { fn F(&self) { g(self.field7) } }",
        ),
    ],
)
def test_of_many_fields_those_that_a_method_uses_are_told(
    path: str, head: str, field: str, method: str
) -> None:
    blanks = field[: len(field) - len(field.lstrip())]
    fields = [f"{blanks}// number {n}\n" + field.replace("{n}", str(n)) for n in range(40)]
    package = "package a" if path == "a.go" else ""
    text = "\n".join([package, "// Big is big.", head, *fields, "}", "", method, ""])
    told = header(path, text, "Big.F")
    about = [line for line in told if line and line != "package a" and "impl" not in line]
    assert about == ["// Big is big.", head, *fields[7].split("\n")]


def test_what_lies_in_a_method_is_told_its_receiver() -> None:
    inner = "\ttype row struct {\n\t\tn int\n\t}\n"
    text = f"package a\n\n{STORE}\nfunc (s *Store) Put() {{\n{inner}}}\n"
    told = header("a.go", text, "Store.Put.row")
    assert told == ["package a", *STORE.rstrip().split("\n"), "func (s *Store) Put() {"]


def test_a_type_is_not_told_itself() -> None:
    chunks = chunks_of("a.go", f"package a\n\n{STORE}\nfunc (s *Store) Put() {{\n\ts.rows = nil\n}}\n")
    assert chunks["Store"].header_text == "package a"
    rust = chunks_of(
        "a.rs", "/// Rows.\npub struct Store {\n    n: u8,\n}\n\nimpl Store {\n    fn f() {\n    }\n}\n"
    )
    assert rust["Store"].header_text == ""
    assert rust["Store#2"].header_text.startswith("/// Rows.\npub struct Store {")


MANY = 60


def test_a_python_class_tells_all_that_it_assigns() -> None:
    assigned = [f"    column_{n} = Column(kind_{n}, limit={n})" for n in range(MANY)]
    text = "class Row:\n" + "\n".join(assigned) + "\n\n    def first(self):\n        return self.column_0\n"
    assert header("a.py", text, "Row.first") == ["class Row:", *assigned]


def test_in_other_languages_many_members_are_told_where_they_are_used() -> None:
    fields = "".join(f"  /** Column {n}. */\n  int column{n} = {n};\n" for n in range(MANY))
    text = f"class Row {{\n{fields}\n  int first() {{\n    return column0;\n  }}\n}}\n"
    assert header("Row.java", text, "Row.first") == [
        "class Row {",
        "  /** Column 0. */",
        "  int column0 = 0;",
    ]


def test_what_a_loop_counts_is_no_constant() -> None:
    text = "for (let i = 0; i < 9; i++) {\n  go(i);\n}\n\nfunction f(i) {\n  return go(i);\n}\n"
    assert header("a.ts", text, "f") == [""]


GROUP = (
    'package a\n\nimport "fmt"\n\n// Kinds of it.\ntype (\n\t// A is.\n\tA struct {\n\t\tx int\n\t}\n\n'
    "\t// B is.\n\tB interface {\n\t\tF() int\n\t}\n\tC = A\n)\n\nvar (\n\t// Least.\n\tf = 3\n\tg = 4\n)\n\n"
    "func (a A) M() int {\n\treturn g\n}\n"
)


def test_the_types_of_a_group_are_told_its_keyword() -> None:
    chunks = chunks_of("a.go", GROUP)
    assert chunks["<file_header>"].body == 'package a\n\nimport "fmt"'
    assert chunks["A"].header_text == "package a"
    assert chunks["A"].body == "// Kinds of it.\ntype (\n\t// A is.\n\tA struct {\n\t\tx int\n\t}"
    for name in "BC":
        assert chunks[name].header_text == "package a\n// Kinds of it.\ntype ("
    assert chunks["C"].body == "C = A\n)"
    assert chunks["<module>"].body.startswith("var (")


def test_what_is_used_of_a_group_is_told_with_its_keyword() -> None:
    told = header("a.go", GROUP, "A.M")
    kinds = ["// Kinds of it.", "type (", "\t// A is.", "\tA struct {", "\t\tx int", "\t}"]
    assert told == ["package a", *kinds, "var (", "\tg = 4", ")"]


@pytest.mark.parametrize(
    ("path", "text", "name", "told"),
    [
        (
            "a.rb",
            "class A\n  include Comparable\n  attr_reader :x\n\n  # Made so.\n  class << self\n    def make\n"
            "      new\n    end\n  end\nend\n",
            "A.make",
            ["class A", "  include Comparable", "  attr_reader :x", "  # Made so.", "  class << self"],
        ),
        (
            "a.cpp",
            '#include <a>\n\nextern "C" {\nint f() {\n  return 1;\n}\n\nint g() {\n  return 2;\n}\n}\n',
            "g",
            ["#include <a>", 'extern "C" {'],
        ),
        (
            "a.cpp",
            "namespace {\nconst int k = 3;\nconst int l = 4;\n\nint g() {\n  return k;\n}\n}\n",
            "g",
            ["namespace {", "const int k = 3;"],
        ),
        (
            "a.cpp",
            "namespace {\nconst int k = 3;\nconst int l = 4;\n}\n\nint g() {\n  return k;\n}\n",
            "g",
            ["namespace {", "const int k = 3;", "}"],
        ),
        (
            "a.rs",
            'extern "C" {\n    fn a();\n    fn b(\n        x: u8,\n    );\n}\n',
            "b",
            ['extern "C" {'],
        ),
        (
            "a.scala",
            "extension (s: String)\n  def one: Int =\n    f(s)\n\n  def two: Int =\n    f(s)\n",
            "two",
            ["extension (s: String)"],
        ),
        (
            "a.ts",
            "declare global {\n  interface A {\n    a: 1;\n  }\n\n  interface B {\n    b: 1;\n  }\n}\n",
            "B",
            ["declare global {"],
        ),
        (
            "a.php",
            "<?php\nclass B {\n    use T, U;\n    private $x = 1;\n\n    function f() {\n    }\n}\n",
            "B.f",
            ["class B {", "    use T, U;", "    private $x = 1;"],
        ),
        (
            "a.sol",
            "contract A {\n  using B for uint;\n\n  function f() public {\n    g();\n  }\n}\n",
            "A.f",
            ["contract A {", "  using B for uint;"],
        ),
        (
            "a.kt",
            'class A {\n    var state: Int = 0\n        private set\n\n    var name: String = ""\n'
            "        get() = field.trim()\n        private set\n\n    val size: Int\n        get() = 1\n\n"
            "    fun step() {\n        state += 1\n    }\n}\n",
            "A.step",
            ["class A {", "    var state: Int = 0", "        private set", '    var name: String = ""'],
        ),
        (
            "a.scala",
            "class A {\n  import Consts._\n\n  def over(x: Int) = max(x, 1) > Limit\n}\n\nobject B {\n"
            "  def g = 1\n}\n",
            "A.over",
            ["class A {", "  import Consts._"],
        ),
        (
            "a.py",
            "class A:\n    import re\n\n    def f(self):\n        return self.re.match()\n",
            "A.f",
            ["class A:", "    import re"],
        ),
        (
            "a.py",
            "def f():\n    import re\n\n    def g():\n        return re.match()\n\n    return g\n",
            "f.g",
            ["def f():", "    import re"],
        ),
        (
            "a.rs",
            "thread_local! {\n    static DEPTH: u8 = 1;\n}\n\nlazy_static! {\n    static ref M: u8 = 2;\n}\n"
            "fn depth() {\n    DEPTH.with(|d| d.get())\n}\n",
            "depth",
            ["thread_local! {", "    static DEPTH: u8 = 1;", "}"],
        ),
        (
            "a.rb",
            "class A\n  # How many.\n  @@count = 0\n  @rows ||= {}\n\n  def self.add(x)\n    @y = x\n"
            "  end\n\n  def go\n    @@count += 1\n  end\nend\n",
            "A.go",
            ["class A", "  # How many.", "  @@count = 0", "  @rows ||= {}"],
        ),
    ],
    ids=[
        "singleton",
        "linkage",
        "unnamed",
        "of-unnamed",
        "foreign",
        "extension",
        "global",
        "trait",
        "using",
        "accessors",
        "imports-of-a-class",
        "imports-of-a-python-class",
        "imports-of-a-function",
        "statics-in-a-macro",
        "values-of-a-class",
    ],
)
def test_what_encloses_without_a_name_and_what_a_type_takes_in_is_told(
    path: str, text: str, name: str, told: list[str]
) -> None:
    assert header(path, text, name) == told


def test_what_encloses_begins_the_first_chunk_in_it_and_ends_the_last() -> None:
    text = 'extern "C" {\nint f() {\n  return 1;\n}\n\nint g() {\n  return 2;\n}\n}\n\nint k = 3;\n'
    chunks = chunks_of("a.cpp", text)
    assert chunks["f"].body == 'extern "C" {\nint f() {\n  return 1;\n}'
    assert chunks["g"].body == "int g() {\n  return 2;\n}\n}"
    assert chunks["<module>"].body == "int k = 3;"


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        (
            "a.pm",
            "package A;\n\nsub a { 1 }\n\n{\n    package B::C;\n    sub b { 1 }\n}\n\nsub c { 1 }\n\n"
            "package D;\n\nsub d { 1 }\n",
            {
                "A.a": ["package A;"],
                "B.C.b": ["    package B::C;"],
                "A.c": ["package A;"],
                "D.d": ["package D;"],
            },
        ),
        (
            "a.php",
            "<?php\nnamespace A;\nfunction a() { }\n\nnamespace B;\nfunction b() { }\n",
            {"A.a": ["namespace A;"], "B.b": ["namespace B;"]},
        ),
        ("a.pm", "sub a { 1 }\n\npackage B;\n\nsub b { 1 }\n", {"a": [""], "B.b": ["package B;"]}),
    ],
    ids=["perl", "php", "before"],
)
def test_of_several_packages_the_one_around_is_told(path: str, text: str, told: dict[str, list[str]]) -> None:
    assert {name: header(path, text, name) for name in told} == told


def test_the_lines_of_a_header_end_at_lf_whatever_the_file_has() -> None:
    text = 'import (\n\t"fmt"\n)\n\n/* Store\n * keeps. */\ntype Store struct {\n\tn int\n}\n\n'
    text = f"package a\n\n{text}func (s Store) Put() {{\n\tfmt.Println(s.n)\n}}\n"
    plain = header("a.go", text, "Store.Put")
    assert header("a.go", text.replace("\n", "\r\n"), "Store.Put") == plain
    assert plain[-5:] == ["/* Store", " * keeps. */", "type Store struct {", "\tn int", "}"]


def test_a_byte_order_mark_is_in_no_header() -> None:
    text = "\ufeffusing System.Text;\n\nclass A\n{\n    int F()\n    {\n        return 1;\n    }\n}\n"
    chunks = analyze(Job(b"A.cs", text.encode(), "", CutOptions()), words).chunks
    assert [c.header_text for c in chunks if c.symbol == "A.F"] == ["using System.Text;\nclass A\n{"]


@pytest.mark.parametrize(
    ("path", "text", "name", "told"),
    [
        (
            "a.c",
            "/* At most. */\n#define MAX 8\n/* Adds. */\n#define ADD(a, b) \\\n  ((a) + (b))\n"
            "#define ROWS \\\n  1, 2\n\nint f(void)\n{\n  return ADD(MAX, ROWS);\n}\n",
            "f",
            [
                *("/* At most. */", "#define MAX 8", "/* Adds. */", "#define ADD(a, b) \\", "  ((a) + (b))"),
                *("#define ROWS \\", "  1, 2"),
            ],
        ),
        (
            "A.kt",
            "class A {\n  // Made late.\n  var n: B? = null\n  val rows = listOf(\n    1,\n  )\n"
            "  /** Big. */\n  val big: Int\n    get() {\n      return 1\n    }\n\n"
            "  fun f() {\n    g(n, rows, big)\n  }\n}\n",
            "A.f",
            ["class A {", "  // Made late.", "  var n: B? = null", "  val rows = listOf(", "    1,", "  )"],
        ),
        (
            "A.cs",
            "class A\n{\n    /// <summary>Size.</summary>\n    public int Size { get; set; }\n\n"
            "    void F()\n    {\n        Size = 1;\n    }\n}\n",
            "A.F",
            ["class A", "{", "    /// <summary>Size.</summary>", "    public int Size { get; set; }"],
        ),
    ],
    ids=["macro", "property", "accessors"],
)
def test_a_documented_value_is_told_though_it_is_a_unit(
    path: str, text: str, name: str, told: list[str]
) -> None:
    assert header(path, text, name) == told


def test_what_has_no_name_is_used_by_nobody_or_by_all() -> None:
    go = "package p\n\nvar _ I = (*T)(nil)\n\nfunc f() {\n\tfor _, x := range y() {\n\t\tg(x)\n\t}\n}\n"
    assert header("a.go", go, "f") == ["package p"]
    rust = "use std::fmt::Write as _;\nuse a::b;\n\nfn f(s: String) {\n    s.write_str();\n}\n\nmod b {}\n"
    assert header("a.rs", rust, "f") == ["use std::fmt::Write as _;"]
    python = "from gettext import gettext as _\n\n\ndef f():\n    return _('a')\n\n\ndef g():\n    return 1\n"
    assert header("a.py", python, "f") == ["from gettext import gettext as _"]
    assert header("a.py", python, "g") == [""]
