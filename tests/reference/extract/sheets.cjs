// Rules, at-rules, mixins, functions and variables by PostCSS: `sheets.cjs css|scss`, paths on standard input, one
// JSON line a file on standard output. A rule has a row for each of its selectors; the first qualifies what it holds.
const fs = require("node:fs");
const { answer } = require("./common.cjs");

const parser = (kind) => (kind === "scss" ? require("postcss-scss").parse : require("postcss").parse);
const THROUGH = new Set(["if", "else", "each", "for", "while", "include", "content"]);
const NAMED = new Set(["mixin", "function", "keyframes"]);
const plain = (text) => text.replace(/\/\*[^]*?\*\/|\/\/[^\n]*/g, " ").trim().split(/\s+/).join(" ");

function names(node, list) {
  if (node.type === "rule") {
    if (plain(node.selector).endsWith(":")) return null;
    return list.comma(node.raws.selector ? node.raws.selector.raw : node.selector).map(plain).filter(Boolean);
  }
  const word = node.name.toLowerCase().replace(/^-[a-z]+-/, "");
  if (THROUGH.has(word)) return [];
  if (word === "at-root" || word === "nest") return list.comma(node.params).map(plain).filter(Boolean);
  if (NAMED.has(word)) return [/^(?:[\w\u0080-\uffff-]|#\{[^}]*\})+/.exec(node.params)[0]];
  return [plain(`@${node.name}${node.raws.afterName || " "}${node.params}`)];
}

function extract(file, kind, text = fs.readFileSync(file, "utf8")) {
  let root;
  try {
    root = parser(kind)(text);
  } catch (error) {
    return { path: file, error: error.message };
  }
  const { list } = require("postcss");
  const rows = [];
  const pending = root.nodes.map((node) => [node, [], true]).reverse();
  while (pending.length) {
    const [node, parents, values] = pending.pop();
    const { start, end } = node.source;
    const lines = { start: start.line, end: end ? end.line : null }; // a declaration of several lines may have none
    if (node.type === "decl") {
      if (node.isNested) continue; // a value that is a block
      if (values && /^(\$|--|[\w-]+\.\$)/.test(node.prop))
        rows.push({ symbol: [...parents, node.prop].join("."), name: lines.start, ...lines });
    } else if (node.nodes) {
      const found = names(node, list);
      if (found === null) continue;
      for (const name of found) rows.push({ symbol: [...parents, name].join("."), ...lines });
      if (node.type === "atrule" && /keyframes$/.test(node.name)) continue;
      const inside = found.length ? [...parents, found[0]] : parents;
      const local = node.type === "atrule" && (node.name === "mixin" || node.name === "function" || !found.length);
      for (const child of [...node.nodes].reverse()) pending.push([child, inside, !local]);
    }
  }
  return { path: file, rows };
}

module.exports = { extract };
if (require.main === module) answer((file) => extract(file, process.argv[2]));
