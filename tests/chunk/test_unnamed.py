"""Types and objects without a name (`new X() { … }`): what lies in one is told its first line and its fields,
nobody else is. And fields that are declared elsewhere than in the body of their type."""

from __future__ import annotations

import pytest
from test_real_headers import chunks_of

JAVA = """\
class A {
  private final Handler field = new Handler() {
    int inner = 3;

    public void handle(int x) {
      inner += x;
    }
  };

  void go(int inner) {
    Runnable r = new Runnable() {
      private int count = 0;

      public void run() {
        count++;
      }
    };
    sort(new Comparator<String>() {
      public int compare(String count, String b) {
        return count;
      }
    });
  }
}
"""
FIELD = ["  private final Handler field = new Handler() {", "..."]
KOTLIN = """\
class A {
    companion object {
        /** At most. */
        private const val LIMIT = 5

        fun open() {
            go()
        }
    }

    fun go(): Int {
        val one = object : Listener {
            private var count = 0

            override fun onClick() {
                count++
            }
        }
        return LIMIT
    }
}
"""
COMPANION = [
    "    companion object {",
    "        /** At most. */",
    "        private const val LIMIT = 5",
]
PHP = """\
<?php
return new class extends Migration
{
    protected $table = 'pg';

    public function up()
    {
        go($this->table);
    }

    public function down()
    {
        stop();
    }
};

function other($table)
{
    return $table;
}
"""
JS = """\
const x = { limit: 3, get() {
    return this.limit;
  } };

module.exports = {
  one: function () {
    return this.name;
  },
  name: 'comp',
  other: [],
  create(context) {
    return wrap({
      Identifier(node) {
        context.report(node);
      },
    });
  },
};

function use(name) {
  return name;
}
"""
RUBY = """\
class A
  class << self
    attr_accessor :filter

    def open
      filter
    end
  end

  attr_reader :rows

  def self.make
    filter
  end

  def go
    rows
  end

  included do
    def inside
      rows
    end
  end
end
"""
SINGLETON = ["  class << self", "    attr_accessor :filter"]
SCALA = """\
object A {
  def f(): Unit = {
    val l = new Listener(1) {
      val count = 0

      def run(): Int = {
        count
      }
    }
  }
}
"""
ZIG = """\
fn List(comptime T: type) type {
    return struct {
        items: []T,

        pub fn push(self: *@This(), x: T) void {
            self.items = x;
        }
    };
}
"""
LUA = """\
return {
  name = "x",
  size = 3,
  go = function(self)
    return self.name
  end,
}
"""


@pytest.mark.parametrize(
    ("path", "text", "name", "told"),
    [
        ("A.java", JAVA, "A.field.handle", ["class A {", FIELD[0], "    int inner = 3;"]),
        ("A.java", JAVA, "A.go", ["class A {", *FIELD]),
        (
            *("A.java", JAVA, "A.go.run"),
            [
                *("class A {", *FIELD, "  void go(int inner) {"),
                *("    Runnable r = new Runnable() {", "      private int count = 0;"),
            ],
        ),
        (
            *("A.java", JAVA, "A.go.compare"),
            ["class A {", *FIELD, "  void go(int inner) {", "    sort(new Comparator<String>() {"],
        ),
        (
            *("A.kt", KOTLIN, "A.go.onClick"),
            [
                *("class A {", *COMPANION, "    }", "    fun go(): Int {"),
                *("        val one = object : Listener {", "            private var count = 0"),
            ],
        ),
        ("a.php", PHP, "up", ["return new class extends Migration", "{", "    protected $table = 'pg';"]),
        ("a.php", PHP, "down", ["return new class extends Migration", "{", "    protected $table = 'pg';"]),
        ("a.php", PHP, "other", [""]),
        ("a.js", JS, "one", ["  name: 'comp',"]),
        ("a.js", JS, "create", ["module.exports = {"]),
        ("a.js", JS, "create.Identifier", ["module.exports = {", "  create(context) {", "    return wrap({"]),
        ("a.js", JS, "use", [""]),
        (
            "a.vue",
            "<script>\nexport default {\n  name: 'comp',\n  size: 1,\n  methods: {\n    go() {\n"
            "      return this.name;\n    },\n  },\n};\n</script>\n",
            "default.methods.go",
            ["export default {", "  name: 'comp',", "  methods: {"],
        ),
        (
            "a.ts",
            "function mixin(base) {\n  return class extends base {\n    rows = 0;\n\n    size() {\n"
            "      return this.rows;\n    }\n  };\n}\n",
            "mixin.size",
            ["function mixin(base) {", "  return class extends base {", "    rows = 0;"],
        ),
        ("a.rb", RUBY, "A.open", ["class A", *SINGLETON, "  attr_reader :rows"]),
        ("a.rb", RUBY, "A.make", ["class A", *SINGLETON, "  attr_reader :rows"]),
        ("a.rb", RUBY, "A.go", ["class A", "  attr_reader :rows"]),
        ("a.rb", RUBY, "A.inside", ["class A", "  attr_reader :rows", "  included do"]),
        (
            *("a.scala", SCALA, "A.f.run"),
            [
                *("object A {", "  def f(): Unit = {", "    val l = new Listener(1) {"),
                "      val count = 0",
            ],
        ),
        (
            *("a.zig", ZIG, "List.push"),
            ["fn List(comptime T: type) type {", "    return struct {", "        items: []T,"],
        ),
        ("a.lua", LUA, "go", ["return {", '  name = "x",']),
    ],
)
def test_what_lies_in_what_has_no_name_is_told_its_first_line_and_its_fields(
    path: str, text: str, name: str, told: list[str]
) -> None:
    assert chunks_of(path, text)[name].header_text.split("\n") == told


def test_the_comment_on_what_has_no_name_is_told() -> None:
    chunks = chunks_of(
        "a.js",
        "/**\n * Forbids tabs.\n */\nmodule.exports = {\n  meta: {},\n  create() {\n    go();\n  },\n};\n",
    )
    assert chunks["create"].header_text == "/**\n * Forbids tabs.\n */\nmodule.exports = {"
    chunks = chunks_of(
        "a.php",
        "<?php\n// Makes it.\nreturn new class extends B {\n    function up()\n    {\n    }\n\n"
        "    function down()\n    {\n    }\n};\n",
    )
    assert chunks["up"].body.startswith("// Makes it.\nreturn new class extends B {\n    function up()")
    assert chunks["down"].header_text == "// Makes it.\nreturn new class extends B {"


def test_the_line_that_opens_an_object_begins_the_first_chunk_in_it() -> None:
    chunks = chunks_of("a.js", JS)
    assert chunks["one"].body.startswith("module.exports = {\n  one: function () {")
    assert "name: 'comp'" in chunks["<module>"].body


def test_an_object_on_one_line_begins_no_chunk_behind_it() -> None:
    chunks = chunks_of(
        "a.js",
        "module.exports = { foo: function () { return 1; }, bar };\ndescribe('a', () => {\n  go();\n});\n",
    )
    assert chunks["a"].body.startswith("describe(")


TYPESCRIPT = """\
class Orders {
  constructor(
    private readonly repo: Repo,
    limit: number,
  ) {
    go(limit);
  }

  find() {
    return this.repo;
  }
}
"""


@pytest.mark.parametrize(
    ("path", "text", "name", "told"),
    [
        (
            *("a.ts", TYPESCRIPT, "Orders.find"),
            [
                *("class Orders {", "  constructor(", "    private readonly repo: Repo,"),
                *("    limit: number,", "  ) {"),
            ],
        ),
        ("a.ts", TYPESCRIPT, "Orders.constructor", ["class Orders {"]),
        (
            "a.php",
            "<?php\nclass A\n{\n    #[Inject]\n"
            "    public function __construct(private Repo $repo, int $n) {}\n\n"
            "    function find()\n    {\n        return $this->repo;\n    }\n}\n",
            "A.find",
            [
                *("class A", "{", "    #[Inject]"),
                "    public function __construct(private Repo $repo, int $n) {}",
            ],
        ),
        (
            "a.php",
            "<?php\nclass A\n{\n    public function __construct(Repo $repo) {}\n\n"
            "    function find($repo)\n    {\n        return $repo;\n    }\n}\n",
            "A.find",
            ["class A", "{"],
        ),
        ("A.kt", KOTLIN, "A.go", ["class A {", *COMPANION, "    }"]),
        ("A.kt", KOTLIN, "A.Companion.open", ["class A {", *COMPANION]),
        (
            "A.cs",
            "class A\n{\n    public event EventHandler Changed;\n\n"
            "    void F()\n    {\n        Changed();\n    }\n}\n",
            "A.F",
            ["class A", "{", "    public event EventHandler Changed;"],
        ),
    ],
    ids=["ts", "ts-own", "php", "php-plain", "companion", "companion-own", "event"],
)
def test_a_field_that_is_declared_elsewhere_in_its_type_is_told(
    path: str, text: str, name: str, told: list[str]
) -> None:
    assert chunks_of(path, text)[name].header_text.split("\n") == told


@pytest.mark.parametrize(
    ("path", "text", "name", "told"),
    [
        (
            "a.kt",
            "/** Cart doc. */\nclass Cart(val items: List<String>)\n\nfun Cart?.total(): Int {\n"
            "    return this.items.size\n}\n",
            "total",
            ["/** Cart doc. */", "class Cart(val items: List<String>)"],
        ),
        (
            "A.cs",
            "namespace N {\n  /// <summary>Of a shop.</summary>\n  class S<T> {\n    int x;\n  }\n\n"
            "  static class Ext {\n    static int Total(this S<int> s) {\n      return s.x;\n    }\n\n"
            "    static int Other(S<int> s) {\n      return 1;\n    }\n  }\n}\n",
            "N.Ext.Total",
            [
                *("namespace N {", "  /// <summary>Of a shop.</summary>", "  class S<T> {", "    int x;"),
                "  static class Ext {",
            ],
        ),
        (
            "A.cs",
            "namespace N {\n  class S {\n    int x;\n  }\n\n  static class Ext {\n"
            "    static int Total(S s) {\n      return s.x;\n    }\n  }\n}\n",
            "N.Ext.Total",
            ["namespace N {", "  static class Ext {"],
        ),
        (
            "a.dart",
            "/// Of a shop.\nclass Cart {\n  int n = 0;\n}\n\nextension More on Cart {\n  int total() {\n"
            "    return n;\n  }\n}\n",
            "More.total",
            ["/// Of a shop.", "class Cart {", "  int n = 0;", "extension More on Cart {"],
        ),
        (
            "a.scala",
            "/** Of a shop. */\ncase class Cart(n: Int)\n\nextension (s: Cart)\n  def one: Int =\n    s.n\n\n"
            "  def two: Int =\n    s.n\n",
            "two",
            ["/** Of a shop. */", "case class Cart(n: Int)", "extension (s: Cart)"],
        ),
    ],
    ids=["kotlin", "csharp", "csharp-static", "dart", "scala"],
)
def test_an_extension_is_told_the_type_that_it_extends(
    path: str, text: str, name: str, told: list[str]
) -> None:
    assert chunks_of(path, text)[name].header_text.split("\n") == told


def test_what_a_definition_is_given_to_begins_its_chunk() -> None:
    chunks = chunks_of(
        "a.rb",
        "class A\n  # Its doc.\n  private memoize def run\n    1\n  end\n\n"
        "  memoize(def two\n    2\n  end)\nend\n\n"
        "private def top\n  3\nend\n",
    )
    assert chunks["A.run"].body == "# Its doc.\n  private memoize def run\n    1\n  end"
    assert chunks["A"].body.endswith("end)\nend")
    assert chunks["A.two"].body == "memoize(def two\n    2\n  end"
    assert chunks["top"].body == "private def top\n  3\nend"
    assert "<module>" not in chunks
