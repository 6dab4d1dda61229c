// Methods, classes and modules by Prism, Ruby's own parser: paths on standard input, one JSON line a file on
// standard output.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { answer, lines } from "./common.cjs";

const at = process.env.NODE_PATH.split(path.delimiter).map((p) => path.join(p, "@ruby/prism/src/index.js"));
const { loadPrism } = await import(pathToFileURL(at.find((p) => fs.existsSync(p))).href);
const parse = await loadPrism();

function extract(file) {
  const source = fs.readFileSync(file);
  const result = parse(source);
  if (result.errors.length) return { path: file, error: result.errors[0].message };
  const line = lines(source);
  const text = (location) =>
    source.subarray(location.startOffset, location.startOffset + location.length).toString("utf8");
  const rows = [];
  const pending = [[result.value, []]];
  while (pending.length) {
    let [node, parents] = pending.pop();
    const kind = node.constructor.name;
    let names;
    if (kind === "DefNode") names = [text(node.nameLoc)];
    if (kind === "ClassNode" || kind === "ModuleNode")
      names = text(node.constantPath.location).split("::").map((p) => p.trim()).filter(Boolean);
    if (names && kind !== "DefNode" && text(node.constantPath.location).startsWith("::")) parents = [];
    if (names) {
      parents = [...parents, ...names];
      const { startOffset, length } = node.location;
      rows.push({ symbol: parents.join("."), start: line(startOffset), end: line(startOffset + length - 1) });
    }
    if (kind === "ConstantWriteNode") parents = [...parents, text(node.nameLoc)];
    for (const child of node.compactChildNodes()) pending.push([child, parents]);
  }
  return { path: file, rows };
}

answer(extract);
