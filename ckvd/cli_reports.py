"""The commands that tell how things are: `ckvd report …` and `ckvd doctor`."""

from __future__ import annotations

import sys

import click

from ckvd.cli_options import db_option, json_option, print_json, root_argument
from ckvd.place import place


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
@click.option("--html", "file", type=click.Path(dir_okay=False), required=True, help="Where to write it.")
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
