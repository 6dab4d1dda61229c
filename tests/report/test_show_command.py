"""`ckvd show`: it takes what the other commands print, and what a shell completes."""

from __future__ import annotations

from support import Ckvd, Tree


def test_a_path_is_taken_as_it_is_printed(ckvd: Ckvd, folder: Tree) -> None:
    folder.write({"n\nl.py": "def g():\n    return 1\n\n\ndef g2():\n    return 2\n", r"a\x0a.py": "x = 1\n"})
    ckvd("index", folder.root)
    printed = ckvd("search", "g2", "--mode", "keyword", cwd=folder.root).stdout
    assert r"n\x0al.py:5-6" in printed
    for what in (r"n\x0al.py:5", r"n\x0al.py::g2", "n\nl.py:5"):
        assert "return 2" in ckvd("show", what, cwd=folder.root).stdout
    assert "x = 1" in ckvd("show", r"a\x0a.py:1", cwd=folder.root).stdout  # a name that holds just that
    said = ckvd("show", r"o\x0al.py:1", cwd=folder.root, code=1).stderr
    assert r"no chunk 'o\x0al.py:1';" in said


def test_a_path_from_here_and_from_the_top(ckvd: Ckvd, tree: Tree) -> None:
    tree.write({"README.md": "# Above\n", "in/README.md": "# Within\n"})
    ckvd("index", tree.root)
    within = tree.root / "in"
    assert "Above" in ckvd("show", "./README.md:1", cwd=tree.root).stdout
    assert "Within" in ckvd("show", "./README.md:1", cwd=within).stdout
    assert "Above" in ckvd("show", "../README.md:1", cwd=within).stdout
    assert "Above" in ckvd("show", "README.md:1", cwd=within).stdout
    assert "Within" in ckvd("show", f"{within}/README.md:1", cwd=tree.root).stdout
    assert "Within" in ckvd("show", "./in/README.md:1", "--root", tree.root, cwd="/").stdout
    ckvd("show", "/etc/passwd:1", cwd=tree.root, code=1)
