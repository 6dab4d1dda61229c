"""The names that no table can say: small functions that a language's TOML refers to by name."""

from __future__ import annotations

import re

import tree_sitter as ts

from ckvd.parse.cmake import cmake_test
from ckvd.parse.elixir import elixir_alias, elixir_attribute, elixir_function, elixir_module
from ckvd.parse.found import Found, ImportHook, NameHook, text_of
from ckvd.parse.haskell import haskell_function, haskell_instance, haskell_pattern
from ckvd.parse.julia import julia_function, julia_type, julia_value
from ckvd.parse.nix import nix_binding


def go_method(node: ts.Node, source: bytes) -> list[Found]:
    """The receiver's type qualifies a Go method, without `*` and type parameters."""
    name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    if name is None or receiver is None:
        return []
    found = re.search(r"(\w+)\s*(?:\[.*\])?\s*,?\s*\)$", text_of(receiver, source), re.DOTALL)
    return [Found(text_of(name, source), name.start_byte, (found[1],) if found else ())]


def go_import(node: ts.Node, source: bytes) -> list[str]:
    """The name before the path, else the path's last element that is not a version."""
    name, path = node.child_by_field_name("name"), node.child_by_field_name("path")
    if name is not None:
        named = text_of(name, source)
        if named == ".":
            return []
        if named != "_":
            return [named]
    if path is None:
        return []
    parts = text_of(path, source).strip('"`').split("/")
    if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]):
        parts.pop()
    last = re.sub(r"\.v\d+$", "", parts[-1])
    return [last, *re.split(r"[-.]", last)]


def js_assigned(node: ts.Node, source: bytes) -> list[Found]:
    """`A.prototype.b = …` is `A.b`; `exports.f`, `module.exports.f` and `this.f` are `f`."""
    left = node.child_by_field_name("left")
    if left is None:
        return []
    if left.type == "identifier":
        return [Found(text_of(left, source), left.start_byte)]
    last = left.child_by_field_name("property")
    owner = left.child_by_field_name("object")
    if last is None or owner is None:
        return []
    owners = text_of(owner, source)
    if not re.fullmatch(r"[\w$#]+(\s*\.\s*[\w$#]+)*", owners):
        return []
    parts = tuple(
        p for p in re.split(r"\s*\.\s*", owners) if p not in ("prototype", "this", "exports", "module")
    )
    name = text_of(last, source)
    return [Found("default" if owners == "module" and name == "exports" else name, last.start_byte, parts)]


def js_object(node: ts.Node, source: bytes) -> list[Found]:
    """The names that qualify the functions of an object: `A.prototype = {…}` is `A`, `exports = {…}` none."""
    left = node.child_by_field_name("left")
    found = js_assigned(node, source)
    if left is None or not found:
        return []
    names = [n for n in (*found[0].parents, found[0].name) if n not in ("default", "prototype", "exports")]
    return [Found(names[-1], left.start_byte, tuple(names[:-1]))] if names else []


_NAMES = frozenset(
    {
        "identifier", "field_identifier", "type_identifier", "namespace_identifier", "primitive_type",
        "operator_name", "destructor_name",
    }
)  # fmt: skip
_CALLABLE = frozenset({"function_declarator", "abstract_function_declarator"})


def _declared(declarator: ts.Node, source: bytes) -> tuple[Found | None, bool]:
    """The name at the end of a declarator chain, and whether what is declared is a function."""
    node: ts.Node | None = declarator
    parents: list[str] = []
    function = False
    while node is not None:
        if node.type in _NAMES:
            return Found(" ".join(text_of(node, source).split()), node.start_byte, tuple(parents)), function
        if node.type == "operator_cast":
            cut = node.child_by_field_name("declarator")
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


def _all_declared(node: ts.Node, source: bytes, functions: bool) -> list[Found]:
    found = (_declared(d, source) for d in node.children_by_field_name("declarator"))
    return [name for name, function in found if name is not None and name.name and function == functions]


def c_functions(node: ts.Node, source: bytes) -> list[Found]:
    """The functions among a declaration's declarators; `A::b` is `b` qualified by `A`.

    `MACRO(x) {…}` is a function by the macro's name, as `MACRO(x, y) {…}` is one.
    """
    found = _all_declared(node, source, functions=True)
    called = node.child_by_field_name("type")
    if found or node.type != "function_definition" or called is None or called.type != "type_identifier":
        return found
    argument = node.child_by_field_name("declarator")
    if argument is None or argument.type != "parenthesized_declarator":
        return []
    return [Found(text_of(called, source), called.start_byte)]


def cpp_defaulted(node: ts.Node, source: bytes) -> list[Found]:
    """`A::A() = default;` outside its class, which the grammar takes for an assignment to a call."""
    for path in ("assignment_expression", "call_expression"):
        node = next((c for c in node.children if c.type == path), node)
    set_to = node.parent.child_by_field_name("right") if node.parent is not None else None
    called = node.child_by_field_name("function")
    if called is None or set_to is None or called.type != "qualified_identifier":
        return []
    found, _ = _declared(called, source)
    return [found] if found is not None and text_of(set_to, source) in ("default", "delete") else []


def c_values(node: ts.Node, source: bytes) -> list[Found]:
    """Variables, fields and type names: the declarators that are no functions."""
    return _all_declared(node, source, functions=False)


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
    found, _ = _declared(name, source)
    return [found] if found is not None else []


def _leaves(node: ts.Node) -> list[ts.Node]:
    leaves, pending = [], [node]
    while pending:
        at = pending.pop()
        pending.extend(reversed(at.children))
        if at.child_count == 0:
            leaves.append(at)
    return leaves


def rust_impl(node: ts.Node, source: bytes) -> list[Found]:
    """The type that an `impl` is for, without path, references and type arguments."""
    at = node.child_by_field_name("type")
    while at is not None:
        inner = at.child_by_field_name("type") or at.child_by_field_name("name")
        if inner is None:
            return [Found(" ".join(text_of(at, source).split()), at.start_byte)]
        at = inner
    return []


def rust_use(node: ts.Node, source: bytes) -> list[str]:
    """The last segments and aliases of a `use`; nothing where a `*` is among them."""
    text = text_of(node, source)
    if "*" in text:
        return []
    names: list[str] = []
    prefix = ""
    for part in re.split(r"[{},;]", re.sub(r"^\s*(pub(\([^)]*\))?\s+)?use\s+", "", text)):
        segments = [s.strip() for s in re.split(r"::|\bas\b", part)]
        if segments[-1]:
            names.append(prefix if segments == ["self"] else segments[-1])
        elif len(segments) > 1:
            prefix = segments[-2]
    return names


def terraform_block(node: ts.Node, source: bytes) -> list[Found]:
    """A block by the address that other blocks use for it: `aws_x.y`, `data.aws_x.y`, `var.x`."""
    named = (c for c in node.children if c.type in ("identifier", "string_lit"))
    words = [c for c in named if text_of(c, source).strip('"')]  # an empty label names nothing
    texts = [text_of(c, source).strip('"') for c in words]
    if not words:
        return []
    kind, labels = texts[0], texts[1:]
    start = words[-1].start_byte + (words[-1].type == "string_lit")
    if not labels:
        return [Found(kind, start)]
    first = {"resource": (), "variable": ("var",)}.get(kind, (kind,))
    return [Found(labels[-1], start, (*first, *labels[:-1]))]


def terraform_local(node: ts.Node, source: bytes) -> list[Found]:
    """A value of a `locals` block is `local.x`."""
    name = node.children[0]
    return [Found(text_of(name, source), name.start_byte, ("local",))]


def powershell_name(node: ts.Node, source: bytes) -> list[Found]:
    """The name of a function or of what is assigned to, without the scope that is told it (`script:`)."""
    if node.type == "function_statement":
        at = next((c for c in node.children if c.type == "function_name"), None)
    else:
        at = node.descendant_for_byte_range(node.start_byte, node.start_byte + 1)
    if at is None:
        return []
    found = re.search(r"[^:$}]+(?=:?$)", text_of(at, source))
    return [Found(found[0], at.end_byte - len(at.text[found.start() :]))] if found and at.text else []


def objc_selector(node: ts.Node, source: bytes) -> list[Found]:
    """The whole selector of a method, `setObject:forKey:`."""
    parts: list[str] = []
    start = word = None
    for child in node.named_children:
        if child.type == "identifier":
            word = child
        elif child.type == "method_parameter":
            parts.append((text_of(word, source) if word is not None else "") + ":")
        else:
            continue
        start = child if start is None else start
        word = word if child.type == "identifier" else None
    if start is None:
        return []
    return [Found("".join(parts) or text_of(start, source), start.start_byte)]


def objc_values(node: ts.Node, source: bytes) -> list[Found]:
    """The names that a property or an instance variable declares."""
    declared = (c for c in node.named_children if c.type == "struct_declaration")
    each = (d for c in declared for d in c.named_children if d.type == "struct_declarator")
    found = (_declared(d, source)[0] for d in each)
    return [name for name in found if name is not None and name.name]


def perl_imports(node: ts.Node, source: bytes) -> list[str]:
    """What `use Shelf::Crate qw(a b)` binds: the names, and the module's own last word."""
    module = node.child_by_field_name("module")
    listed = re.search(r"\bqw\s*\W([^)\]}>/|]*)", text_of(node, source))
    own = re.findall(r"\w+$", text_of(module, source)) if module is not None else []
    return own + (re.findall(r"\w+", listed[1]) if listed is not None else [])


def r_method(node: ts.Node, source: bytes) -> list[Found]:
    """The generic of `setMethod("size", "Crate", …)`, qualified by the class whose method it is."""
    arguments = node.child_by_field_name("arguments")
    given = arguments.children_by_field_name("argument") if arguments is not None else []
    texts = [re.search(r"[\"']([^\"'\n]+)[\"']", text_of(each, source)) for each in given[:2]]
    if not texts or texts[0] is None:
        return []
    at = given[0].start_byte + len(text_of(given[0], source)[: texts[0].start(1)].encode())
    owner = texts[1][1] if len(texts) > 1 and texts[1] is not None else ""
    if node.children[0].text == b"setValidity":
        return [Found("validity", at, (texts[0][1],))]
    return [Found(texts[0][1], at, (owner,) if owner else ())]


NAME_HOOKS: dict[str, NameHook] = {
    "c_functions": c_functions,
    "c_type": c_type,
    "c_values": c_values,
    "cpp_defaulted": cpp_defaulted,
    "cmake_test": cmake_test,
    "elixir_attribute": elixir_attribute,
    "elixir_function": elixir_function,
    "elixir_module": elixir_module,
    "go_method": go_method,
    "haskell_function": haskell_function,
    "haskell_instance": haskell_instance,
    "haskell_pattern": haskell_pattern,
    "js_assigned": js_assigned,
    "js_object": js_object,
    "julia_function": julia_function,
    "julia_type": julia_type,
    "julia_value": julia_value,
    "nix_binding": nix_binding,
    "objc_selector": objc_selector,
    "objc_values": objc_values,
    "powershell_name": powershell_name,
    "r_method": r_method,
    "rust_impl": rust_impl,
    "terraform_block": terraform_block,
    "terraform_local": terraform_local,
}

IMPORT_HOOKS: dict[str, ImportHook] = {
    "elixir_alias": elixir_alias,
    "go_import": go_import,
    "perl_imports": perl_imports,
    "rust_use": rust_use,
}
