"""What is created, by PostgreSQL's own parser (pglast): paths on standard input, one JSON line a file on
standard output. A name in parts is joined by dots, as it is written; what has no name of its own is left out.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from pglast import ast, parse_sql
from pglast.parser import ParseError

_BEFORE = re.compile(rb"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_RELATION = {"CreateStmt": "relation", "ViewStmt": "view", "CreateSeqStmt": "sequence"}
_RELATION |= {"CreateForeignTableStmt": "relation", "CompositeTypeStmt": "typevar"}
_LIST = {"CreateFunctionStmt": "funcname", "CreateEnumStmt": "typeName", "CreateDomainStmt": "domainname"}
_LIST |= {"CreateRangeStmt": "typeName", "DefineStmt": "defnames", "CreateStatsStmt": "defnames"}
_LIST |= {"CreateOpClassStmt": "opclassname", "CreateOpFamilyStmt": "opfamilyname"}
_LIST |= {"CreateConversionStmt": "conversion_name"}
_TEXT = {"IndexStmt": "idxname", "CreateTrigStmt": "trigname", "CreateSchemaStmt": "schemaname"}
_TEXT |= {"CreateExtensionStmt": "extname", "CreatePolicyStmt": "policy_name", "CreateRoleStmt": "role"}
_TEXT |= {"RuleStmt": "rulename", "CreateEventTrigStmt": "trigname", "CreatePublicationStmt": "pubname"}
_TEXT |= {
    "CreateSubscriptionStmt": "subname",
    "CreatedbStmt": "dbname",
    "CreateTableSpaceStmt": "tablespacename",
}
_TEXT |= {"CreatePLangStmt": "plname", "CreateForeignServerStmt": "servername", "CreateFdwStmt": "fdwname"}
_TEXT |= {"CreateAmStmt": "amname"}


def relation(of: Any) -> str:
    return ".".join(part for part in (of.catalogname, of.schemaname, of.relname) if part)


def as_written(name: str, statement: str) -> str:
    """The parser folds case and cuts at 63 bytes: the parts of a name as the statement has them."""
    parts = name.split(".")
    for i, part in enumerate(parts):
        cut = r"\w*" if len(part.encode()) == 63 else ""
        found = re.search(rf"(?<!\w){re.escape(part)}{cut}(?!\w)", statement, re.IGNORECASE)
        parts[i] = found[0] if found else part
    return ".".join(parts)


def name(statement: ast.Node) -> str | None:
    kind = type(statement).__name__
    if kind == "CreateForeignTableStmt":
        return relation(statement.base.relation)
    if kind in _RELATION:
        return relation(getattr(statement, _RELATION[kind]))
    if kind == "CreateTableAsStmt":
        return relation(statement.into.rel)
    if kind in _LIST:
        return ".".join(part.sval for part in getattr(statement, _LIST[kind]))
    if kind == "CreateSchemaStmt" and statement.schemaname is None:
        return statement.authrole.rolename
    return getattr(statement, _TEXT[kind]) if kind in _TEXT else None


def read(path: str) -> dict[str, object]:
    source = Path(path).read_bytes()
    try:
        text = source.decode("utf-8")
        statements = parse_sql(text)
    except (ParseError, UnicodeDecodeError) as error:
        return {"path": path, "error": str(error)}
    rows = []
    for each in statements:
        found = name(each.stmt)
        if not found:
            continue
        end_at = each.stmt_location + each.stmt_len if each.stmt_len else len(text)
        found = as_written(found, text[each.stmt_location : end_at])
        start = len(text[: each.stmt_location].encode())
        end = (
            len(text[: each.stmt_location + each.stmt_len].encode())
            if each.stmt_len
            else len(source.rstrip())
        )
        before = _BEFORE.match(source, start, end)
        start = before.end() if before else start
        rows.append(
            {
                "symbol": found,
                "start": source.count(b"\n", 0, start) + 1,
                "end": source.count(b"\n", 0, end) + 1,
            }
        )
    return {"path": path, "rows": rows}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(read(line.rstrip("\n"))))
