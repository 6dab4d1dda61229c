"""The commands that tell how things are: `ckvd report …` and `ckvd doctor`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ckvd.cli_options import db_option, filled, json_option, print_json, root_argument, root_option
from ckvd.errors import UsageError
from ckvd.place import place

if TYPE_CHECKING:
    from ckvd.rank import Mode


class _Reports(click.Group):
    """`ckvd report --html FILE [ROOT]` is a report of its own beside the named ones."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = bool(args) and args[0] in self.commands
        if not named and any(arg == "--html" or arg.startswith("--html=") for arg in args):
            args = ["page", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Reports)
@click.option("--html", metavar="FILE", expose_value=False, help="All of it as one page: --html FILE [ROOT].")
def report() -> None:
    """Parse success, chunk sizes, severed functions, the trend."""


@report.command("page", hidden=True)
@root_argument
@db_option
@click.option(
    "--html",
    "file",
    callback=filled,
    type=click.Path(dir_okay=False),
    required=True,
    help="Where to write it.",
)
def report_page(root: str | None, db: str | None, file: str) -> None:
    """Write all reports into one self-contained page."""
    from ckvd.report import page

    page.write(place(root, db), file)
    click.echo(file)


@report.command("parse")
@root_argument
@db_option
@json_option
def report_parse(root: str | None, db: str | None, as_json: bool) -> None:
    """Parse success by language and by directory, the worst first."""
    from ckvd.report import parse

    rates = parse.collect(place(root, db))
    if as_json:
        print_json(parse.as_json(rates))
    else:
        parse.show(rates)


@report.command("sizes")
@root_argument
@db_option
@json_option
def report_sizes(root: str | None, db: str | None, as_json: bool) -> None:
    """Chunk sizes by language and unit, what is over the limit, what headers and classes cost."""
    from ckvd.report import sizes_view

    found = sizes_view.collect(place(root, db))
    if as_json:
        print_json(sizes_view.as_json(found))
    else:
        sizes_view.show(found)


@report.command("boundaries")
@root_argument
@db_option
@json_option
def report_boundaries(root: str | None, db: str | None, as_json: bool) -> None:
    """How many functions each cutting strategy severs, and which."""
    from ckvd.report import boundaries_view

    found = boundaries_view.collect(place(root, db))
    if as_json:
        print_json(boundaries_view.as_json(found))
    else:
        boundaries_view.show(found)


@report.command("trend")
@root_argument
@db_option
@json_option
def report_trend(root: str | None, db: str | None, as_json: bool) -> None:
    """What each hour of work was like: outcomes, sizes, latencies."""
    from ckvd.report import trend

    found = trend.collect(place(root, db))
    if as_json:
        print_json(trend.as_json(found))
    else:
        trend.show(found)


@click.command()
@root_argument
@db_option
@json_option
def doctor(root: str | None, db: str | None, as_json: bool) -> None:
    """Check everything that ckvd stands on; exit 1 if something is broken. Fit to paste into a bug report."""
    from ckvd import doctor as examination
    from ckvd.report import findings

    found = examination.examine(root, db)
    if as_json:
        print_json(findings.as_json(found))
    else:
        findings.show(found)
    sys.exit(1 if found.broken else 0)


@click.command("eval")
@click.argument(
    "labelled_set", metavar="[SET]", required=False, callback=filled, type=click.Path(dir_okay=False)
)
@root_option
@db_option
@click.option(
    "--from", "source", type=click.Choice(["docstrings", "commits"]), help="Make the set from the tree."
)
@click.option("--most", type=click.IntRange(1), default=200, show_default=True, help="Queries of a made set.")
@json_option
def evaluate(
    labelled_set: str | None, root: str | None, db: str | None, source: str | None, most: int, as_json: bool
) -> None:
    """Measure search on SET, JSON lines of a query and its right answers, or on one made from the tree."""
    from ckvd.report import evaluate as figures
    from ckvd.report import labelled

    if (labelled_set is None) == (source is None):
        raise click.UsageError("name a SET, or --from docstrings or commits, one of them")
    where = place(root, db)
    modes: tuple[Mode, ...] = ("keyword", "vector", "hybrid")
    if source == "docstrings":
        found = labelled.on_docstrings(where, modes, most)
    elif source == "commits":
        found = labelled.on_commits(where, modes, most)
    else:
        found = labelled.on_set(where, figures.read_set(_text(str(labelled_set))), modes)
    if as_json:
        print_json(figures.as_json(found))
    else:
        from ckvd.report import evaluate_view

        evaluate_view.show(found)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot read the set {path}: {(error.strerror or '').lower()}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read the set {path}: it is not UTF-8") from error
