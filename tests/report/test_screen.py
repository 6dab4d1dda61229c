"""The screen at any width, with and without colour, and what it is made of."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_rows import Rows
from rich.cells import cell_len
from rich.console import Console
from support import Tree

from ckvd.model import Verdict
from ckvd.report import parse, status, terminal
from ckvd.report.screen import screen, short
from ckvd.report.state import Daemon, Status
from ckvd.report.values import Snapshot, Tally, tallies, total, worst_first
from ckvd.store.reader import Outcome

FAILED = Verdict("window", "failed", "syntax-errors", "line 1, column 1: cannot be parsed", 1, 9, ((0, 9),))
EMPTY = Status(root=b"/t", db=b"/t/.ckvd/index.db", built=False, data=Snapshot(), now=1700007500.0)
WATCHING = Daemon(
    4242,
    "watching",
    since=1700000000.0,
    pending_files=0,
    watch={"mode": "events", "watches": 3, "polled": 0, "reason": None},
)


@pytest.fixture
def found(tree: Tree) -> Status:
    rows = Rows(tree)
    for i in range(5):
        rows.clean(f"src/m{i}.py", "f", "g")
    rows.clean("a/very/deep/folder/with/a/long/name/indeed/main.go", "Main", language="go")
    rows.unclean("src/legacy/x.py", b"def f(:\n", FAILED)
    rows.left_out("logo.png", b"\0", "binary")
    return status.collect(rows.store())


def drawn(s: Status, width: int, colour: bool = False) -> str:
    system = "truecolor" if colour else None
    return terminal.rendered(Console(width=width, color_system=system, force_terminal=colour), [screen(s)])


def test_the_screen(found: Status) -> None:
    shown = drawn(replace(found, daemon=WATCHING, behind=None, now=1700007500.0, root=b"/work tree"), 80)
    state, place, blank, *rest = shown.split("\n")
    assert re.fullmatch(r"● watching · since (2023-11-1\d )?\d\d:\d\d \(2 h 5 min\) · pid 4242", state)
    assert place == "/work tree  main @ cccccccccc"
    assert blank == ""
    assert rest[:4] == [
        "revision   1 · 12 of 12 vectors pending",
        "files      8 · 6 by symbol · 1 in windows · 1 skipped",
        "parsed     6 ok · 1 failed · 1 not parsed",
        "skipped    1 binary",
    ]
    assert rest[5:8] == [
        "language   files  ok  partial  failed                  clean",
        "python         6   5        0       1  ██████████░░   83.3 %",
        "go             1   1        0       0  ████████████  100.0 %",
    ]
    assert rest[9:11] == [
        "worst folders  files  ok  partial  failed                clean",
        "src/legacy         1   0        0       1  ░░░░░░░░░░░░  0.0 %",
    ]
    assert "watch      events · 3 folders watched" in rest
    assert rest[-2] == "see        ckvd status --failures  why 1 file came out unclean"


@pytest.mark.parametrize("width", [40, 56, 80, 160])
def test_tables_fit_the_terminal_and_names_stay_readable(found: Status, width: int) -> None:
    shown = drawn(found, width)
    assert max(map(cell_len, shown.split("\n"))) <= width
    assert "python" in shown
    assert "src/legacy" in shown


def test_colour_only_where_there_is_a_terminal(
    found: Status, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "\x1b[" in drawn(found, 80, colour=True)
    status.show(found)
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    status.show(found)
    assert "\x1b[" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    status.show(found)
    assert "\x1b" not in capsys.readouterr().out


def test_a_language_with_damage_is_never_left_out(found: Status) -> None:
    many = [Outcome(f"l{i:02}", "symbol", "ok", None, 100 - i) for i in range(20)]
    outcomes = (*many, Outcome("rare", "window", "failed", "syntax-errors", 1))
    shown = drawn(replace(found, data=replace(found.data, outcomes=outcomes)), 80)
    assert re.search(r"^rare +1 +0 +0 +1 ", shown, re.M)
    assert shown.index("l00") < shown.index("l10") < shown.index("rare")
    assert "l11" not in shown
    assert "and 9 more" in shown


def test_an_encoding_that_cannot_say_it_gets_what_it_can(
    found: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="ascii"))
    status.show(replace(found, root="/träe".encode()))
    shown = out.getvalue().decode("ascii")
    assert "/tr\\xe4e" in shown
    assert "############  100.0 %" in shown


def test_no_index_says_what_to_do(tree: Tree) -> None:
    assert "'ckvd index' builds it" in drawn(EMPTY, 200)
    assert "being built" in drawn(replace(EMPTY, daemon=Daemon(1, "indexing")), 80)


def test_trouble_is_on_the_screen_with_its_remedy(found: Status) -> None:
    daemon = replace(WATCHING, state="indexing", stalled="no file was finished for 9 minutes; end it")
    shown = drawn(replace(found, daemon=daemon, errors=("ckv.yaml, line 2: wrong",)), 80)
    assert shown.startswith("✖ stalled")
    assert "error      no file was finished for 9 minutes; end it" in shown
    assert "error      ckv.yaml, line 2: wrong" in shown


def test_degraded_watching_names_the_limit_to_raise(found: Status) -> None:
    reason = "no inotify watches left: raise fs.inotify.max_user_watches"
    watch = {"mode": "events and polling", "watches": 500, "polled": 20, "overflows": 0, "reason": reason}
    s = replace(found, daemon=replace(WATCHING, watch=watch))
    assert f"watching is degraded: {reason}" in s.notes
    shown = drawn(s, 120)
    assert "watch      events and polling · 500 folders watched · 20 polled" in shown
    assert "raise fs.inotify.max_user_watches" in shown


def test_a_log_that_a_reader_holds_up_is_a_note(found: Status) -> None:
    s = replace(found, data=replace(found.data, wal_bytes=200 << 20))
    assert "200 MiB" in s.notes[-1]
    assert "end it" in drawn(s, 80)


def test_a_head_that_moved_on_is_shown(found: Status) -> None:
    assert found.behind is not None
    moved = replace(found, behind=replace(found.behind, head=("refs/heads/two", "d" * 40)))
    assert "main @ cccccccccc, now two @ dddddddddd" in drawn(moved, 80)


def test_control_characters_of_a_path_never_reach_the_terminal(tree: Tree) -> None:
    rows = Rows(tree)
    rows.unclean("evil\x1b[2Jdir/\u202ex.py", b"def f(:\n", FAILED)
    shown = drawn(status.collect(rows.store()), 100)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "evil\\x1b[2Jdir" in shown


def test_one_line_for_a_prompt(found: Status) -> None:
    assert short(found) == "ckvd stopped · 8 files · 1 unclean · 12 vectors pending"
    assert short(EMPTY) == "ckvd stopped · no index"
    one = replace(found, data=replace(found.data, pending_vectors=1))
    assert short(one).endswith(" · 1 vector pending")


# -- parse rates ----------------------------------------------------------------------------------


def test_the_parse_report(tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    rows = Rows(tree)
    rows.clean("a/x.py", "f")
    rows.clean("a/y.go", "F", language="go")
    rows.unclean("b/z.py", b"def f(:\n", FAILED)
    rows.left_out("b/logo.png", b"\0", "binary")
    rates = parse.collect(rows.store())
    assert parse.as_json(rates) == {
        "revision": 1,
        "total": {"files": 4, "ok": 2, "partial": 0, "failed": 1, "success": 2 / 3},
        "languages": {
            "python": {"files": 2, "ok": 1, "partial": 0, "failed": 1, "success": 0.5},
            "go": {"files": 1, "ok": 1, "partial": 0, "failed": 0, "success": 1.0},
        },
        "directories": [
            {"path": "b", "files": 2, "ok": 0, "partial": 0, "failed": 1, "success": 0.0},
            {"path": "a", "files": 2, "ok": 2, "partial": 0, "failed": 0, "success": 1.0},
        ],
        "reasons": {"binary": 1, "syntax-errors": 1},
    }
    parse.show(rates)
    shown = capsys.readouterr().out
    assert shown.startswith("4 files, 3 parsed, 66.7 % of these without an error\n")
    assert list(map(str.split, shown.split("\n")[3:5])) == [
        ["python", "2", "1", "0", "1", "██████░░░░░░", "50.0", "%"],
        ["go", "1", "1", "0", "0", "████████████", "100.0", "%"],
    ]


# -- small pieces ---------------------------------------------------------------------------------

GROUPS = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from(["ok", "partial", "failed", "none"]), st.integers(1, 50)
    )
)


@given(GROUPS)
def test_tallies_lose_no_file(rows: list[tuple[str, str, int]]) -> None:
    made = tallies(rows)
    assert total(made.values()).files == sum(n for *_, n in rows)
    assert all(t.parsed <= t.files for t in made.values())
    order = [(2.0 if t.success is None else t.success, -t.unclean) for _, t in worst_first(made)]
    assert order == sorted(order)


@given(st.integers(0, 100), st.integers(0, 100))
def test_only_all_is_a_hundred_percent(ok: int, failed: int) -> None:
    share = Tally(ok + failed, ok, 0, failed).success
    if share is None:
        assert ok == failed == 0
        return
    assert (terminal.percent(share) == "100.0 %") == (failed == 0)
    filled, empty = terminal.bar(share, 12)
    assert len(filled + empty) == 12
    assert (empty == "") == (failed == 0)
    assert (filled == "") == (ok == 0)


@given(st.text())
def test_plain_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    shown = terminal.plain(text)
    assert not any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 for c in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
    assert terminal.plain(shown) == shown


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (59, "59 s"), (61, "1 min"), (3600, "1 h 0 min"), (90061, "1 d 1 h"), (-5, "0 s")],
)
def test_durations(seconds: float, said: str) -> None:
    assert terminal.duration(seconds) == said


@pytest.mark.parametrize(
    ("size", "said"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1 << 20, "1.0 MiB"), (1 << 40, "1.0 TiB")],
)
def test_sizes(size: int, said: str) -> None:
    assert terminal.size(size) == said


def test_an_index_of_nothing_is_short(tree: Tree) -> None:
    shown = drawn(status.collect(Rows(tree).store()), 80)
    assert "\n\nrevision   0 · up to date\nfiles      0\nparsed     none\n" in shown
