"""The page: one file that needs nothing else, drawn by a browser in both themes and at both widths."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import zlib
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from report_rows import Rows
from rich.console import Console
from support import Ckvd, Tree

pytest.importorskip("plotly", reason="the extra 'report' is not installed")

from ckvd.model import Verdict
from ckvd.place import Place, place
from ckvd.report import figures, page, status, terminal
from ckvd.report.boundaries import Boundaries, Severed, Tally
from ckvd.report.screen import screen
from ckvd.report.values import Tally as Outcomes
from ckvd.store.metrics import Sample, bucket
from ckvd.store.writer import open_writer

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
EVIL = b"def f(: # </script><script>alert(1)</script> &amp;\n"
BROKEN = Verdict("window", "failed", "syntax-errors", "line 1: <b>no</b>", 1, 5, ((6, 11),))
SPLIT = {"fixed:1200": 6, "fixed:1200+200": 4, "lines:1200": 3, "symbol": 0, "index": 0}
SEVERED = Boundaries(
    {name: {"python": Tally(10, 10 - n, split=n)} for name, n in SPLIT.items()},
    (Severed("src/a.py", "python", "K.m<T>", 3, 40, 2, ("fixed:1200", "lines:1200")),),
    3,
    0,
)
PLOTS = 6
WIDE = Console(width=200, color_system=None)
HOUR = 1_700_000_000 // 3600 * 3600


@pytest.fixture
def where(tree: Tree) -> Place:
    rows = Rows(tree)
    for i in range(5):
        rows.clean(f"src/deep/m{i}.py", "f", "g")
    rows.clean("main.go", "main", language="go")
    rows.unclean("src/<b>.py", EVIL, BROKEN)
    made = rows.store()
    with open_writer(made.db) as writer:
        for n in range(3):
            edits = Counter(map(bucket, (0.01, 0.02, 0.3)))
            writer.record(
                1_700_000_000 // 3600 * 3600 + n * 3600, Sample(rows=edits, vectors=edits), state=True
            )
    return made


@pytest.fixture
def drawn(where: Place) -> str:
    return page.render(replace(page.collect(where), boundaries=SEVERED))


class Elements(HTMLParser):
    """Every element with its attributes, and the text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.text.append(data)


def test_nothing_is_fetched_and_nothing_of_a_file_is_obeyed(drawn: str) -> None:
    found = Elements(drawn)
    assert [tag for tag, _ in found.elements if tag in ("link", "img", "iframe", "object", "base")] == []
    assert [a for _, a in found.elements if "src" in a or "href" in a] == []
    policy = next(a["content"] for _, a in found.elements if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    scripts = [a for tag, a in found.elements if tag == "script"]
    assert [a.get("type") for a in scripts] == ["application/json"] * PLOTS + [None, None]
    text = " ".join(found.text)
    assert "</script><script>alert(1)</script> &amp;" in text
    assert "src/<b>.py" in text
    assert "line 1: <b>no</b>" in text
    assert "K.m<T>" in text


def test_the_figures_of_the_page(drawn: str) -> None:
    data = [
        json.loads(found) for found in re.findall(r'<script type="application/json">(.*?)</script>', drawn)
    ]
    sizes, languages, folders, severed, outcomes, latencies = data
    assert sum(sum(bar["y"]) for bar in sizes["data"]) == 12
    assert [bar["name"] for bar in languages["data"]] == ["ok", "partial", "failed"]
    assert languages["data"][2]["y"] == ["go (1)", "python (6)"]
    assert languages["data"][2]["x"] == [0, pytest.approx(1 / 6)]
    assert folders["data"][0]["ids"][0] == "."
    assert dict(zip(folders["data"][0]["ids"], folders["data"][0]["values"], strict=True)) == {
        ".": 7,
        "src": 6,
        "src/deep": 5,
    }
    assert severed["data"][0]["x"] == [0, 0, 0.3, 0.4, 0.6]
    assert len(outcomes["data"][0]["x"]) == 3
    assert len(latencies["data"]) == 4


def test_folders_that_are_too_many_count_in_those_above() -> None:
    groups = {f"a{i % 50}/b{i}": Outcomes(i + 1, i + 1) for i in range(3 * figures.FOLDERS)}
    tree = json.loads(figures.folders(groups, "root"))["data"][0]
    assert len(tree["ids"]) == figures.FOLDERS
    assert tree["values"][0] == sum(t.files for t in groups.values())
    assert {parent for parent in tree["parents"] if parent} <= set(tree["ids"])


def test_an_empty_index_says_so(tree: Tree) -> None:
    text = page.render(page.collect(Rows(tree).store()))
    assert "There is no file in the index." in html.unescape(text)


def test_the_command(where: Place, tree: Tree, ckvd: Ckvd, tmp_path: Path) -> None:
    file = tmp_path / "out.html"
    assert ckvd("report", "--html", file, str(tree.root)).stdout == f"{file}\n"
    first = file.read_bytes()
    assert first.startswith(b"<!DOCTYPE html>")
    assert file.stat().st_mode & 0o777 == 0o600
    ckvd("report", f"--html={file}", cwd=tree.root)
    assert [p.name for p in tmp_path.iterdir() if p.suffix == ".html"] == ["out.html"]
    failed = ckvd("report", "--html", tmp_path / "nowhere" / "x.html", str(tree.root), code=1)
    assert "cannot write" in failed.stderr
    link = tmp_path / "link.html"
    link.symlink_to(file)
    ckvd("report", "--html", link, str(tree.root))
    assert link.is_symlink()
    os.mkfifo(tmp_path / "pipe")
    refused = ckvd("report", "--html", tmp_path / "pipe", str(tree.root), code=1)
    assert refused.stderr == f"ckvd: {tmp_path / 'pipe'} is not a regular file; name another\n"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    refused = ckvd("report", "--html", where.db, str(tree.root), code=1)
    assert "belongs to the index" in refused.stderr
    assert "--html" in ckvd("report", "--html", code=2).stderr
    assert "--html" in ckvd("report", "parse", "--html", file, code=2).stderr


def test_without_the_library_it_says_what_to_install(
    where: Place, tree: Tree, ckvd: Ckvd, tmp_path: Path
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "plotly.py").write_text("raise ImportError('not here')")
    environ = os.environ | {"PYTHONPATH": str(tmp_path / "broken")}
    failed = ckvd("report", "--html", tmp_path / "x.html", str(tree.root), code=1, env=environ)
    assert "pip install 'ckvd[report]'" in failed.stderr
    assert not (tmp_path / "x.html").exists()


# What the browser sees, told to the page around it: its window can be no narrower than 500 pixels.
PROBE = """<script>
const faults = [];
addEventListener("error", e => faults.push(e.message));
addEventListener("securitypolicyviolation", e => faults.push(e.violatedDirective + " " + e.blockedURI));
setInterval(() => {
  const page = document.documentElement, plot = document.querySelector(".plot text");
  parent.postMessage({
    drawn: page.dataset.drawn, faults, width: innerWidth, needed: page.scrollWidth,
    svg: document.querySelectorAll(".plot svg.main-svg").length > 0,
    empty: [...document.querySelectorAll(".plot")].filter(p => p.getBoundingClientRect().height < 100).length,
    text: plot && getComputedStyle(plot).fill, ground: getComputedStyle(document.body).backgroundColor,
  }, "*");
}, 50);
</script>"""
AROUND = """<!DOCTYPE html><meta name="color-scheme" content="light dark"><body style="margin:0">
<script>addEventListener("message", e => { document.body.dataset.seen = JSON.stringify(e.data); });</script>
<iframe src="page.html" width="%d" height="4000" style="border:0"></iframe>"""


def chromium(folder: Path, *args: str) -> str:
    assert CHROMIUM is not None
    quiet = ("no-first-run", "disable-background-networking", "disable-component-update", "disable-sync")
    given = ("headless", "no-sandbox", "disable-gpu", *quiet, "virtual-time-budget=8000", *args)
    done = subprocess.run(
        [CHROMIUM, *(f"--{arg}" for arg in given), f"--user-data-dir={folder / 'profile'}", "around.html"],
        cwd=folder,
        capture_output=True,
        check=True,
        text=True,
        timeout=120,
    )
    return done.stdout


def first_pixel(png: bytes) -> tuple[int, int, int]:
    """The colour in the upper left corner: no filter changes the first pixel."""
    data, at = b"", 8
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        if kind == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += 12 + length
    red, green, blue = zlib.decompress(data)[1:4]
    return red, green, blue


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        pytest.param(400, "dark"),
        pytest.param(1280, "light"),
        pytest.param(400, "light", marks=pytest.mark.slow),
        pytest.param(1280, "dark", marks=pytest.mark.slow),
    ],
)
def test_a_browser_draws_it(drawn: str, tmp_path: Path, width: int, scheme: str) -> None:
    ground, ink = {"light": ((255, 255, 255), "29, 35, 48"), "dark": ((20, 23, 29), "230, 233, 239")}[scheme]
    (tmp_path / "page.html").write_text(drawn.replace("<style>", f"{PROBE}<style>", 1))
    (tmp_path / "around.html").write_text(AROUND % width)
    window = (
        f"blink-settings=preferredColorScheme={int(scheme == 'light')}",
        f"window-size={max(width, 520)},4000",
    )
    told = re.search(r'data-seen="([^"]*)"', chromium(tmp_path, *window, "dump-dom"))
    assert told is not None
    seen: dict[str, Any] = json.loads(html.unescape(told[1]))
    assert seen == {
        "drawn": str(PLOTS),
        "faults": [],
        "width": width,
        "needed": width,
        "svg": True,
        "empty": 0,
        "text": f"rgb({ink})",
        "ground": f"rgb({', '.join(map(str, ground))})",
    }
    chromium(tmp_path, *window, "hide-scrollbars", f"screenshot={tmp_path / 'shot.png'}")
    png = (tmp_path / "shot.png").read_bytes()
    assert first_pixel(png) == ground
    assert len(png) > 50_000  # an empty page packs into much less


def test_functions_are_compared_as_they_are_on_disk(tree: Tree, ckvd: Ckvd) -> None:
    body = "\n".join(f"    x{n} = {n}" for n in range(120))
    tree.write(
        {"a.py": f"def long(x):\n{body}\n\n\ndef short(): pass\n", "b.py": "def b(): pass\n", "c.txt": "c\n"}
    )
    ckvd("index", str(tree.root))
    where = place(str(tree.root), None)
    found = page.collect(where).boundaries
    assert (found.total("index").functions, found.total("index").split) == (3, 0)
    assert found.total("fixed:1200").split == 1
    assert [(s.symbol, s.touches) for s in found.severed] == [("long", 0)]
    text = html.unescape(page.render(page.collect(where)))
    assert "Of 3 functions, how many each way of cutting would tear apart: this index severs 0." in text
    tree.commit("one")
    assert [(s.symbol, s.touches) for s in page.collect(where).boundaries.severed] == [("long", 1)]
    assert '<td class="n" data-unit=" commit">1</td>' in page.render(page.collect(where))
    tree.write({"a.py": "def other(): pass\n"})
    assert page.collect(where).boundaries.total("index").functions == 1


def test_one_is_no_plural(where: Place) -> None:
    found = page.collect(where)
    text = page.render(replace(found, hours=found.hours[:1]))
    assert "1 file did not come out clean" in text
    assert "1 hour in which something was done" in text


@pytest.mark.parametrize("hours", [1, 3])
def test_the_axis_of_time_shows_whole_hours(where: Place, hours: int) -> None:
    """One hour alone would be drawn as an instant, in fractions of a second."""
    shown = page.collect(where).hours[:hours]
    for draw in (figures.outcomes, figures.latencies):
        first, last = map(datetime.fromisoformat, json.loads(draw(shown))["layout"]["xaxis"]["range"])
        assert last - first == timedelta(hours=hours)


@pytest.mark.parametrize("hours", [1, 3])
def test_the_axis_of_shares_goes_from_the_worst_to_all_and_of_one_hour_over_all(
    where: Place, hours: int
) -> None:
    """One share alone has no span to draw, and was shown between -50 % and 100 %."""
    low, high = json.loads(figures.outcomes(page.collect(where).hours[:hours]))["layout"]["yaxis"]["range"]
    assert (low == 0) == (hours == 1)
    assert 0 <= low < 6 / 7 < 1 <= high < 1.05


def test_the_size_on_disk_is_that_of_status(where: Place) -> None:
    with open_writer(where.db) as writer:
        writer.record(HOUR, Sample(), state=True)
        found = status.collect(where)
        assert found.data.wal_bytes > 0
        tiles = html.unescape(page.render(page.collect(where)))
    sizes = re.search(r"file +\S+ · (.*? [KM]iB) · (log .*)", terminal.rendered(WIDE, [screen(found)]))
    assert sizes is not None
    assert f"<b>{sizes[1]}</b><span>{sizes[2]}, 0 chunks with vectors" in tiles


def test_what_is_as_long_as_the_limit_stands_before_its_line() -> None:
    (bar,) = json.loads(figures.sizes({"symbol": {1: 1, 512: 7, 0: 2}}, 512))["data"]
    assert bar["y"] == [3, *[0] * 30, 7]
    assert bar["x"][-1] + bar["width"] / 2 <= 512
