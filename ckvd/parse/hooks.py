"""The names that no table can say: small functions that a language's TOML refers to by name."""

from __future__ import annotations

import re

import tree_sitter as ts

from ckvd.parse.c_names import c_called, c_case, c_functions, c_suite_case, c_type, c_values, cpp_defaulted
from ckvd.parse.cmake import cmake_test
from ckvd.parse.csharp_names import csharp_destructor, csharp_operator
from ckvd.parse.elixir import elixir_alias, elixir_attribute, elixir_function, elixir_module
from ckvd.parse.found import Found, ImportHook, NameHook, text_of
from ckvd.parse.go_names import go_import, go_method
from ckvd.parse.haskell import haskell_function, haskell_instance, haskell_pattern
from ckvd.parse.js_names import js_assigned, js_class, js_object
from ckvd.parse.julia import julia_function, julia_type, julia_value
from ckvd.parse.nix import nix_binding
from ckvd.parse.objc_names import objc_selector, objc_values
from ckvd.parse.python_names import python_targets
from ckvd.parse.rust_names import rust_impl, rust_statics, rust_use
from ckvd.parse.terraform_names import terraform_block, terraform_local


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


def ocaml_pattern(node: ts.Node, source: bytes) -> list[Found]:
    """What the pattern of a `let` binds (`let (a, { b = c; _ }) = …`), each name once."""
    pattern = node.child_by_field_name("pattern")
    found: dict[str, Found] = {}
    left = [pattern] if pattern is not None and pattern.type.endswith("_pattern") else []
    while left:
        at = left.pop()
        if at.type == "value_name":
            name = text_of(at, source)
            found.setdefault(name, Found(name, at.start_byte))
        left += [
            c for c in reversed(at.named_children) if c.type.endswith("_pattern") or c.type == "value_name"
        ]
    found.pop("_", None)
    return list(found.values())


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
    "c_case": c_case,
    "c_called": c_called,
    "c_functions": c_functions,
    "c_suite_case": c_suite_case,
    "c_type": c_type,
    "c_values": c_values,
    "cpp_defaulted": cpp_defaulted,
    "cmake_test": cmake_test,
    "csharp_destructor": csharp_destructor,
    "csharp_operator": csharp_operator,
    "elixir_attribute": elixir_attribute,
    "elixir_function": elixir_function,
    "elixir_module": elixir_module,
    "go_method": go_method,
    "haskell_function": haskell_function,
    "haskell_instance": haskell_instance,
    "haskell_pattern": haskell_pattern,
    "js_assigned": js_assigned,
    "js_class": js_class,
    "js_object": js_object,
    "julia_function": julia_function,
    "julia_type": julia_type,
    "julia_value": julia_value,
    "nix_binding": nix_binding,
    "ocaml_pattern": ocaml_pattern,
    "objc_selector": objc_selector,
    "objc_values": objc_values,
    "powershell_name": powershell_name,
    "python_targets": python_targets,
    "r_method": r_method,
    "rust_impl": rust_impl,
    "terraform_block": terraform_block,
    "terraform_local": terraform_local,
}

IMPORT_HOOKS: dict[str, ImportHook] = {
    "elixir_alias": elixir_alias,
    "go_import": go_import,
    "perl_imports": perl_imports,
    "rust_statics": rust_statics,
    "rust_use": rust_use,
}
