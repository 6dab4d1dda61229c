"""Options that commands share, and how they print JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Seconds(click.FloatRange):
    """How long to wait: what a socket can be told to, so up to 30 years and not `nan`."""

    def __init__(self) -> None:
        super().__init__(0, 1_000_000_000)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = float(super().convert(value, param, ctx))
        if math.isnan(found):
            self.fail(f"{value} is not a number of seconds.", param, ctx)
        return found


def filled(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A callback of what names something: nothing, as of a variable that is not set, is wrong usage."""
    if value == "":
        raise click.BadParameter("it is empty.", ctx, param)
    return value


def db_option(f: F) -> F:
    kind = click.Path(dir_okay=False)
    what = "The database, instead of ROOT/.ckvd/index.db."
    return click.option("--db", callback=filled, type=kind, help=what)(f)


def root_argument(f: F) -> F:
    return click.argument("root", required=False, callback=filled, type=click.Path())(f)


def root_option(f: F) -> F:
    what = "The tree; by default the one around this folder."
    return click.option("--root", callback=filled, type=click.Path(), help=what)(f)


def json_option(f: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")(f)


def print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))
