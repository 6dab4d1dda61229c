"""A language's data compiled against its grammar: node type id → what the walk does with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar, cast

import tree_sitter as ts
from tree_sitter_language_pack import SupportedLanguage, get_language

from ckvd.languages.schema import Conditions, HeaderRule, Language, LanguageDataError, MarkRule, Rule
from ckvd.parse.found import ImportHook, NameHook, text_of
from ckvd.parse.hooks import IMPORT_HOOKS, NAME_HOOKS
from ckvd.parse.mask import MASKS, Mask
from ckvd.parse.paths import Grammar, Path, compile_path

T = TypeVar("T")


Condition = tuple[Path, frozenset[int], frozenset[str], tuple[re.Pattern[str], ...]]
"""A path, and what its first node must be: of one of these types, one of these texts, or like one."""


def hold(conditions: tuple[Condition, ...], node: ts.Node, wrapper: ts.Node | None, source: bytes) -> bool:
    """Whether all conditions on a node hold."""
    for path, types, texts, patterns in conditions:
        hits = path.find(node, wrapper)
        if not hits:
            return False
        if hits[0].kind_id in types:
            continue
        said = text_of(hits[0], source) if texts or patterns else ""
        if said not in texts and not any(p.search(said) for p in patterns):
            return False
    return True


@dataclass(frozen=True, slots=True)
class CompiledRule:
    rule: Rule
    name: tuple[Path, ...]
    name_field: int | None
    """The field of a name path that is nothing but a field: the common case, looked up directly."""
    body: tuple[Path, ...]
    kinds_from: tuple[Path, ...]
    when: tuple[Condition, ...]
    hook: NameHook | None
    trailing: frozenset[int]
    leading: frozenset[int]
    whole: tuple[Path, ...]
    owner: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class CompiledHeader:
    rule: HeaderRule
    names: tuple[Path, ...]
    body: tuple[Path, ...]
    when: tuple[Condition, ...]
    open: Path | None
    hook: ImportHook | None
    frame: Path | None


@dataclass(frozen=True, slots=True)
class CompiledMark:
    rule: MarkRule
    when: tuple[Condition, ...]


@dataclass(slots=True)
class Action:
    """What a node type means to the walk."""

    rules: tuple[CompiledRule, ...] = ()
    headers: tuple[CompiledHeader, ...] = ()
    marks: tuple[CompiledMark, ...] = ()
    around: Path | None = None
    unnamed: bool = False
    """Whether what it is the path of is a type."""
    wrapper: bool = False
    comment: bool = False
    attribute: bool = False
    local: bool = False
    skip: bool = False
    plain_skip: bool = False
    """Nothing but `skip`: the walk passes by without a further look."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    language: Language
    grammar: ts.Language
    actions: dict[int, Action] = field(default_factory=dict)
    comments: frozenset[int] = frozenset()
    attributes: frozenset[int] = frozenset()
    modifiers: frozenset[int] = frozenset()
    blocks: frozenset[int] = frozenset()
    docstrings: frozenset[int] = frozenset()
    declarations: frozenset[int] = frozenset()
    masks: tuple[Mask, ...] = ()
    premasks: tuple[Mask, ...] = ()
    guard: re.Pattern[bytes] | None = None


def table(language: Language) -> Table:
    """The compiled table; raises LanguageDataError for a name that the grammar does not have."""
    compiled = _compiled(language)
    if isinstance(compiled, str):
        raise LanguageDataError(compiled)
    return compiled


def usable(language: Language) -> bool:
    """Whether there is a grammar for the language that has all the names in its data."""
    return language.grammar is not None and not isinstance(_compiled(language), str)


@cache
def _compiled(language: Language) -> Table | str:
    """The compiled table, or what is wrong."""
    if language.grammar is None:
        return language.problem or f"{language.name}.toml: there is no 'grammar'"
    try:
        loaded = get_language(cast(SupportedLanguage, language.grammar))
    except LookupError:
        return f"{language.name}.toml: 'grammar': there is no grammar {language.grammar!r}"
    try:
        return _table(language, loaded)
    except LanguageDataError as error:
        return str(error)


def _table(language: Language, loaded: ts.Language) -> Table:
    grammar = Grammar(loaded, language.name)
    actions: dict[int, Action] = {}

    def ids(names: tuple[str, ...]) -> frozenset[int]:
        return frozenset(i for name in names for i in grammar.named(name))

    def at(name: str) -> list[Action]:
        return [actions.setdefault(i, Action()) for i in grammar.named(name)]

    for name, rules in language.symbols.items():
        compiled = tuple(_rule(rule, grammar, language) for rule in rules)
        for action in at(name):
            action.rules = compiled
    for name, headers in language.header.items():
        compiled_headers = tuple(_header(header, grammar, language) for header in headers)
        for action in at(name):
            action.headers = compiled_headers
    for name, marks in language.marks.items():
        compiled_marks = tuple(CompiledMark(mark, _conditions(mark.when, grammar)) for mark in marks)
        for action in at(name):
            action.marks = compiled_marks
    for unnamed, arounds in ((False, language.around), (True, language.anonymous)):
        for name, behind in arounds.items():
            for action in at(name):
                action.around, action.unnamed = compile_path(behind, grammar), unnamed
    for flag, names in (
        ("wrapper", language.wrappers),
        ("comment", language.comments),
        ("attribute", language.attributes),
        ("local", language.locals),
        ("skip", language.skip),
    ):
        for name in names:
            for action in at(name):
                setattr(action, flag, True)
    for action in actions.values():
        action.plain_skip = action == Action(skip=True)
    return Table(
        language,
        loaded,
        actions,
        comments=ids(language.comments),
        attributes=ids(language.attributes),
        modifiers=ids(language.modifiers),
        blocks=ids(language.blocks),
        docstrings=ids(language.docstrings),
        masks=tuple(_hook(MASKS, name, language) for name in language.masks),
        premasks=tuple(_hook(MASKS, name, language) for name in language.premasks),
        declarations=ids((*language.symbols, *language.header, *language.wrappers)),
        guard=re.compile(language.guard.encode()) if language.guard else None,
    )


def _rule(rule: Rule, grammar: Grammar, language: Language) -> CompiledRule:
    plain = len(rule.name) == 1 and rule.name[0].isidentifier()
    return CompiledRule(
        rule=rule,
        name=tuple(compile_path(p, grammar) for p in rule.name),
        name_field=grammar.field(rule.name[0]) if plain else None,
        body=tuple(compile_path(p, grammar) for p in rule.body),
        kinds_from=tuple(compile_path(p, grammar) for p in rule.kinds_from),
        when=_conditions(rule.when, grammar),
        hook=_hook(NAME_HOOKS, rule.hook, language) if rule.hook else None,
        trailing=frozenset(i for name in rule.trailing for i in grammar.named(name)),
        leading=frozenset(i for name in rule.leading for i in grammar.kinds(name)),
        whole=tuple(compile_path(p, grammar) for p in rule.whole),
        owner=tuple(compile_path(p, grammar) for p in rule.owner),
    )


def _conditions(rows: Conditions, grammar: Grammar) -> tuple[Condition, ...]:
    compiled = []
    for path, wanted in rows:
        types = frozenset(i for w in wanted if w[0] not in "=~" for i in grammar.kinds(w))
        texts = frozenset(w[1:] for w in wanted if w[0] == "=")
        patterns = tuple(_pattern(w[1:]) for w in sorted(wanted) if w[0] == "~")
        compiled.append((compile_path(path, grammar), types, texts, patterns))
    return tuple(compiled)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise LanguageDataError(f"'when': {text!r} is no expression ({error})") from error


def _header(header: HeaderRule, grammar: Grammar, language: Language) -> CompiledHeader:
    return CompiledHeader(
        rule=header,
        names=tuple(compile_path(p, grammar) for p in header.names),
        body=tuple(compile_path(p, grammar) for p in header.body),
        when=_conditions(header.when, grammar),
        open=compile_path("**" + "|".join(sorted(header.open)), grammar) if header.open else None,
        hook=_hook(IMPORT_HOOKS, header.hook, language) if header.hook else None,
        frame=compile_path(header.frame, grammar) if header.frame else None,
    )


def _hook(hooks: dict[str, T], name: str, language: Language) -> T:
    if name not in hooks:
        raise LanguageDataError(f"{language.name}: there is no hook {name!r}")
    return hooks[name]
