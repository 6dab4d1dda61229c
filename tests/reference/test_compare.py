"""The comparison counts what it should: a twin, a wrong line and a name too many are told apart."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compare import compared
from references import EXTRACT, Row

COMPARE = Path(__file__).parent / "compare.py"
KINDS = frozenset({"function"})


def row(symbol: str, start: int, end: int, kind: str = "function") -> Row:
    return Row(symbol, start, end, start, kind)


def test_twins_need_twins_and_lines_must_agree() -> None:
    wanted = [Row("f", 1, 2), Row("f", 1, 2), Row("g", 4, 5), Row("h", name=7)]
    given = [row("f", 1, 2), row("g", 4, 6), row("h", 7, 9), row("x", 9, 9), row("LIMIT", 9, 9, "constant")]
    score = compared("a", wanted, given, KINDS)
    assert (score.wanted, score.found) == (4, 2)
    assert [r.symbol for _, r in score.missing] == ["f", "g"]
    assert [r.symbol for _, r in score.extra] == ["g", "x"]
    assert (score.right, score.given) == (2, 4)


def test_prints_a_row_for_the_files_that_the_reference_reads(tmp_path: Path) -> None:
    for i in range(20):
        (tmp_path / f"m{i}.py").write_text("class A:\n    def f(self):\n        pass\n")
    (tmp_path / "broken.py").write_text("def f(:\n")
    command = [sys.executable, str(COMPARE), "--language", "python", "--workers", "1", str(tmp_path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout.split()
    assert said[:3] == ["python", "100.00", "%"]
    assert said[5:9] == ["40", "symbols", "20", "files"]
    assert "(1" in said


def test_fewer_than_twenty_files_are_not_done(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f(): pass\n")
    command = [sys.executable, str(COMPARE), "--language", "python", "--workers", "1", str(tmp_path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    assert said.count("not done") == 2


def test_a_file_that_the_reference_cannot_read_is_said_to_be_one(tmp_path: Path) -> None:
    broken = tmp_path / "b.py"
    broken.write_text("def f(:\n")
    done = subprocess.run(
        [sys.executable, str(EXTRACT / "python.py")],
        input=f"{broken}\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["error"]


def extracted(source: str, suffix: str, language: str, kinds: str, folder: Path) -> list[str]:
    """The names that ctags finds in a source."""
    path = folder / f"a{suffix}"
    path.write_text(source)
    command = [sys.executable, str(EXTRACT / "ctags.py"), language, kinds]
    said = subprocess.run(command, input=f"{path}\n", capture_output=True, text=True, check=True, timeout=60)
    return [row["symbol"] for row in json.loads(said.stdout)["rows"]]


@pytest.mark.skipif(shutil.which("ctags") is None, reason="universal-ctags is not installed")
def test_calls_are_no_prototypes_to_ctags_and_tests_have_their_names(tmp_path: Path) -> None:
    source = (
        'TEST(Pool, Grows) {\n  struct In {};\n  q::f(1);\n}\nTEST_CASE("it shrinks", "[x]") {\n'
        "  struct In {};\n  std::thread t(f);\n}\nTYPED_TEST_SUITE(A, B);\n"
        "struct K {\n  K(int);\n  ~K();\n  operator int();\n  int n GUARDED_BY(mu);\n};\nint g(int);\n"
    )
    assert extracted(source, ".cc", "C++", "fpcsugtdn", tmp_path) == [
        "Pool.Grows",
        "Pool.Grows.In",
        "it shrinks",
        "it shrinks.In",
        "K",
        "K.K",
        "K.~K",
        "K.operator int",
        "g",
    ]
