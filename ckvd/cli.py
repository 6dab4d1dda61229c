"""The command line: one small function a command, and the one place that turns errors into exit codes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Literal

import click

from ckvd import __version__, cli_stdout
from ckvd.cli_editors import editor, mcp
from ckvd.cli_models import model
from ckvd.cli_options import Seconds, db_option, filled, json_option, print_json, root_argument, root_option
from ckvd.cli_reports import doctor, evaluate, report
from ckvd.errors import CkvdError, OutputError, UsageError, WorktreeError
from ckvd.place import place

if TYPE_CHECKING:
    from ckvd.hit import Expand
    from ckvd.rank import Mode


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ckvd")
def cli() -> None:
    """A code index that a daemon keeps true: one SQLite file for editors, agents and scripts."""


@cli.command()
@root_argument
@db_option
def index(root: str | None, db: str | None) -> None:
    """Bring the index up to date once, vectors included, and exit."""
    from ckvd import session

    where = place(root, db)
    click.echo(session.index_once(where))


@cli.command()
@root_argument
@db_option
def run(root: str | None, db: str | None) -> None:
    """Run the daemon in the foreground until SIGTERM or Ctrl-C."""
    from ckvd import session

    session.run_daemon(place(root, db))


@cli.command()
@root_argument
@db_option
@click.option("--vectors", is_flag=True, help="Wait for the vectors too.")
@click.option("--timeout", type=Seconds(), default=60.0, show_default=True, help="Seconds.")
def sync(root: str | None, db: str | None, vectors: bool, timeout: float) -> None:
    """Wait until all that was written before this call is in the index; print the revision."""
    from ckvd import session

    click.echo(session.sync(place(root, db), vectors=vectors, timeout=timeout))


@cli.command()
@root_argument
@db_option
@json_option
@click.option("--failures", is_flag=True, help="Every file that did not parse cleanly, and why.")
@click.option(
    "--check", is_flag=True, help="Print one line; exit 0 when fresh, 3 when behind, 1 when wedged."
)
@click.option("--short", is_flag=True, help="One line, for a prompt or a status bar.")
@click.option("--watch", is_flag=True, help="Follow until Ctrl-C.")
def status(
    root: str | None, db: str | None, as_json: bool, failures: bool, check: bool, short: bool, watch: bool
) -> None:
    """Show what is indexed, what failed to parse and why, and whether a daemon runs."""
    from ckvd.report import follow, screen
    from ckvd.report import status as states

    if watch and (as_json or failures or check or short):
        raise UsageError("--watch goes with no other option; run ckvd status again and again for those")
    if short and as_json:
        raise UsageError("--short and --json exclude each other; --json says all that --short does")
    if failures and (short or check) and not as_json:
        raise UsageError("--failures goes with --json alone; --short and --check print one line")
    where = place(root, db)
    if watch:
        follow.follow(where)
        return
    found = states.collect(where, brief=(short or check) and not as_json)
    if as_json:
        print_json(states.as_json(found, failures=failures))
    elif short or check:
        click.echo(screen.short(found))
    else:
        states.show(found, failures=failures)
    if check:
        sys.exit(found.verdict)


@cli.command()
@click.argument("query")
@root_option
@db_option
@click.option(
    "-k", type=click.IntRange(1, 1000), help="How many results.  [default: 10; with --budget 50 at most]"
)
@click.option("--offset", type=click.IntRange(0), default=0, help="How many to pass over, to page.")
@click.option(
    "--mode", type=click.Choice(["hybrid", "keyword", "vector"]), default="hybrid", show_default=True
)
@click.option("--language", callback=filled, help="Only chunks in this language.")
@click.option("--kind", callback=filled, help="Only chunks of this kind.")
@click.option("--path", "glob", callback=filled, help="A file, a folder, or paths that match a glob.")
@click.option("--tests/--no-tests", default=None, help="Tests alone, or none.")
@click.option(
    "--expand", type=click.Choice(["class", "file"]), help="Widen each result to what is around it."
)
@click.option("--budget", type=click.IntRange(1), metavar="TOKENS", help="The best results that fit.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    help="To paste or to read by a program, all of each result; else, on a terminal, excerpts.",
)
@json_option
def search(
    query: str,
    root: str | None,
    db: str | None,
    k: int | None,
    offset: int,
    mode: Mode,
    language: str | None,
    kind: str | None,
    glob: str | None,
    tests: bool | None,
    expand: Expand | None,
    budget: int | None,
    form: Literal["text", "json", "markdown"] | None,
    as_json: bool,
) -> None:
    """Rank chunks against QUERY."""
    from ckvd.report import hits, plain
    from ckvd.served import ask_daemon

    asked: dict[str, Any] = {"query": query, "k": k, "mode": mode, "language": language, "kind": kind}
    asked |= {"path": glob, "tests": tests, "offset": offset, "expand": expand, "budget": budget}
    results = ask_daemon(root, asked) if db is None else None
    if results is None:
        from ckvd.index import Index

        with Index(root, db=db) as found:
            results = found.search(**asked)
    if as_json or form == "json":
        print_json(hits.as_json(results))
    elif form is None and sys.stdout.isatty():
        from ckvd.report import hits_view  # brings rich, which takes a while

        hits_view.show(results)
    else:
        plain.write(hits.markdown(results) if form == "markdown" else hits.text(results))


@cli.command()
@click.argument("text")
@root_option
@db_option
@json_option
def embed(text: str, root: str | None, db: str | None, as_json: bool) -> None:
    """The vector of TEXT as a query, in the form in which the index holds vectors."""
    from ckvd import show

    vector = show.embed(place(root, db), text)
    if as_json:
        print_json(vector)
    else:
        click.echo(" ".join(str(x) for x in vector["int8"]))


@cli.command()
@click.argument("what", metavar="CHUNK_ID|PATH:LINE")
@root_option
@db_option
@click.option("--file", "whole", is_flag=True, help="The whole file around it.")
@json_option
def show(what: str, root: str | None, db: str | None, whole: bool, as_json: bool) -> None:
    """Show one chunk with its header."""
    from ckvd import show as rows

    found = rows.show(place(root, db), what, whole=whole)
    if as_json:
        print_json(found)
    else:
        from ckvd.report import hits_view

        hits_view.show_chunk(found)


@cli.command()
@json_option
def languages(as_json: bool) -> None:
    """List the languages that are cut on syntax, and the files that belong to each."""
    from ckvd import languages as table

    rows = [table.get(name) for name in table.names()]
    if as_json:
        print_json(
            [{"language": r.name, "suffixes": list(r.suffixes), "names": list(r.filenames)} for r in rows]
        )
    else:
        from ckvd.report.table import show_pairs

        show_pairs(((r.name, " ".join((*("." + s for s in r.suffixes), *r.filenames))) for r in rows), 14)


cli.add_command(report)
cli.add_command(doctor)
cli.add_command(evaluate)
cli.add_command(editor)
cli.add_command(mcp)
cli.add_command(model)


@cli.group()
def service() -> None:
    """The systemd user service that keeps the daemon running."""


@service.command("install")
@root_argument
def service_install(root: str | None) -> None:
    """Install and enable the service for ROOT."""
    from ckvd import service as units

    click.echo(units.install(place(root, None).root))


@service.command("remove")
@root_argument
def service_remove(root: str | None) -> None:
    """Stop and disable the service for ROOT."""
    from ckvd import service as units

    try:
        path = place(root, None).root
    except WorktreeError:
        if root is None or os.path.lexists(root):
            raise
        path = os.path.realpath(root)  # of a tree that was deleted the service is still to be rid of
    click.echo(units.remove(path))


@service.command("list")
def service_list() -> None:
    """List the installed services."""
    from ckvd import service as units

    for line in units.list_units():
        click.echo(line)


def main(argv: list[str] | None = None) -> None:
    """The console script. Exits 0 done, 1 failed, 2 wrong usage, 3 and 4 as `sync` has them."""
    # Before numpy comes: its products are so small here that a second thread costs more than it gives.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    cli_stdout.guard()
    try:
        try:
            cli.main(args=argv, prog_name="ckvd", standalone_mode=False)
        finally:
            sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as e:
        e.show()
        sys.exit(e.exit_code)
    except click.ClickException as e:
        context = getattr(e, "ctx", None)
        hint = f" (see: {context.command_path} --help)" if context is not None else ""
        _fail(f"{e.format_message()}{hint}", e.exit_code)
    except click.Abort:
        _fail("interrupted", 130)
    except OutputError as e:
        cli_stdout.hold()
        _fail(str(e), e.exit_code)
    except CkvdError as e:
        _fail(str(e), e.exit_code)
    except BrokenPipeError:
        # The reader of our output has gone (`ckvd status | head`): nothing is wrong, and nothing can be said.
        cli_stdout.hold()
        sys.exit(1)


def _fail(message: str, code: int) -> None:
    click.echo(f"ckvd: {' '.join(message.split())}", err=True)
    sys.exit(code)
