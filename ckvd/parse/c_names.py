"""C and C++: the names at the ends of declarator chains, and what qualifies them."""

from __future__ import annotations

import re
from dataclasses import replace

import tree_sitter as ts

from ckvd.parse.found import Found, text_of

_NAMES = frozenset(
    {
        "identifier", "field_identifier", "type_identifier", "namespace_identifier", "primitive_type",
        "operator_name", "destructor_name",
    }
)  # fmt: skip
_CALLABLE = frozenset({"function_declarator", "abstract_function_declarator"})
_CLASSES = frozenset({"class_specifier", "struct_specifier", "union_specifier"})
_OPERATOR = re.compile(r"operator (?=\W)")


def declared(declarator: ts.Node, source: bytes) -> tuple[Found | None, bool]:
    """The name at the end of a declarator chain, and whether what is declared is a function."""
    node: ts.Node | None = declarator
    parents: list[str] = []
    function = False
    while node is not None:
        if node.type in _NAMES:
            name = _OPERATOR.sub("operator", " ".join(text_of(node, source).split()))
            return Found(name, node.start_byte, tuple(parents)), function
        if node.type == "operator_cast":
            cut = node.child_by_field_name("declarator")
            while cut is not None and cut.type not in _CALLABLE:  # `operator const char*()`
                cut = cut.child_by_field_name("declarator") or cut.named_child(cut.named_child_count - 1)
            name = source[node.start_byte : cut.start_byte if cut else node.end_byte].decode(
                "utf-8", "replace"
            )
            return Found(" ".join(name.split()), node.start_byte, tuple(parents)), True
        if node.type == "qualified_identifier":
            scope = node.child_by_field_name("scope")
            if scope is not None:
                parents.append(re.split(r"\s*<", text_of(scope, source))[0])
        elif node.type.endswith("_declarator"):
            function = node.type in _CALLABLE
        inner = node.child_by_field_name("declarator") or node.child_by_field_name("name")
        if inner is None:
            inner = next(
                (c for c in node.named_children if c.type.endswith("declarator") or c.type in _NAMES), None
            )
        node = inner
    return None, function


def _alldeclared(node: ts.Node, source: bytes, functions: bool) -> list[Found]:
    found = (declared(d, source) for d in node.children_by_field_name("declarator"))
    return [name for name, function in found if name is not None and name.name and function == functions]


def c_functions(node: ts.Node, source: bytes) -> list[Found]:
    """The functions among a declaration's declarators; `A::b` is `b` qualified by `A`.

    What has no type is none where it is a call before a block of a function (`EACH(x) {…}`), or in a class
    and not named as a constructor is (`MOCK_METHOD(int, f);`).
    """
    found = _alldeclared(node, source, functions=True)
    if not found or node.child_by_field_name("type") is not None:
        return found
    if node.type == "declaration":
        return [each for each in found if not _is_macro(each, node, source)]
    return [] if node.parent is not None and node.parent.type == "compound_statement" else found


def _is_macro(found: Found, node: ts.Node, source: bytes) -> bool:
    outer = node.parent
    while outer is not None and outer.type not in _CLASSES:
        outer = outer.parent
    if outer is None or found.parents or found.name.startswith(("~", "operator")):
        return False
    return all(name.name != found.name for name in c_type(outer, source))


def c_called(node: ts.Node, source: bytes) -> list[Found]:
    """`MACRO(x) {…}`, a function by the macro's name, as `MACRO(x, y) {…}` is one."""
    called = node.child_by_field_name("type")
    argument = node.child_by_field_name("declarator")
    if called is None or called.type != "type_identifier":
        return []
    if argument is None or argument.type != "parenthesized_declarator":
        return []
    return [Found(text_of(called, source), called.start_byte)]


_MACRO_CALL = re.compile(rb"\s*\w+\s*\(")
_ARGUMENT = re.compile(rb"""\s*+(?:(?P<word>[A-Za-z_]\w*)|"(?P<title>(?:[^"\\\n]|\\.)+)")\s*+(?P<end>[,)])""")


def c_case(node: ts.Node, source: bytes) -> list[Found]:
    """What `SCENARIO("title", …) {…}` and its like define, by the first argument: a word or a title."""
    return _macro_arguments(node, source)[:1]


def c_suite_case(node: ts.Node, source: bytes) -> list[Found]:
    """What `TEST(Suite, Name) {…}` and its like define: `Name`, qualified by `Suite` where there are both."""
    given = _macro_arguments(node, source)[:2]
    return [replace(given[-1], parents=tuple(each.name for each in given[:-1]))] if given else []


def _macro_arguments(node: ts.Node, source: bytes) -> list[Found]:
    """The arguments of the macro call that a definition begins with, up to one that is neither word nor
    string."""
    call = _MACRO_CALL.match(source, node.start_byte, node.end_byte)
    at = call.end() if call is not None else None
    found: list[Found] = []
    while at is not None and (argument := _ARGUMENT.match(source, at, node.end_byte)) is not None:
        which = "word" if argument["word"] is not None else "title"
        found.append(Found(argument[which].decode("utf-8", "replace"), argument.start(which)))
        at = argument.end() if argument["end"] == b"," else None
    return found


def cpp_defaulted(node: ts.Node, source: bytes) -> list[Found]:
    """`A::A() = default;` outside its class, which the grammar takes for an assignment to a call."""
    for path in ("assignment_expression", "call_expression"):
        node = next((c for c in node.children if c.type == path), node)
    set_to = node.parent.child_by_field_name("right") if node.parent is not None else None
    called = node.child_by_field_name("function")
    if called is None or set_to is None or called.type != "qualified_identifier":
        return []
    found, _ = declared(called, source)
    return [found] if found is not None and text_of(set_to, source) in ("default", "delete") else []


def c_values(node: ts.Node, source: bytes) -> list[Found]:
    """Variables, fields and type names: the declarators that are no functions."""
    return _alldeclared(node, source, functions=False)


def c_type(node: ts.Node, source: bytes) -> list[Found]:
    """A class's or namespace's own name, without template arguments, qualified by what stands before `::`."""
    name = node.child_by_field_name("name")
    if name is None:
        return []
    if name.type == "nested_namespace_specifier":
        parts = [c for c in _leaves(name) if c.type in _NAMES]
        return [
            Found(
                text_of(parts[-1], source),
                parts[-1].start_byte,
                tuple(text_of(p, source) for p in parts[:-1]),
            )
        ]
    found, _ = declared(name, source)
    return [found] if found is not None else []


def _leaves(node: ts.Node) -> list[ts.Node]:
    leaves, pending = [], [node]
    while pending:
        at = pending.pop()
        pending.extend(reversed(at.children))
        if at.child_count == 0:
            leaves.append(at)
    return leaves
