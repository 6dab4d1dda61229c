"""The one walk over a syntax tree, for every language: declarations in, drafts of symbols out.

A cursor visits the tree in file order without recursion; a language's table says what a node means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

import tree_sitter as ts

from ckvd.languages.schema import SPACES, TYPES, Rule
from ckvd.model import HeaderItem, Range
from ckvd.parse import imports, text
from ckvd.parse.damage import any_within
from ckvd.parse.draft import Draft, measure
from ckvd.parse.enclosing import Around, Scope, Wrapper, around
from ckvd.parse.found import Found, text_of
from ckvd.parse.paths import ERROR_KIND, first
from ckvd.parse.table import Action, CompiledHeader, CompiledMark, CompiledRule, Condition, Table, hold


class Walk:
    """Walks one tree; `drafts` are in the order of their nodes, `header` holds packages and imports,
    `marks` comments and attributes. `parsed` is the text of the tree: the source, or that with parts blanked.
    """

    def __init__(
        self, table: Table, source: bytes, parsed: bytes, root: ts.Node, errors: Sequence[Range]
    ) -> None:
        self.drafts: list[Draft] = []
        self.header: list[HeaderItem] = []
        self.marks: list[text.Mark] = []
        self._table = table
        self._source = source
        self._root = root
        self._blanked = parsed if parsed != source else None
        self._errors = errors
        self._damaged = bool(errors)
        self._scopes = [Scope(-1, (), "module", None)]
        self._wrappers: list[Wrapper] = []
        self._arounds: list[Around] = []
        self._used: dict[Around, None] = {}

    def run(self) -> Walk:
        self._go()
        beside: dict[Draft | None, list[HeaderItem]] = defaultdict(list)
        for at in self._used:
            items = [item() for item in at.members]
            (at.draft.imports if at.draft is not None else self.header).extend(items)
            beside[at.draft] += [at.head] if items else []
        for draft in self.drafts:
            if draft.rule.beside:
                draft.around = tuple(dict.fromkeys((*draft.around, *beside.get(draft.scope, ()))))
        return self

    def _go(self) -> None:
        cursor, depth, damaged = self._root.walk(), 0, self._damaged
        left = 0  # the least depth at which a node was left behind since the last visit
        get, visit = self._table.actions.get, self._visit
        while True:
            node = cursor.node
            assert node is not None
            action = get(node.kind_id)
            if action is None:
                enter = True
            elif action.plain_skip:
                enter = damaged and node.has_error
            else:
                enter = visit(node, action, depth, left)
                left = depth + 1
            if enter and cursor.goto_first_child():
                depth += 1
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                depth -= 1
            if depth < left:
                left = depth

    def _visit(self, node: ts.Node, action: Action, depth: int, left: int) -> bool:
        """Takes note of a node that the table names; returns whether to enter it."""
        while self._scopes[-1].depth >= left or node.start_byte >= (self._scopes[-1].until or 1 << 62):
            self._scopes.pop()
        while self._wrappers and self._wrappers[-1].depth >= left:
            self._wrappers.pop()
        while self._arounds and self._arounds[-1].depth >= left:
            self._arounds.pop()
        for mark in action.marks:
            if self._holds(mark.when, node, depth):
                self._mark(mark, node)
                return False
        if action.comment or action.attribute:
            self.marks.append((node.start_byte, node.end_byte, action.attribute, False))
            return False
        for compiled in action.rules:
            if (
                self._in_scope(compiled.rule)
                and self._holds(compiled.when, node, depth)
                and self._declare(compiled, node, depth)
            ):
                break
        else:
            self._enclose(action, node, depth)
        for header in action.headers:
            if self._holds(header.when, node, depth):
                self._import(header, node, depth)
                break
        if action.wrapper:
            self._wrappers.append(Wrapper(depth, node, len(self.marks)))
        if action.local:
            self._scopes.append(Scope(depth, self._scopes[-1].names, "local", self._scopes[-1].draft))
        return not action.skip or (self._damaged and node.has_error)

    def _enclose(self, action: Action, node: ts.Node, depth: int) -> None:
        """Takes note of what encloses declarations and is none itself."""
        if action.around is not None:
            scope = self._scopes[-1].draft
            unnamed = action.unnamed
            found = around(
                self._table, self._source, node, action.around, depth, scope, self.marks, unnamed=unnamed
            )
            if found is not None:
                self._arounds.append(found)

    def _mark(self, mark: CompiledMark, node: ts.Node) -> None:
        scope = self._scopes[-1].draft
        if mark.rule.kind != "inside":
            rule = mark.rule
            self.marks.append((node.start_byte, node.end_byte, rule.kind == "attribute", rule.blank))
        elif scope is not None and scope.doc is None and text.follows(self._source, node):
            scope.doc = (node.start_byte, node.end_byte)

    def _around(self, depth: int) -> ts.Node | None:
        """The wrapper whose child is at this depth."""
        if self._wrappers and self._wrappers[-1].depth == depth - 1:
            return self._wrappers[-1].node
        return None

    def _outermost(self, node: ts.Node, depth: int) -> tuple[ts.Node, int]:
        """The widest of the wrappers that hold this one declaration alone, and its depth."""
        for wrapper in reversed(self._wrappers):
            if wrapper.depth != depth - 1 or not wrapper.is_alone(self._table.declarations):
                break
            node, depth = wrapper.node, depth - 1
        return node, depth

    def _in_scope(self, rule: Rule) -> bool:
        return not rule.at or self._scopes[-1].where in rule.at

    def _holds(self, conditions: tuple[Condition, ...], node: ts.Node, depth: int) -> bool:
        return not conditions or hold(conditions, node, self._around(depth), self._source)

    def _declare(self, compiled: CompiledRule, node: ts.Node, depth: int) -> bool:
        found = self._names(compiled, node, depth)
        if not found:
            return False
        rule, source = compiled.rule, self._source
        if not rule.listed:
            outside = self._scopes[-1]
            names = (*outside.names, *found[0].parents, found[0].name)
            self._scopes.append(Scope(depth, names, outside.where, outside.draft))
            return True
        if rule.rest:
            while self._scopes[-1].rest and self._scopes[-1].depth == depth - 1:
                self._scopes.pop()
        scope = self._scopes[-1]
        outer, outer_depth = self._outermost(node, depth)
        damaged = self._damaged and node.has_error
        extent = measure(self._table, compiled, source, self._blanked, node, outer, damaged, self.marks)
        start, end = extent.start, extent.end
        around = self._around(depth)
        group, above = (start, end), extent.lead
        if around is not None and around.start_byte < start:
            group = (around.start_byte, text.trimmed(source, around.start_byte, around.end_byte))
            above = self._wrappers[-1].above(source, self.marks)
        enclosing = [a for a in self._arounds if a.draft is scope.draft]
        unnamed = next((a for a in reversed(enclosing) if a.unnamed), None)
        self._used |= dict.fromkeys(a for a in enclosing if a.unnamed)
        clean = not (self._damaged and any_within(self._errors, start, end))
        before = scope.last
        if before is not None and rule.joined and before.rule.joined and before.found.name == found[0].name:
            before.kind, before.rule = self._kind(compiled, node, found[0], depth), rule
            before.join(end, clean)
            self._enter(before, depth)
            return True
        for each in found:
            draft = Draft(
                found=each,
                parents=each.parents if rule.free else scope.names + each.parents,
                kind=self._kind(compiled, node, each, depth),
                rule=rule,
                start=start,
                end=end,
                lead=extent.lead,
                whole=extent.whole,
                declared=extent.declared,
                body=extent.body,
                doc=extent.doc,
                scope=scope.draft,
                group=group,
                above=above,
                where=scope.where,
                clean=clean,
                first=each is found[0],
                around=tuple(a.head for a in enclosing),
                owner=next((text_of(n, source) for n in first(compiled.owner, node)), ""),
                holds=unnamed.range if unnamed is not None else None,
                tail=extent.tail,
            )
            self.drafts.append(draft)
        scope.last = draft
        if rule.rest:
            around = outer.parent
            holds = start, around.end_byte if around else len(source)
            self.header.append(HeaderItem("package", start, end, holds=holds))
        if len(found) == 1 and (rule.scope or rule.inside is not None):
            self._enter(draft, depth if extent.until is None else outer_depth - 1, extent.until)
        return True

    def _enter(self, draft: Draft, depth: int, until: int | None = None) -> None:
        outside = self._scopes[-1]
        if not draft.rule.scope:
            where = draft.rule.inside or outside.where
            self._scopes.append(Scope(depth, outside.names, where, draft, until=until))
            return
        names = (*draft.parents, draft.found.name)
        space = draft.kind in SPACES and outside.where == "module"
        members = draft.rule.members
        if members is None:
            members = draft.kind in TYPES
        where = draft.rule.inside or ("type" if members else "module" if space else "local")
        if draft.rule.rest:
            self._scopes.append(Scope(depth - 1, names, where, None, rest=True))
        else:
            self._scopes.append(Scope(depth, names, where, draft, until=until))

    def _names(self, compiled: CompiledRule, node: ts.Node, depth: int) -> list[Found]:
        if compiled.hook is not None:
            return [f for f in compiled.hook(node, self._source) if f.name]
        if compiled.name_field is not None:
            named = node.child_by_field_id(compiled.name_field)
            nodes = [named] if named is not None else []
        else:
            nodes = []
            for path in compiled.name:
                if path.literal is not None:
                    return [Found(path.literal, node.start_byte)]
                nodes = path.find(node, self._around(depth))
                if nodes:
                    break
        split = compiled.rule.split
        found = (text.named(self._source, n.start_byte, n.end_byte, split) for n in nodes)
        return [f for f in found if f.name]

    def _kind(self, compiled: CompiledRule, node: ts.Node, found: Found, depth: int) -> str:
        rule = compiled.rule
        kind = rule.kind
        for path in compiled.kinds_from:
            hits = path.find(node, self._around(depth))
            if hits:
                kind = rule.kinds.get(hits[0].type) or rule.kinds.get(text_of(hits[0], self._source), kind)
                break
        if rule.upper is not None and found.name.isupper():
            return rule.upper
        if rule.member is not None and (found.parents or self._scopes[-1].where == "type"):
            if rule.member != "method":
                return rule.member
            constructors = self._table.language.constructors
            owner = (found.parents or self._scopes[-1].names)[-1:]
            made = found.name in constructors or ("*" in constructors and owner == (found.name,))
            return "constructor" if made else rule.member
        return kind

    def _import(self, compiled: CompiledHeader, node: ts.Node, depth: int) -> None:
        scope = next(s for s in reversed(self._scopes) if s.depth < depth)  # not what it declares itself
        kind = compiled.rule.kind
        between = (a for a in reversed(self._arounds) if a.depth > scope.depth and kind == "member")
        unnamed = next((a for a in between if a.unnamed), None)
        told = scope.where != "local" or (kind == "import" and scope.draft is not None)
        told = told and (kind != "member" or scope.where == "type")
        told = told and (kind != "package" or scope.where == "module")
        if (unnamed is None and not told) or node.kind_id == ERROR_KIND:
            return
        outer = self._outermost(node, depth)[0]
        frames = tuple(f for a in self._arounds if a.draft is scope.draft for f in a.head.frames)
        holds = unnamed.range if unnamed is not None else None
        item = partial(imports.item, self._table, compiled, self._source, node, outer, frames, holds)
        marks = self.marks[-text.MOST_REMARKS :]
        if unnamed is not None:
            unnamed.members.append(partial(item, marks))
            if not unnamed.is_object:
                self._used[unnamed] = None
        else:
            told_to = self.header if scope.draft is None or kind == "constant" else scope.draft.imports
            told_to.append(item(marks))
