"""What only a preprocessor could make sense of costs no symbol of the rest."""

from __future__ import annotations

import pytest
from parse_support import parsed

FIELDS = b"""\
#define UV_EXTERN /* nothing */
#endif
struct shutdown_s {
  REQ_FIELDS
  int *handle;
  PRIVATE_FIELDS(x)
};
int after(void) { return 1; }
"""
BRANCHES = b"""\
#if A
int run(int x) {
#else
int run(long x) {
#endif
  return 1;
}
int after(void) { return 2; }
"""
BEHIND = b"""\
int add(int a) WARN_UNUSED_RESULT;
char *next(int a)
  WARN_UNUSED_RESULT;
int after(void) { return 2; }
"""
STATEMENTS = b"""\
static int
ulp
 (int *x)
{
  int b[] = { 1
#ifdef VAX
    , 2
#endif
  };
  if (x)
#ifdef FREE
    FREE(x);
#else
    free(x);
#endif
  else {
 again:
#ifdef LAZY
    x = 0;
#endif
    g(x);
  }
#ifdef TIME_R
  if (f(x) == 0)
#else
  if (!g(x))
#endif
    return 1;
  else {
    i =
#ifdef DENORM
      x ? 2 :
#endif
#ifdef IBM
      3;
#else
      4;
#endif
  }
#ifdef HONOR
  if (x) { h(); }
  else
#endif
  {
    g(x);
  }
  return b[0];
}
int after(void) { return 1; }
"""
ROWS = b"""\
static const row rows[] = {
  {"a", 1},
#include "rows.h"
  ROW(b, 2),
#undef ROW
  {"c", 3}};
#define KEPT 1
#ifdef A
int a(void) { return 1; }
#else
int b(void) { return 1; }
#endif
"""
TYPES = b"""\
BOOL WINAPI DllMain(HANDLE module,
                    DWORD reason)
{
  return TRUE;
}
static DWORD read_exactly(LIB_NODISCARD int* handle) { return 0; }
typedef const LIB_ROW row_t;
typedef BOOL (PASCAL *accept_t)
    (SOCKET socket, DWORD length);
LIB_API int api(void);
"""
NAMES = {
    "conditions within statements": ("c", STATEMENTS, {"ulp", "after"}),
    "directives among values": ("c", ROWS, {"rows", "KEPT", "a", "b"}),
    "a macro alone on its line": (
        "cpp",
        b"struct A {\n};\nLIB_END_NAMESPACE\n\nTEST(Suite, Case) {\n}\n// Why.\nLIB_BEGIN\n\nstruct B {};\n",
        {"A", "Suite.Case", "B"},
    ),
    "a macro behind a qualifier": (
        "cpp",
        b"int A::f() const\n    LOCKS_EXCLUDED_(mutex_) {\n  return 1;\n}\nint after();\n",
        {"A.f", "after"},
    ),
    "types in capitals": ("c", TYPES, {"DllMain", "read_exactly", "row_t", "accept_t", "api"}),
    "a macro defined in a function": ("c", b"int f(void) {\n#define D 1\n  return D;\n}\n", {"f", "D"}),
    "fields": ("c", b"#if X\n" + FIELDS, {"UV_EXTERN", "shutdown_s", "after"}),
    "branches": ("c", BRANCHES, {"run", "after"}),
    "behind": ("c", BEHIND, {"add", "next", "after"}),
    "attribute in a define": ("c", b"#define GLAPI extern\nGLAPI int f(int a);\nint g(\n", {"GLAPI", "f"}),
    "a call with a body": ("c", b"TEST_IMPL(pool) {\n  return 1;\n}\nint after;\n", {"pool", "after"}),
    "members": (
        "cpp",
        b"class A {\n  int n GUARDED_BY(mu_);\n  void f(int a) REQUIRES(mu_);\n};\n"
        b"int after() { return 1; }\n",
        {"A", "A.n", "A.f", "after"},
    ),
    "initialisers": (
        "cpp",
        b"class L {\n  L(int m)\n      :\n#if !defined(N)\n        m_(m),\n#endif\n        a_(m) {\n  }\n"
        b"  void f();\n};\n",
        {"L", "L.L", "L.f"},
    ),
    "defaulted": (
        "cpp",
        b"A::A() = default;\nA::~A() = default;\nvoid f() { g() = x; }\n",
        {"A.A", "A.~A", "f"},
    ),
    "a macro before a type's name": (
        "cpp",
        b"struct LIB_API Options {\n  Options();\n  bool x = false;\n};\nclass API Empty { };\n"
        b"union API Both final {\n  int y;\n};\n",
        {"Options", "Options.Options", "Options.x", "Empty", "Both", "Both.y"},
    ),
    "the same in C": ("c", b"struct LIB_API point {\n  int x;\n};\nint after;\n", {"point", "after"}),
    "a variable of a type in capitals": (
        "cpp",
        b"struct POINT a{1, 2};\nstruct POINT b {};\nstruct POINT c{{1}, {2}};\n",
        {"a", "b", "c"},
    ),
    "an enumeration without a name": ("cpp", b"enum : int { X };\nenum { Y };\nint after;\n", {"after"}),
    "half a declaration": (
        "csharp",
        b"interface I\n{\n    I For(int a)\n#if X\n        => new();\n#else\n    ;\n#endif\n"
        b"    void G();\n}\n",
        {"I", "I.For", "I.G"},
    ),
}


@pytest.mark.parametrize("case", NAMES)
def test_symbols_around_what_is_masked(case: str) -> None:
    language, source, names = NAMES[case]
    assert {s.symbol for s in parsed(language, source).symbols} == names


def test_a_define_whose_value_is_a_comment_ends_on_its_line() -> None:
    (found,) = (s for s in parsed("c", NAMES["fields"][1]).symbols if s.name == "UV_EXTERN")
    assert NAMES["fields"][1][found.start : found.end] == b"#define UV_EXTERN"


@pytest.mark.parametrize(
    "case", ["conditions within statements", "directives among values", "types in capitals"]
)
def test_what_the_preprocessor_would_mend_is_no_damage(case: str) -> None:
    language, source, _ = NAMES[case]
    assert parsed(language, source).status == "ok"
