"""Drafts → symbols: file order, signatures, docs, and what each gives to the headers inside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from ckvd.languages.schema import COARSE, HEADER_VALUES, VALUES
from ckvd.model import Frame, HeaderItem, Range, Symbol
from ckvd.parse import text
from ckvd.parse.draft import Draft
from ckvd.parse.table import Table


def symbols(table: Table, source: bytes, drafts: Sequence[Draft]) -> tuple[Symbol, ...]:
    """The symbols in file order, an enclosing one before what it encloses."""
    order = sorted(range(len(drafts)), key=lambda i: (drafts[i].start, -drafts[i].end, i))
    index = {id(drafts[i]): at for at, i in enumerate(order)}
    inside: dict[int, list[Draft]] = defaultdict(list)
    for draft in drafts:
        if draft.scope is not None:
            inside[id(draft.scope)].append(draft)
    return tuple(_symbol(table, source, drafts[i], index, inside) for i in order)


def header(
    source: bytes, drafts: Sequence[Draft], imports: Sequence[HeaderItem], nameless: str = ""
) -> tuple[HeaderItem, ...]:
    """Packages, imports and the constants of the file itself, in file order."""
    constants = [d for d in drafts if d.scope is None and d.where == "module" and d.found.name != nameless]
    told = [replace(item, names=item.names - {nameless}) for item in imports]
    return tuple(sorted([*told, *_values("constant", source, constants)], key=lambda item: item.start))


def _values(kind: Literal["constant", "member"], source: bytes, drafts: Sequence[Draft]) -> list[HeaderItem]:
    """The values among the drafts that headers show; those of one declaration are one item."""
    groups: dict[Range, tuple[Draft, set[str]]] = {}
    for draft in drafts:
        if draft.kind in HEADER_VALUES and _is_told(draft, source):
            name = f"{draft.rule.by} {draft.found.name}" if draft.rule.by else draft.found.name
            group = draft.group
            if draft.body and _is_stored(draft, source):
                group = (group[0], text.trimmed(source, group[0], draft.body[0]))
            groups.setdefault(group, (draft, set()))[1].add(name)
    return [
        HeaderItem(kind, *group, frozenset(names), first.frames, lead, first.holds)
        for group, (first, names) in groups.items()
        for lead in [text.remark(source, first.above, group[0])]
    ]


def _is_told(draft: Draft, source: bytes) -> bool:
    """Whether a value is no unit, or one for its doc comment or its length and not for the code in it."""
    if not _chunked(draft, source):
        return True
    if draft.rule.chunk != "multiline":
        return False
    one_line = source.find(b"\n", draft.start, draft.end) < 0 or _is_stored(draft, source)
    return one_line or draft.kind == "macro" or (draft.body is None and draft.kind != "variable")


def _is_stored(draft: Draft, source: bytes) -> bool:
    """Whether a property is set where it is declared and has code behind that (`var x = 0`, `get() = …`)."""
    if draft.kind != "property" or not draft.rule.trailing or draft.body is None:
        return False
    return b"=" in source[draft.declared : draft.body[0]]


def _chunked(draft: Draft, source: bytes) -> bool:
    if not draft.first:
        return False
    if draft.rule.chunk == "multiline":
        return source.find(b"\n", draft.lead, draft.end) >= 0
    return draft.rule.chunk == "always"


def _shared(source: bytes, of: Draft, inside: Mapping[int, list[Draft]]) -> list[HeaderItem]:
    """The values of what a type shares the scope of (`companion object`), each with the head of that."""
    return [
        replace(item, frames=(Frame(each.start, each.head, each.end, closes=True),))
        for each in inside.get(id(of), ())
        if each.rule.shared
        for item in _values("member", source, inside.get(id(each), ()))
    ]


def _symbol(
    table: Table, source: bytes, draft: Draft, index: dict[int, int], inside: Mapping[int, list[Draft]]
) -> Symbol:
    doc = ""
    if draft.doc:
        read = text.string_text if table.docstrings else text.comment_text
        doc = read(source, *draft.doc)
    elif draft.lead < draft.whole and not table.docstrings:
        doc = text.comment_text(source, draft.lead, draft.whole)
    return Symbol(
        name=draft.found.name,
        parents=draft.parents,
        kind=draft.kind,
        start=draft.start,
        end=draft.end,
        name_start=draft.found.start,
        lead=draft.lead,
        body=draft.body,
        scope=index[id(draft.scope)] if draft.scope is not None else None,
        signature=text.signature(source, draft.declared, draft.end if draft.kind in VALUES else draft.head),
        doc=doc,
        clean=draft.clean,
        chunked=_chunked(draft, source),
        coarse=draft.kind in COARSE if draft.rule.coarse is None else draft.rule.coarse,
        head=_head(table, source, draft, inside) if id(draft) in inside or draft.doc or draft.imports else (),
        around=draft.around,
        owner=draft.owner,
        tail=draft.tail,
    )


def _head(
    table: Table, source: bytes, draft: Draft, all_inside: Mapping[int, list[Draft]]
) -> tuple[HeaderItem, ...]:
    """The signature, the doc, and the imports and values inside, in file order."""
    inside = all_inside.get(id(draft), ())
    end_of_head = draft.head + (source[draft.head : draft.head + 1] == b"{")
    # Where the grammar shows no body, or a later one, the head ends before the first line of a chunk inside,
    # and with the head of what is around that and no symbol.
    chunks = (d.lead for d in inside if _chunked(d, source) and text.begins_line(source, d.lead))
    arounds = (d.around[0].end for d in inside if d.around)
    end_of_head = min([end_of_head, *(at for at in (*chunks, *arounds) if at > draft.declared)])
    items = [HeaderItem("signature", draft.start, text.trimmed(source, draft.start, end_of_head))]
    if draft.doc:
        items.append(HeaderItem("doc", *draft.doc))
    if draft.lead < draft.whole and (table.docstrings or text.comment_text(source, draft.lead, draft.whole)):
        items.append(HeaderItem("doc", draft.lead, text.trimmed(source, draft.lead, draft.whole)))
    items += [*draft.imports, *_values("member", source, inside), *_shared(source, draft, all_inside)]
    return tuple(sorted(items, key=lambda item: item.start))
