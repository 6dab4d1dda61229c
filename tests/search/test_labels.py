from __future__ import annotations

import pytest

from ckvd import languages
from ckvd.report.labels import changed_lines, cut_docs, innermost, subject_query

PYTHON = b'''"""Module."""


class Cache:
    """Keeps entries."""

    def put(self, key):
        """Store the value under its `key`, replacing an older one. More.

        And more.
        """
        a = 1
        b = 2
        return a + b

    def short(self):
        """Does what its name says, in one line."""
        return 1


def only():
    """Nothing but a docstring stays as it is."""
'''

GO = b"""package a

// Evict drops all entries whose deadline has passed.
func Evict(now int) int {
\t// inner comment
\tn := 0
\tn++
\treturn n
}
"""


def test_python_docstrings_are_cut_as_whole_lines() -> None:
    source, described = cut_docs("a.py", PYTHON, languages.get("python"))
    assert b"Store the value" not in source
    assert b"Keeps entries" not in source
    assert b"Nothing but a docstring" in source
    compile(source, "a.py", "exec")
    assert [(d.sentence, d.symbol) for d in described] == [
        ("Store the value under its key , replacing an older one.", "Cache.put")
    ]


def test_doc_comments_are_cut_and_the_name_is_not_given_away() -> None:
    source, described = cut_docs("a.go", GO, languages.get("go"))
    assert b"drops all entries" not in source
    assert b"inner comment" in source
    assert [(d.sentence, d.symbol) for d in described] == [
        ("drops all entries whose deadline has passed.", "Evict")
    ]


def test_a_file_that_python_cannot_read_is_left_alone() -> None:
    broken = b'def f(:\n    """Some words of a docstring."""\n    return 1\n'
    assert cut_docs("a.py", broken, languages.get("python"))[0] == broken


@pytest.mark.parametrize(
    ("subject", "query"),
    [
        ("fix(cache): Drop stale entries before the limit (#123)", "Drop stale entries before the limit"),
        ("parser: accept a trailing comma in calls", "accept a trailing comma in calls"),
        ("Bump foo from 1 to 2 in the group", None),
        ("Merge branch 'main' into feature branch now", None),
        ("Fix typo in the readme of it", None),
        ("Fix it", None),
        ("1.2.3 is out for all to use", None),
    ],
)
def test_subjects_as_queries(subject: str, query: str | None) -> None:
    assert subject_query(subject) == query


def test_lines_that_a_diff_changes() -> None:
    diff = b"""diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -3,2 +3,1 @@ def f():
-x
-y
+z
@@ -10,0 +10,2 @@
+p
+q
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1,2 @@
+a
+b
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-a
diff --git a/image.png b/image.png
Binary files differ
"""
    assert changed_lines(diff) == {b"a.py": [(3, 4), (10, 11)]}


def test_innermost_functions() -> None:
    functions = [("f", 1, 20), ("f.g", 5, 10), ("h", 30, 40)]
    assert innermost(functions, [(6, 7)]) == ["f.g"]
    assert innermost(functions, [(2, 3), (35, 35)]) == ["f", "h"]
    assert innermost(functions, [(25, 26)]) == []
