"""Options that commands share, and how they print JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def db_option(f: F) -> F:
    return click.option(
        "--db", type=click.Path(dir_okay=False), help="The database, instead of ROOT/.ckvd/index.db."
    )(f)


def root_argument(f: F) -> F:
    return click.argument("root", required=False, type=click.Path())(f)


def root_option(f: F) -> F:
    return click.option("--root", type=click.Path(), help="The tree; by default the one around this folder.")(
        f
    )


def json_option(f: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")(f)


def print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))
