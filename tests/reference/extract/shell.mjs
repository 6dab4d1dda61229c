// Functions by sh-syntax, which is mvdan/sh: paths on standard input, one JSON line a file on standard output.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { answer } from "./common.cjs";

const at = process.env.NODE_PATH.split(path.delimiter).map((p) => path.join(p, "mvdan-sh/index.js"));
const { default: sh } = await import(pathToFileURL(at.find((p) => fs.existsSync(p))).href);
const { syntax } = sh;

function extract(file) {
  // A test of bats is a block to the shell.
  const text = fs.readFileSync(file, "latin1").replace(/^@test\b.*\{[ \t]*$/gm, "{");
  const variant = /^#!.*\bm?ksh\b/.test(text) ? syntax.LangMirBSDKorn : syntax.LangBash;
  let tree;
  try {
    tree = syntax.NewParser(syntax.Variant(variant)).Parse(text, file);
  } catch (error) {
    return { path: file, error: error.Error ? error.Error() : String(error) };
  }
  const rows = [];
  const open = [];
  syntax.Walk(tree, (node) => {
    if (!node) {
      open.pop();
      return true;
    }
    let name = null;
    if (syntax.NodeType(node) === "FuncDecl") {
      name = node.Name.Value;
      const names = [...open.filter((n) => n !== null), name];
      rows.push({ symbol: names.join("."), start: node.Pos().Line(), end: node.End().Line() });
    }
    open.push(name);
    return true;
  });
  return { path: file, rows };
}

answer(extract);
