"""Declarations by Roslyn, C#'s own parser: paths on standard input, one JSON line a file on standard output.

It runs in this process, on the .NET of the package dotnetcore2; `ROSLYN` names the folder of its assemblies,
as the npm package @autorest/csharp holds them. A file with conditions is read once with no symbol defined,
once with all and once with each, and all readings count together: ckvd has what stands in any branch.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Found = dict[tuple[int, str], tuple[int, int]]
"""First and last line by where a name stands and the name: what differs between readings is one, whole."""
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|elif)\b(.*)$", re.MULTILINE)
PLAIN = (
    "Class Struct Interface Record RecordStruct Enum EnumMember Method Constructor Property Event Delegate "
    "Destructor"
)
Named = Callable[[Any], tuple[Any, list[str]]]
"""Where a declaration's name stands, and its segments."""
NAMES: dict[str, Named] = {
    kind: lambda node: (node.Identifier, [str(node.Identifier)]) for kind in PLAIN.split()
}
NAMES["LocalFunctionStatement"] = NAMES["Method"]
NAMES["Namespace"] = lambda node: (node.Name, re.sub(r"\s", "", str(node.Name)).split("."))
NAMES["Destructor"] = lambda node: (node.Identifier, [f"~{node.Identifier}"])
NAMES["Operator"] = lambda node: (node.OperatorToken, [f"operator {node.OperatorToken}"])
NAMES["ConversionOperator"] = lambda node: (node.Type, [f"operator {node.Type}"])
NAMES["Indexer"] = lambda node: (node.ThisKeyword, ["this"])


def start() -> None:
    """Loads .NET and the parser's assemblies."""
    os.environ["DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"] = "1"
    import dotnetcore2
    from clr_loader import get_coreclr
    from pythonnet import set_runtime

    framework = {"name": "Microsoft.NETCore.App", "version": "3.1.0"}
    config = Path(tempfile.mkdtemp(prefix="ckvd-reference-")) / "runtimeconfig.json"
    config.write_text(
        json.dumps({"runtimeOptions": {"tfm": "netcoreapp3.1", "framework": framework}}), "utf-8"
    )
    home = Path(dotnetcore2.__file__).parent / "bin"
    set_runtime(get_coreclr(runtime_config=str(config), dotnet_root=str(home)))
    import clr

    for name in ("Microsoft.CodeAnalysis.dll", "Microsoft.CodeAnalysis.CSharp.dll"):
        clr.AddReference(str(Path(os.environ["ROSLYN"]) / name))


class Reader:
    """Reads trees with Roslyn."""

    def __init__(self) -> None:
        from Microsoft.CodeAnalysis.CSharp import CSharpParseOptions, LanguageVersion, Syntax
        from System import Array, String

        self._syntax = Syntax
        self._options = CSharpParseOptions.Default.WithLanguageVersion(LanguageVersion.Preview)
        self._strings = Array[String]

    def rows(self, source: str, symbols: list[str], found: Found) -> None:
        """Adds the declarations of one reading. Raises ValueError if it has an error."""
        from Microsoft.CodeAnalysis.CSharp import CSharpSyntaxTree

        options = self._options.WithPreprocessorSymbols(self._strings(symbols))
        tree = CSharpSyntaxTree.ParseText(source, options)
        if wrong := next((d for d in tree.GetDiagnostics() if str(d.Severity) == "Error"), None):
            raise ValueError(str(wrong))

        def add(node: Any, at: Any, names: tuple[str, ...]) -> None:
            key = at.SpanStart, ".".join(names)
            lines = tree.GetLineSpan(node.Span)
            first, last = lines.StartLinePosition.Line + 1, lines.EndLinePosition.Line + 1
            if str(node.Kind()) == "FileScopedNamespaceDeclaration":
                last = tree.GetLineSpan(node.SemicolonToken.Span).EndLinePosition.Line + 1
            before = found.get(key, (first, last))
            found[key] = min(first, before[0]), max(last, before[1])

        open_: list[tuple[int, tuple[str, ...]]] = []
        root = tree.GetRoot()
        members = [
            *self._of(root, "MemberDeclarationSyntax"),
            *self._of(root, "LocalFunctionStatementSyntax"),
        ]
        for node in sorted(members, key=lambda node: (node.SpanStart, -node.Span.End)):
            while open_ and open_[-1][0] <= node.SpanStart:
                open_.pop()
            parents = open_[-1][1] if open_ else ()
            kind = str(node.Kind()).removesuffix("Declaration").removeprefix("FileScoped")
            if kind == "EventField":
                for each in node.Declaration.Variables:
                    add(node, each, (*parents, str(each.Identifier)))
            elif kind in NAMES:
                at, names = NAMES[kind](node)
                add(node, at, (*parents, *names))
                open_.append((node.Span.End, (*parents, *names)))

    def _of(self, root: Any, kind: str) -> list[Any]:
        """The nodes below one of a class of Roslyn's; chosen there, since each call from here is dear."""
        from System.Linq import Enumerable

        return list(Enumerable.OfType[getattr(self._syntax, kind)](root.DescendantNodes()))

    def read(self, path: str) -> dict[str, object]:
        source = Path(path).read_bytes().decode("utf-8-sig", errors="replace")
        words = {w for c in _CONDITION.findall(source) for w in re.findall(r"[A-Za-z_]\w*", c)} - {
            "true",
            "false",
        }
        readings = [[], sorted(words), *([word] for word in sorted(words))] if words else [[]]
        found: Found = {}
        wrong = []
        for symbols in readings:
            try:
                self.rows(source, symbols, found)
            except ValueError as error:
                wrong.append(str(error))
        if len(wrong) == len(readings):
            return {"path": path, "error": wrong[0]}
        rows = [{"symbol": name, "start": first, "end": last} for (_, name), (first, last) in found.items()]
        return {"path": path, "rows": rows}


if __name__ == "__main__":
    start()
    reader = Reader()
    for line in sys.stdin:
        print(json.dumps(reader.read(line.rstrip("\n"))))
