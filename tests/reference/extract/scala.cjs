// Classes, objects, traits, functions, types and values by Scalameta: paths on standard input, one JSON line a
// file on standard output. Values count where they are members of what has a name, and qualify what they hold.
const fs = require("node:fs");
const { answer, lines } = require("./common.cjs");
const { parseSource } = require("scalameta-parsers");

const NAMED = new Set([
  "Defn.Class", "Defn.Object", "Defn.Trait", "Defn.Enum", "Defn.Def", "Decl.Def", "Defn.Type", "Decl.Type",
  "Pkg.Object", "Ctor.Secondary", "Defn.Given",
]);
const VALUES = new Set(["Defn.Val", "Defn.Var", "Decl.Val", "Decl.Var"]);
const HOLDERS = new Set(["Template", "Template.Body", "Source", "Pkg", "Pkg.Body", "Defn.ExtensionGroup", "Defn.ExtensionGroup.Body"]);

function extract(file) {
  const source = fs.readFileSync(file, "utf8");
  const tree = parseSource(source);
  if (tree.error) return { path: file, error: tree.error };
  const line = lines(source);
  const rows = [];
  const pending = [[tree, [], false, false]];
  while (pending.length) {
    const [node, parents, member, anonymous] = pending.pop();
    let inside = parents;
    const add = (name) => {
      const { start, end } = node.pos;
      rows.push({ symbol: [...parents, name].join("."), start: line(start), end: line(end - 1) });
    };
    if (NAMED.has(node.type)) {
      const name = node.type === "Ctor.Secondary" ? "this" : node.name && node.name.value;
      if (name) {
        add(name);
        inside = [...parents, name];
      }
    } else if (VALUES.has(node.type) && member)
      for (const pat of node.pats)
        if (pat.type === "Pat.Var") {
          add(pat.name.value);
          inside = [...parents, pat.name.value];
        }
    const holds = HOLDERS.has(node.type) && !(anonymous && node.type.startsWith("Template"));
    const inNew = node.type === "Term.NewAnonymous" || (anonymous && node.type === "Template");
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? value.flat() : [value])
        if (child && typeof child === "object" && child.type) pending.push([child, inside, holds, inNew]);
  }
  return { path: file, rows };
}

answer(extract);
