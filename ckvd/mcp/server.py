"""The tools over stdio, through the protocol's own SDK."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field, ValidationError

from ckvd import __version__
from ckvd.errors import CkvdError
from ckvd.mcp.answers import Answers, ChunkAnswer, SearchAnswer, StatusAnswer, SymbolsAnswer, SyncAnswer
from ckvd.mcp.arguments import unknown, wrong
from ckvd.place import Place

INSTRUCTIONS = """\
An index of one working tree's source: symbols, and chunks of code with the context needed to read them.
Every answer has `at`: the revision of the index and the commit it is true of. After you edit files, call
`sync` before you search. Where `changed` is true, the file on disk is no longer as indexed: read it anew.
"""

_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)


def serve(where: Place) -> None:
    """Serves until standard input ends."""
    build(where).run("stdio")


def build(where: Place) -> MCPServer:
    """The server of one place. The index need not be there yet."""
    server = _Server(
        "ckvd", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING", subscriptions=False
    )
    answers = Answers(where)

    @server.tool(annotations=_READS)
    def search(
        query: Annotated[str, Field(description="Words, an identifier, or a question in plain language.")],
        k: Annotated[int, Field(description="How many hits at most.", ge=1, le=100)] = 10,
        budget: Annotated[
            int,
            Field(
                description="Tokens of the embedding model, 6 to 7 bytes each, that all may take.",
                ge=1,
            ),
        ] = 2000,
        mode: Literal["hybrid", "keyword", "vector"] = "hybrid",
        expand: Annotated[
            Literal["class", "file"] | None, Field(description="Widen each hit to what is around it.")
        ] = None,
        language: Annotated[str | None, Field(description="Such as `python`.")] = None,
        kind: Annotated[str | None, Field(description="Such as `function`, `method`, `class`.")] = None,
        path: Annotated[
            str | None, Field(description="A file, a folder, or a glob whose * also crosses /.")
        ] = None,
        tests: Annotated[bool | None, Field(description="true: tests alone; false: none.")] = None,
        offset: Annotated[int, Field(description="Hits to pass over, to page.", ge=0)] = 0,
    ) -> SearchAnswer:
        """Find code by meaning and by words: functions, classes, sections, best first, none overlapping."""
        with _plain_errors():
            return answers.search(query, k, budget, mode, expand, language, kind, path, tests, offset)

    @server.tool(annotations=_READS)
    def show(
        what: Annotated[str, Field(description="A chunk_id, or PATH:LINE for the smallest chunk there.")],
        whole_file: Annotated[bool, Field(description="The text of the whole file too.")] = False,
    ) -> ChunkAnswer:
        """Show one chunk whole, with the header needed to read it."""
        with _plain_errors():
            return answers.show(what, whole_file)

    @server.tool(annotations=_READS)
    def symbols(
        path: Annotated[str | None, Field(description="A file: its outline, in file order.")] = None,
        name: Annotated[
            str | None, Field(description="Or a part of a name, in either case, anywhere in the tree.")
        ] = None,
        limit: Annotated[int, Field(ge=1, le=1000)] = 100,
    ) -> SymbolsAnswer:
        """List the declarations of a file, or those with a part in their name. Give `path` or `name`."""
        with _plain_errors():
            return answers.symbols(path, name, limit)

    @server.tool(annotations=_READS)
    def status(
        failures: Annotated[
            bool, Field(description="With each file that did not parse cleanly, and why.")
        ] = True,
    ) -> StatusAnswer:
        """Tell what is indexed, what is pending, and what failed to parse and why."""
        with _plain_errors():
            return answers.status(failures)

    @server.tool(annotations=_READS)
    def sync(
        vectors: Annotated[bool, Field(description="Wait for the embeddings too.")] = False,
        timeout_s: Annotated[float, Field(ge=0, le=600)] = 30,
    ) -> SyncAnswer:
        """Wait until all that was written in the tree before this call is in the index. Needs a daemon."""
        with _plain_errors():
            return answers.sync(vectors, timeout_s)

    return server


class _Server(MCPServer):
    """Says of arguments that do not fit in a sentence which, why and what would; none is ignored."""

    async def call_tool(self, name: str, arguments: dict[str, Any], *more: Any, **named: Any) -> Any:
        taken = {tool.name: list(tool.input_schema["properties"]) for tool in await self.list_tools()}
        if problem := unknown(name, arguments, taken):
            raise ToolError(problem)
        try:
            return await super().call_tool(name, arguments, *more, **named)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(wrong(name, error.__cause__.errors(), taken[name])) from error
            raise


@contextlib.contextmanager
def _plain_errors() -> Iterator[None]:
    """What a person would be told on stderr, the model is told as the tool's error."""
    try:
        yield
    except CkvdError as error:
        raise ToolError(" ".join(str(error).split())) from error
