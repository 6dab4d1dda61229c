// Headings by commonmark.js, CommonMark's own implementation: paths on standard input, one JSON line a file on
// standard output. Front matter is blank; the name is the heading's source.
const fs = require("node:fs");
const { answer } = require("./common.cjs");
const { Parser } = require("commonmark");

const FRONT = /^(---|\+\+\+)[ \t]*\r?\n(?:.*\n)*?(?:\1|\.\.\.)[ \t]*\r?(?:\n|$)/;

function extract(file) {
  const text = fs.readFileSync(file, "utf8").replace(/^\uFEFF/, "").replace(FRONT, (t) => t.replace(/[^\n]/g, ""));
  const lines = text.split("\n");
  const rows = [];
  const open = [];
  for (let node = new Parser().parse(text).firstChild; node; node = node.next) {
    if (node.type !== "heading") continue;
    const [[start], [end]] = node.sourcepos;
    const source = lines.slice(start - 1, end).map((line) => line.trim());
    const setext = /^(?:=+|-+)$/.test(source[source.length - 1]) && source.length > 1;
    const name = (setext ? source.slice(0, -1).join(" ") : source[0].replace(/^#{1,6}[ \t]*/, "").replace(/(^|[ \t])#+$/, "")).trim();
    while (open.length && open[open.length - 1][0] >= node.level) open.pop();
    open.push([node.level, name]);
    const symbol = open.map(([, each]) => each).filter(Boolean).join(".");
    if (name) rows.push({ symbol, start, end });
  }
  return { path: file, rows };
}

answer(extract);
