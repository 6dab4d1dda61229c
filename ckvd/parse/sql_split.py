"""An SQL script → its statements, in any dialect: quotes, dollar quotes, comments, blocks, batch separators.

Two passes, both linear. `sql_lex` finds what may hide or end a statement and blanks comments; `_group`
ends statements at `;`, `GO`, `/`, the client's delimiter or a psql command, and keeps `BEGIN … END` together.
It never fails: a quote or comment without its end is damage, and the script goes on after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ckvd.model import Range
from ckvd.parse.sql_lex import LOOKS_ESCAPED, PARENS, Lexed, lex

_SPACE = re.compile(rb"\S")
NEW_STATEMENT = re.compile(
    rb"(?:RE)?CREATE\s+(?:(?:OR\s+REPLACE|OR\s+ALTER|GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED|UNIQUE|FULLTEXT|SPATIAL|"
    rb"CLUSTERED|NONCLUSTERED|COLUMNSTORE|BITMAP|EXTERNAL|FOREIGN|VIRTUAL|MATERIALIZED|RECURSIVE|CONSTRAINT|"
    rb"EDITIONABLE|NONEDITIONABLE|NO\s+FORCE|FORCE|PUBLIC|PRIVATE|SECURE|TRANSIENT|DYNAMIC|SQL\s+SECURITY\s+\w+|"
    rb"DEFINER\s*=\s*\S+|ALGORITHM\s*=\s*\w+|PRIMARY|XML|TRUSTED|PROCEDURAL|VOLATILE|MULTISET|SET|HYBRID)\s+)*+"
    rb"(?P<kind>TABLE|VIEW|INDEX|FUNCTION|PROCEDURE|PROC|TRIGGER|EVENT(?:\s+TRIGGER)?|PACKAGE(?:\s+BODY)?|TYPE(?:\s+BODY)?|DOMAIN|"
    rb"SEQUENCE|SCHEMA|DATABASE|ROLE|USER|POLICY|EXTENSION|AGGREGATE|RULE|SYNONYM|MACRO|SERVER|PUBLICATION|"
    rb"SUBSCRIPTION|LOGIN|OPERATOR(?:\s+(?:CLASS|FAMILY))?|COLLATION|LANGUAGE|STATISTICS|TABLESPACE|CONVERSION|"
    rb"DATA\s+WRAPPER|ACCESS\s+METHOD|TEXT\s+SEARCH\s+(?:CONFIGURATION|DICTIONARY|PARSER|TEMPLATE))\b",
    re.IGNORECASE,
)
"""`CREATE`, its modifiers and the kind; matched on text whose comments are blanked."""
_ALTER_ROUTINE = re.compile(rb"ALTER\s+(?:FUNCTION|PROCEDURE|PROC|TRIGGER)\b", re.IGNORECASE)
_ROUTINES = frozenset({b"FUNCTION", b"PROCEDURE", b"PROC", b"TRIGGER", b"EVENT", b"EVENT TRIGGER"})
_BLOCK_HEAD = re.compile(rb"(?:BEGIN|DECLARE|IF|WHILE|ELSE|EXECUTE\s+BLOCK)\b|<<", re.IGNORECASE)
_TRANSACTION = re.compile(
    rb"\s*(?:;|\Z|(?:TRAN|TRANSACTION|WORK|DEFERRED|IMMEDIATE|EXCLUSIVE|ISOLATION|READ|DISTRIBUTED|DIALOG|"
    rb"CONVERSATION|CONCURRENT)\b)",
    re.IGNORECASE,
)
_END_OF_OTHER = re.compile(rb"\s+(?:IF|LOOP|WHILE|REPEAT|FOR)\b", re.IGNORECASE)
_END_OF_CASE = re.compile(rb"\s+CASE\b", re.IGNORECASE)
_DECLARES = re.compile(
    rb"\s+(?!BEGIN\b(?!\s+TRAN)|LANGUAGE\b|EXTERNAL\b|NAME\b|RETURN\b|NULL\b|NOT\b|DISTINCT\b|R?['\"])[\w@#]",
    re.IGNORECASE,
)
_QUERY = re.compile(rb"\b(?:SELECT|INSERT|UPDATE|DELETE|CALL|WITH|VALUES)\b", re.IGNORECASE)
_BRACKETS = re.compile(
    rb"(?P<open>\()|(?P<close>\))|'(?:[^']|'')*+'|\"[^\"]*+\"|`[^`\n]*+`|\[[A-Za-z_#@][^\[\]\n]*+\]"
    rb"|(?<![\w$])(?P<tag>\$(?:[A-Za-z_]\w*+)?\$).*?(?P=tag)",
    re.DOTALL,
)
_UNSURE = re.compile(rb"\\['\"]|\bN?Q'[^\s\w]", re.IGNORECASE)
_TAKES_A_STATEMENT = re.compile(rb"(?:EXPLAIN|GRANT|REVOKE|PREPARE|COMMENT|AUDIT)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Script:
    """`code` is the text with comments, client commands and COPY data blanked, byte for byte as long.

    `statements` have their `;` inside. `breaks` are the offsets just past inner semicolons, in order.
    `damage` is where a quote or comment has no end, or stands in for what follows it.
    """

    code: bytes
    statements: tuple[Range, ...]
    comments: tuple[Range, ...]
    breaks: tuple[int, ...]
    damage: tuple[Range, ...]


def split(text: bytes) -> Script:
    """The statements of a script (UTF-8)."""
    escaped = bool(LOOKS_ESCAPED.search(text))
    lexed = lex(text, escaped=escaped, guarded=False)
    if lexed.damage:
        other = lex(text, escaped=not escaped, guarded=True)
        lexed = lex(text, escaped=escaped, guarded=True) if other.damage else other
    return Script(
        bytes(lexed.code),
        tuple(_group(lexed)),
        tuple(lexed.comments),
        tuple(sorted(lexed.breaks)),
        tuple(lexed.damage),
    )


def unclosed(script: Script) -> list[Range]:
    """The parentheses that a statement leaves open, if its quotes leave no doubt."""
    found: list[Range] = []
    for start, end in script.statements:
        open_: list[int] = []
        if _UNSURE.search(script.code, start, end):
            continue
        for mark in _BRACKETS.finditer(script.code, start, end):
            if mark["open"]:
                open_.append(mark.start())
            elif mark["close"] and not open_:
                break
            elif mark["close"]:
                open_.pop()
        else:
            found += [(at, at + 1) for at in open_]
    return found


@dataclass(slots=True)
class _State:
    """The statement being gathered: it begins at or after `begin`; the rest decides where it may end."""

    begin: int
    first: int | None = None
    routine: bool = False
    package: bool = False
    rule: bool = False
    blocky: bool = False
    declares: bool | None = None
    closed: bool = False
    depth: int = 0
    parens: int = 0
    counted: int | None = None

    def start(self, code: bytes, token: int, blocks: bool) -> None:
        """Look at how the statement begins, if it has by `token`."""
        found = _SPACE.search(code, self.begin, token + 1)
        if not found:
            return
        self.first = found.start()
        created = NEW_STATEMENT.match(code, self.first)
        kind = b" ".join(created["kind"].upper().split()) if created else b""
        self.rule = kind == b"RULE"
        self.package = kind.startswith(b"PACKAGE") or kind.endswith(b"BODY")
        self.routine = kind in _ROUTINES or self.package or bool(_ALTER_ROUTINE.match(code, self.first))
        self.blocky = blocks and (self.routine or bool(_BLOCK_HEAD.match(code, self.first)))

    def open_parens(self, code: bytes, at: int) -> int:
        """How many parentheses are open at a token."""
        for found in PARENS.finditer(code, self.begin if self.counted is None else self.counted, at):
            self.parens += (found[0] == b"(") - (found[0] == b")")
        self.counted = at
        return self.parens

    def ends(self, code: bytes, at: int, batches: bool) -> bool:
        """Whether the semicolon at `at` ends the statement."""
        if self.depth > 0 or (self.rule and self.open_parens(code, at) > 0):
            return False
        return not (self.blocky and self.declares) or (self.closed and not batches)

    def yields_to(self, code: bytes, start: int, batches: bool) -> bool:
        """Whether the CREATE at `start` begins a statement of its own, the one before having no end."""
        margin = start - (code.rfind(b"\n", 0, start) + 1)
        return (
            self.first is not None
            and self.first < start
            and self.depth <= 0
            and not (self.routine and (margin or (self.declares and batches)))
            and not code[start - margin : start].strip()
            and not _TAKES_A_STATEMENT.match(code, self.first)
            and NEW_STATEMENT.match(code, start) is not None
            and self.open_parens(code, start) <= 0
        )


def _group(lexed: Lexed) -> list[Range]:
    code, tokens, batches = bytes(lexed.code), lexed.tokens, lexed.batches
    statements: list[Range] = []
    state, blocks = _State(0), True
    index = begun = 0
    skip_case = -1
    while True:
        if index == len(tokens):
            if state.depth <= 0:
                break
            # A BEGIN without its END: read the rest again, with a statement at each semicolon.
            state, blocks, index = _State(state.begin), False, begun
        kind, start, end = tokens[index]
        if state.first is None:
            begun = index
            state.start(code, start, blocks)
        index += 1
        if kind == "cut":
            _finish(statements, code, state.begin, start)
            state = _State(end)
        elif kind == "stop" or (kind == "semicolon" and state.ends(code, start, batches)):
            _finish(statements, code, state.begin, end)
            state = _State(end)
        elif kind == "semicolon":
            lexed.breaks.append(end)
        elif kind == "BEGIN" and state.blocky:
            state.depth += not _TRANSACTION.match(code, end)
        elif kind == "CASE" and state.depth > 0:
            state.depth += start != skip_case
        elif kind == "END" and state.depth > 0 and not _END_OF_OTHER.match(code, end):
            state.depth -= 1
            state.closed = state.depth == 0
            case = _END_OF_CASE.match(code, end)
            skip_case = case.end() - len(b"CASE") if case else -1
        elif kind in ("AS", "IS") and state.routine and state.declares is None and state.depth <= 0:
            if state.open_parens(code, start) <= 0:
                # Of MySQL's, which have neither word before their body, it may be an alias in a query.
                alias = lexed.escaped and _QUERY.search(code, state.first or 0, start)
                state.declares = not alias and bool(_DECLARES.match(code, end))
                state.depth += bool(state.declares and state.package and blocks and not batches)
        elif kind.endswith("CREATE") and state.yields_to(code, start, batches):
            _finish(statements, code, state.begin, start)
            state, index = _State(start), index - 1
    _finish(statements, code, state.begin, len(code))
    return statements


def _finish(statements: list[Range], code: bytes, begin: int, end: int) -> None:
    first = _SPACE.search(code, begin, end)
    if first:
        statements.append((first.start(), begin + len(code[begin:end].rstrip())))
