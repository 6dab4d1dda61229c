"""Sections by docutils: paths on standard input, one JSON line a file on standard output. The name is the
title's source; directives that docutils does not know make no section.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles

SETTINGS = {
    "report_level": 5, "halt_level": 5, "file_insertion_enabled": False, "raw_enabled": False,
    "doctitle_xform": False, "_disable_config": True, "input_encoding": "utf-8-sig",
}  # fmt: skip


class Anything(Directive):
    """A directive of Sphinx or another: its content is nothing of ours."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        return []


def main() -> None:
    known = directives.directive
    directives.directive = lambda name, *rest: (known(name, *rest)[0] or Anything, [])
    roles.role = lambda name, *_: (roles.generic_custom_role, [])
    for path in (line.rstrip("\n") for line in sys.stdin):
        try:
            tree = publish_doctree(Path(path).read_bytes(), source_path=path, settings_overrides=SETTINGS)
        except (UnicodeError, RecursionError, AttributeError, ValueError) as error:
            print(json.dumps({"path": path, "error": str(error)}))
            continue
        rows = []
        for section in tree.findall(nodes.section):
            names: list[str] = []
            at: nodes.Node | None = section
            while isinstance(at, nodes.section):
                names.insert(0, " ".join(at[0].rawsource.split()))
                at = at.parent
            rows.append({"symbol": ".".join(names), "name": section[0].line - 1})
        print(json.dumps({"path": path, "rows": rows}))


if __name__ == "__main__":
    main()
