"""`ckvd model`: which embedding models there are, one more, and which of them a tree uses."""

from __future__ import annotations

import os
from typing import Any

import click

from ckvd.cli_options import filled, json_option, print_json, root_option
from ckvd.place import place


@click.group()
def model() -> None:
    """The embedding models: which there are, one more, and which of them a tree uses."""


@model.command("list")
@root_option
@json_option
def model_list(root: str | None, as_json: bool) -> None:
    """List the models that can be used by name; * marks the one that the tree's ckv.yaml names."""
    from ckvd.embed import collection
    from ckvd.settings import load

    used = load(place(root, None).tree.path).embedding.model
    rows = [
        {
            "name": e.name,
            "origin": e.origin,
            "used": e.name == used,
            "kind": e.spec.kind if e.spec else None,
            "dimensions": e.spec.dimensions if e.spec else None,
            "limit": e.spec.limit if e.spec else None,
            "problem": e.problem or None,
        }
        for e in collection.entries()
    ]
    if as_json:
        print_json(rows)
        return
    from ckvd.report.table import show_pairs

    show_pairs(
        (
            (f"{'*' if r['used'] else ' '} {r['name']}", f"{r['origin']:<9} {r['problem'] or _in_short(r)}")
            for r in rows
        ),
        22,
    )


def _in_short(row: dict[str, Any]) -> str:
    if row["kind"] == "none":
        return "no vectors: search by words alone"
    size = f"{row['dimensions']} dimensions, {row['limit']} tokens"
    return f"for tests, {size}" if row["kind"] == "hash" else f"{row['kind']}, {size}"


@model.command("info")
@click.argument("name", required=False, callback=filled)
@root_option
@json_option
def model_info(name: str | None, root: str | None, as_json: bool) -> None:
    """Say what is known of a model, by default of the tree's: size, pooling, prefixes, licence, hashes."""
    from ckvd.embed import collection
    from ckvd.settings import load

    where = place(root, None)
    found = collection.info(
        name if name is not None else load(where.tree.path).embedding.model,
        where.root if name is None else os.getcwd(),
    )
    if as_json:
        print_json(found)
        return
    files, provenance = found.pop("files"), found.pop("provenance")
    shown = {**found, **{k.replace("_", " "): v for k, v in provenance.items()}}
    from ckvd.report.table import show_pairs

    facts = [(key.replace("_", " "), _one_line(v)) for key, v in shown.items() if v not in (None, "")]
    facts += [("file", f"{f['path']}  {f['bytes']:,} bytes  sha256 {f['sha256']}") for f in files]
    show_pairs(facts, 16)


def _one_line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) and value.strip() else str(value)


@model.command("add")
@click.argument("folder", metavar="DIR", callback=filled, type=click.Path())
@click.option("--name", help="What to call it; by default as the folder.")
@click.option("--pooling", type=click.Choice(["mean", "cls", "max", "last", "graph"]), help="How it pools.")
@click.option("--query-prefix", help="What comes before a query.")
@click.option("--document-prefix", help="What comes before an embedded text.")
@click.option("--dimensions", type=click.IntRange(8), help="Of its vectors.")
@click.option("--limit", type=click.IntRange(16), help="Tokens that a text may have.")
@click.option("--replace", is_flag=True, help="Take the place of an added model of that name.")
def model_add(
    folder: str,
    name: str | None,
    pooling: str | None,
    query_prefix: str | None,
    document_prefix: str | None,
    dimensions: int | None,
    limit: int | None,
    replace: bool,
) -> None:
    """Copy a model (DIR holds model.onnx, tokenizer.json, config.json) to where a name is enough.

    What the files beside it do not say, or say wrongly, can be given. It must embed before it is added.
    """
    from ckvd.embed import collection

    given = {
        "pooling": pooling,
        "query_prefix": query_prefix,
        "document_prefix": document_prefix,
        "dimensions": dimensions,
        "limit": limit,
    }
    spec = collection.add(folder, name, {k: v for k, v in given.items() if v is not None}, replace=replace)
    click.echo(f"{spec.name}: {spec.dimensions} dimensions, {spec.limit} tokens, pooled by {spec.pooling}")
    click.echo(f"use it with: ckvd model use {spec.name}")


@model.command("use")
@click.argument("name", callback=filled)
@root_option
def model_use(name: str, root: str | None) -> None:
    """Write NAME (or a folder) into the tree's ckv.yaml as embedding.model."""
    from ckvd import settings

    where = place(root, None)
    spec = settings.use_model(where.tree.path, name)
    click.echo(f"{os.path.join(where.root, settings.FILE_NAME)}: embedding.model is {name}")
    if spec.has_vectors:
        click.echo("a daemon embeds anew, the old vectors answering until then; without one: ckvd index")
