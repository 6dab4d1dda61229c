// Contracts and what they hold by @solidity-parser: paths on standard input, one JSON line a file on standard output.
const fs = require("node:fs");
const { answer } = require("./common.cjs");
const parser = require("@solidity-parser/parser");

const NAMED = new Set([
  "ContractDefinition", "FunctionDefinition", "ModifierDefinition", "StructDefinition", "EnumDefinition",
  "EventDefinition", "CustomErrorDefinition", "TypeDefinition",
]);

function name(node) {
  if (node.type !== "FunctionDefinition" || node.name) return node.name;
  return node.isConstructor ? "constructor" : node.isReceiveEther ? "receive" : "fallback";
}

function extract(file) {
  let tree;
  try {
    tree = parser.parse(fs.readFileSync(file, "utf8"), { loc: true });
  } catch (error) {
    return { path: file, error: error.message };
  }
  const rows = [];
  const pending = [[tree.children, []]];
  const add = (names, { loc }) => rows.push({ symbol: names.join("."), start: loc.start.line, end: loc.end.line });
  while (pending.length) {
    const [nodes, parents] = pending.pop();
    for (const node of nodes) {
      if (node.type === "StateVariableDeclaration") for (const v of node.variables) add([...parents, v.name], node);
      if (node.type === "FileLevelConstant") add([...parents, node.name], node);
      if (!NAMED.has(node.type)) continue;
      const names = [...parents, name(node)];
      add(names, node);
      if (node.subNodes) pending.push([node.subNodes, names]);
    }
  }
  return { path: file, rows };
}

answer(extract);
