"""An SQL script → its statements, in any dialect: quotes, dollar quotes, comments, blocks, batch separators.

Two passes, both linear. `_lex` finds what may hide or end a statement and blanks comments; `_group` ends
statements at `;`, `GO`, `/`, the client's delimiter or a psql command, and keeps `BEGIN … END` together.
It never fails: a quote or comment without its end is damage, and the script goes on after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from ckvd.model import Range

_SPACE = re.compile(rb"\S")
NEW_STATEMENT = re.compile(
    rb"(?:RE)?CREATE\s+(?:(?:OR\s+REPLACE|OR\s+ALTER|GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED|UNIQUE|FULLTEXT|SPATIAL|"
    rb"CLUSTERED|NONCLUSTERED|COLUMNSTORE|BITMAP|EXTERNAL|FOREIGN|VIRTUAL|MATERIALIZED|RECURSIVE|CONSTRAINT|"
    rb"EDITIONABLE|NONEDITIONABLE|NO\s+FORCE|FORCE|PUBLIC|PRIVATE|SECURE|TRANSIENT|DYNAMIC|SQL\s+SECURITY\s+\w+|"
    rb"DEFINER\s*=\s*\S+|ALGORITHM\s*=\s*\w+|PRIMARY|XML|TRUSTED|PROCEDURAL|VOLATILE|MULTISET|SET|HYBRID)\s+)*+"
    rb"(?P<kind>TABLE|VIEW|INDEX|FUNCTION|PROCEDURE|PROC|TRIGGER|EVENT(?:\s+TRIGGER)?|PACKAGE(?:\s+BODY)?|TYPE(?:\s+BODY)?|DOMAIN|"
    rb"SEQUENCE|SCHEMA|DATABASE|ROLE|USER|POLICY|EXTENSION|AGGREGATE|RULE|SYNONYM|MACRO|SERVER|PUBLICATION|"
    rb"SUBSCRIPTION|LOGIN|OPERATOR(?:\s+(?:CLASS|FAMILY))?)\b",
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
_TAKES_A_STATEMENT = re.compile(rb"(?:EXPLAIN|GRANT|REVOKE|PREPARE|COMMENT|AUDIT)\b", re.IGNORECASE)
_ROUTINE_AT_MARGIN = re.compile(rb"\nCREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE)\b", re.IGNORECASE)
_LOOKS_ESCAPED = re.compile(
    rb"`|\bAUTO_INCREMENT\b|\bENGINE\s*=|^DELIMITER\b|/\*!\d", re.IGNORECASE | re.MULTILINE
)
_BODY_BREAK = re.compile(rb";(?=[ \t\r]*(?:--[^\n]*)?\n)")
_VERSION = re.compile(rb"/\*!\d*")
_COMMENT_MARK = re.compile(rb"/\*|\*/")
_RECOVERY = re.compile(rb";[ \t\r]*\n|\n\s*\n|\n(?=CREATE\b)", re.IGNORECASE)
_COPY_END = re.compile(rb"^\\\.[ \t\r]*$", re.MULTILINE)


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
    escaped = bool(_LOOKS_ESCAPED.search(text))
    lexed = _lex(text, escaped=escaped, guarded=False)
    if lexed.damage:
        other = _lex(text, escaped=not escaped, guarded=False)
        lexed = _lex(text, escaped=escaped, guarded=True) if other.damage else other
    return Script(
        bytes(lexed.code),
        tuple(_group(lexed)),
        tuple(lexed.comments),
        tuple(sorted(lexed.breaks)),
        tuple(lexed.damage),
    )


@dataclass(slots=True)
class _Lexed:
    """`tokens` are `(kind, start, end)`: a `semicolon` may end a statement, a `stop` does, a `cut` ends it
    before itself."""

    code: bytearray
    escaped: bool
    batches: bool = False
    tokens: list[tuple[str, int, int]] = field(default_factory=list)
    comments: list[Range] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    damage: list[Range] = field(default_factory=list)

    def blank(self, start: int, end: int) -> None:
        self.code[start:end] = re.sub(rb"[^\n]", b" ", self.code[start:end])


def _quoted(mark: bytes, escapes: bool, guarded: bool) -> bytes:
    """A quoted text; guarded, it neither holds a semicolon at a line's end nor a blank line."""
    across = rb";(?![ \t\r]*\n)|\n(?!\s*\n|(?:CREATE|ALTER|INSERT|DROP)\b)" if guarded else rb"[;\n]"
    plain = rb"[^;\n\\" + mark + rb"]++" if escapes else rb"[^;\n" + mark + rb"]++"
    escape = rb"|\\." if escapes else rb""
    return mark + rb"(?:" + plain + rb"|" + across + escape + rb"|" + mark * 2 + rb")*+" + mark


_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL
_DOLLAR = rb"\$(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*+)?\$"
_PARENS = re.compile(
    rb"[()]|" + _quoted(b"'", False, False) + rb"|" + _quoted(b'"', False, False) + rb"|" + _DOLLAR, _FLAGS
)


@lru_cache(maxsize=64)
def _pattern(delimiter: bytes, escaped: bool, guarded: bool) -> re.Pattern[bytes]:
    """Text that neither hides nor ends anything, then one token."""
    stop = rb"\b" + delimiter + rb"\b" if delimiter.isalnum() else re.escape(delimiter)
    word = rb"[\w\x80-\xff#@]" if b"$" in delimiter else rb"[\w\x80-\xff$#@]"
    keyword = rb"(?:BEGIN|END|CASE|(?:RE)?CREATE|AS|IS)(?!" + word + rb")"
    plain = [
        rb"\n",
        rb"[^\w\x80-\xff\n;'\"`\[$/*\\#@.-]++",
        rb"E" + _quoted(b"'", True, guarded),
        rb"(?!" + keyword + rb"|N?Q')[\w\x80-\xff]" + word + rb"*+",
        rb"[.#@]" + word + rb"*+",
        _quoted(b"'", escaped, guarded),
        _quoted(b'"', escaped, guarded),
        rb"`[^`]*+`",
        rb"\[(?:[A-Za-z_#@][\w .$#@'-]*+\])?",
        rb"-(?!-)|/(?!\*)|\*(?!/)|\\(?!(?:g\w*|watch|crosstabview)\b)|\$(?!" + _DOLLAR[2:] + rb")",
    ]
    line = rb"^[ \t]*(?:GO\b|/[ \t\r]*$|DELIMITER\b|\\|#|COPY\b)"
    tokens = [
        rb"(?P<stop>" + stop + rb")" if delimiter != b";" else rb"(?P<semicolon>;)",
        rb"(?P<inner>;)",
        rb"(?P<comment>--[^\n]*|^[ \t]*#" + (rb"[^\n]*" if escaped else rb"(?:[ !#-][^\n]*)?$") + rb")",
        rb"(?P<block>/\*)|(?P<unblock>\*/)",
        rb"(?P<oracle>N?Q'(?P<mark>[^\s\w]))",
        rb"(?P<unclosed>['\"])",
        rb"(?P<dollar>" + _DOLLAR + rb")",
        rb"(?P<directive>^[ \t]*DELIMITER[ \t]+(?P<new>\S+)[^\n]*)",
        rb"(?P<separator>^[ \t]*(?:GO(?:[ \t]+\d+)?[ \t]*;?|/)[ \t\r]*(?:--[^\n]*)?$)",
        rb"(?P<meta>^[ \t]*\\[^\n]*|\\(?:g\w*|watch|crosstabview)\b[^\n]*)",
        rb"(?P<copy>^[ \t]*COPY\b[^;']{0,2000}?\bFROM\s+STDIN\b[^;]{0,2000};[^\n]*(?:\n|\Z))",
        rb"(?P<word>" + keyword + rb")",
        rb"(?P<other>[\w\x80-\xff]" + word + rb"*+|.)",
    ]
    guard = rb"(?!" + line + (rb"" if delimiter == b";" else rb"|" + stop) + rb")"
    skipped = rb"(?:" + guard + rb"(?:" + rb"|".join(plain) + rb"))*+"
    return re.compile(skipped + rb"(?:" + rb"|".join(tokens) + rb")", _FLAGS)


def _lex(text: bytes, *, escaped: bool, guarded: bool) -> _Lexed:
    out = _Lexed(bytearray(text), escaped)
    delimiter, nested, executable, at = b";", True, 0, 0
    oracle_ends: dict[bytes, int] = {}
    while found := _pattern(delimiter, escaped, guarded).match(text, at):
        kind = found.lastgroup or ""
        start, at = found.span(kind)
        if kind == "comment":
            out.comments.append((at - len(found[kind].lstrip()), at))
            out.blank(start, at)
        elif kind == "block" and (version := _VERSION.match(text, start)):
            executable, at = executable + 1, version.end()
            out.blank(start, at)
        elif kind == "block":
            end, nested = _comment_end(text, start, nested)
            at = end or (_line_end(text, start) if guarded else len(text))
            (out.comments if end else out.damage).append((start, at))
            out.blank(start, at)
        elif kind == "unblock" and executable:
            executable -= 1
            out.blank(start, at)
        elif kind == "oracle":
            end = _oracle_end(text, found, oracle_ends)
            at = at - 2 if end is None else end
        elif kind == "unclosed":
            recovery = _RECOVERY.search(text, start) if guarded else None
            at = recovery.end() if recovery else len(text)
            out.damage.append((start, at))
            out.tokens.append(("stop", start, at))
        elif kind == "dollar":
            at = _dollar_end(out, text, found, guarded)
        elif kind in ("directive", "separator", "meta"):
            delimiter = found["new"] or delimiter
            out.batches |= kind == "separator"
            out.blank(start, at)
            out.tokens.append(("cut", start, at))
        elif kind == "copy":
            data, data_end = at, _COPY_END.search(text, at)
            at = data_end.end() if data_end else at
            out.blank(data, at)
            out.tokens.append(("stop", start, data))
        elif kind in ("semicolon", "stop"):
            out.tokens.append((kind, start, at))
        elif kind == "inner":
            out.breaks.append(at)
        elif kind == "word":
            out.tokens.append((found[kind].upper().decode(), start, at))
    return out


def _oracle_end(text: bytes, opening: re.Match[bytes], ends: dict[bytes, int]) -> int | None:
    """The end of a text like `q'[…]'`; `ends` knows the closing marks that do not occur any more."""
    mark = opening["mark"]
    close = {b"[": b"]", b"{": b"}", b"(": b")", b"<": b">"}.get(mark, mark) + b"'"
    if ends.get(close, 0) >= 0:
        ends[close] = text.find(close, opening.end())
    return ends[close] + 2 if ends[close] >= 0 else None


def _comment_end(text: bytes, start: int, nested: bool) -> tuple[int | None, bool]:
    """The end of a block comment, and whether comments nest: as the standard has it, until one does not."""
    if nested:
        depth = 0
        for mark in _COMMENT_MARK.finditer(text, start):
            depth += 1 if mark[0] == b"/*" else -1
            if depth == 0:
                return mark.end(), True
    flat = text.find(b"*/", start + 2)
    return (flat + 2 if flat >= 0 else None), False


def _dollar_end(out: _Lexed, text: bytes, opening: re.Match[bytes], guarded: bool) -> int:
    (start, inside), tag = opening.span("dollar"), opening["dollar"]
    close = text.find(tag, inside)
    limit = close if close >= 0 else len(text)
    margin = _ROUTINE_AT_MARGIN.search(text, inside, limit) if guarded else None
    if close < 0 or margin:
        end = margin.start() + 1 if margin else len(text)
        out.damage.append((start, end))
        out.tokens.append(("stop", start, end))
        return end
    out.breaks.extend(m.end() for m in _BODY_BREAK.finditer(text, inside, close))
    return close + len(tag)


def _line_end(text: bytes, start: int) -> int:
    end = text.find(b"\n", start)
    return end if end >= 0 else len(text)


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
        for found in _PARENS.finditer(code, self.begin if self.counted is None else self.counted, at):
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


def _group(lexed: _Lexed) -> list[Range]:
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
                state.declares = not lexed.escaped and bool(_DECLARES.match(code, end))
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
