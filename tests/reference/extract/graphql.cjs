// Types, fields, enum values, directives, operations and fragments by graphql-js: paths on standard input, one
// JSON line a file on standard output. A description lies outside the lines of what it describes.
const fs = require("node:fs");
const { answer } = require("./common.cjs");
const { parse } = require("graphql");

function row(parents, node) {
  const first = node.description ? node.description.loc.endToken.next : node.loc.startToken;
  const name = node.name.loc.startToken.line;
  const symbol = [...parents, node.name.value].join(".");
  return { symbol, start: first.line, end: node.loc.endToken.line, name };
}

function extract(file) {
  let document;
  try {
    document = parse(fs.readFileSync(file, "utf8"));
  } catch (error) {
    return { path: file, error: error.message };
  }
  const rows = [];
  for (const node of document.definitions) {
    if (!node.name) continue;
    rows.push(row([], node));
    for (const member of [...(node.fields || []), ...(node.values || [])]) rows.push(row([node.name.value], member));
  }
  return { path: file, rows };
}

answer(extract);
