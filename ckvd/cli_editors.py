"""The commands for editors and agents: `ckvd editor` and `ckvd mcp`."""

from __future__ import annotations

import json
import os

import click

from ckvd.cli_options import db_option, root_argument
from ckvd.errors import CkvdError
from ckvd.place import place

_NVIM = """\
{path}

In init.lua (Neovim 0.7 or later; it needs the sqlite3 shell, 3.38 or later):

    vim.opt.runtimepath:prepend({quoted})
    require("ckvd").setup({{}})  -- ckvd = "/path/to/ckvd", where that is not on PATH

Then :CkvdOutline, :CkvdSymbols, :CkvdSearch, parse failures as diagnostics, and for a statusline
%{{v:lua.require'ckvd'.statusline()}}
"""
_VSCODE = """\
{path}

Copy it to where VS Code keeps extensions (~/.vscode-server/extensions on a remote machine) and restart it
(it needs the sqlite3 shell, 3.38 or later):

    cp -r {quoted} ~/.vscode/extensions/ckvd.ckvd-{version}

Then the outline, "Go to Symbol in Workspace", "ckvd: Search", parse failures as problems, and the status bar.
"""


@click.command()
@click.argument("name", type=click.Choice(["nvim", "vscode"]))
@click.option("--path", "path_only", is_flag=True, help="Print only where it is.")
def editor(name: str, path_only: bool) -> None:
    """Say where the plugin for an editor is, and how to add it."""
    import shlex

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "editors", name)
    if path_only:
        click.echo(path)
    elif name == "nvim":
        click.echo(_NVIM.format(path=path, quoted=json.dumps(path, ensure_ascii=False)), nl=False)
    else:
        with open(os.path.join(path, "package.json"), encoding="utf-8") as file:
            version = json.load(file)["version"]
        click.echo(_VSCODE.format(path=path, quoted=shlex.quote(path), version=version), nl=False)


@click.command()
@root_argument
@db_option
def mcp(root: str | None, db: str | None) -> None:
    """Serve the index to a coding agent: the Model Context Protocol on stdin and stdout."""
    try:
        from ckvd.mcp import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "pydantic"):
            raise
        raise CkvdError("the SDK of MCP is not installed; run: pip install 'ckvd[mcp]'") from error
    server.serve(place(root, db))
