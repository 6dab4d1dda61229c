// Functions with a name by luaparse: paths on standard input, one JSON line a file on standard output. A function
// has the name that it is declared with, assigned to or a field's.
const fs = require("node:fs");
const { answer } = require("./common.cjs");
const luaparse = require("luaparse");

function plain(node) {
  if (!node) return null;
  if (node.type === "Identifier") return node.name;
  if (node.type === "IndexExpression" && node.index.type === "StringLiteral") {
    const table = plain(node.base);
    return table && `${table}[${node.index.raw}]`;
  }
  if (node.type !== "MemberExpression") return null;
  const base = plain(node.base);
  return base === null ? null : `${base}.${node.identifier.name}`;
}

/** A field's table qualifies what it holds; so does all that a variable is given outside all functions. */
function holds(whole, value, inside) {
  if (whole.type === "TableField") return value.type === "TableConstructorExpression";
  return !inside && whole.variables[0].type === "Identifier";
}

function key(field) {
  if (field.type === "TableKeyString") return field.key.name;
  return field.type === "TableKey" && field.key.type === "StringLiteral" ? field.key.raw.slice(1, -1) : null;
}

function extract(file) {
  const text = fs.readFileSync(file, "latin1").replace(/^#[^\n]*/, "");
  let tree;
  for (const luaVersion of ["5.1", "5.3", "LuaJIT"])
    try {
      tree = luaparse.parse(text, { locations: true, luaVersion, encodingMode: "x-user-defined" });
      break;
    } catch (error) {
      if (luaVersion === "LuaJIT") return { path: file, error: error.message };
    }
  const rows = [];
  const pending = [[tree, [], false]];
  const row = (names, node) => rows.push({ symbol: names.join("."), start: node.loc.start.line, end: node.loc.end.line });
  while (pending.length) {
    const [node, parents, local] = pending.pop();
    const held = local || node.type === "FunctionDeclaration";
    const put = (child, names) => child && pending.push([child, names, held]);
    const given = (name, value, whole) => {
      if (name !== null && value && value.type === "FunctionDeclaration") {
        const names = [...parents, ...name.split(".")];
        row(names, whole);
        for (const child of value.body) put(child, names);
      } else put(value, name !== null && holds(whole, value, held || parents.length) ? [...parents, name] : parents);
    };
    if (node.type === "FunctionDeclaration" && node.identifier) {
      given(plain(node.identifier), node, node);
    } else if (node.type === "AssignmentStatement" || node.type === "LocalStatement") {
      const whole = node.init.length === 1 ? node : null;
      node.init.forEach((value, i) => given(whole ? plain(node.variables[i]) : null, value, node));
    } else if (node.type === "TableKeyString" || node.type === "TableKey") {
      given(key(node), node.value, { type: "TableField", loc: node.loc });
    } else {
      for (const value of Object.values(node))
        for (const child of Array.isArray(value) ? value : [value])
          if (child && typeof child === "object" && child.type) put(child, parents);
    }
  }
  return { path: file, rows };
}

answer(extract);
