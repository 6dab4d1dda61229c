// Top-level keys and tables: `data.cjs json|toml|yaml`, paths on standard input, one JSON line a file on standard
// output. JSON by jsonc-parser, TOML by toml-eslint-parser, YAML by yaml.
const fs = require("node:fs");
const { answer } = require("./common.cjs");

const READ = {
  json(text) {
    const { parseTree, printParseErrorCode } = require("jsonc-parser");
    const errors = [];
    const tree = parseTree(text, errors, { allowTrailingComma: true });
    if (errors.length || !tree) throw new Error(errors.length ? printParseErrorCode(errors[0].error) : "empty");
    if (tree.type !== "object") return [];
    return tree.children.map((p) => [p.children[0].value, p.offset, p.offset + p.length]);
  },
  toml(text) {
    const { parseTOML } = require("toml-eslint-parser");
    const rows = [];
    const plain = (key) => (/^(["'])[^]*\1$/.test(key) ? key.slice(1, -1) : key); // of a dotted one quotes stay
    const key = ({ keys }) => {
      const parts = keys.map((part) => text.slice(...part.range));
      return parts.length === 1 ? plain(parts[0]) : parts.join(".");
    };
    for (const node of parseTOML(text).body[0].body) rows.push([key(node.key), ...node.range]);
    return rows;
  },
  yaml(text) {
    const { parseAllDocuments, isMap } = require("yaml");
    const rows = [];
    for (const document of parseAllDocuments(text, { merge: true, uniqueKeys: false, logLevel: "silent" })) {
      if (document.errors.length) throw document.errors[0];
      if (!isMap(document.contents)) continue;
      for (const { key, value } of document.contents.items) {
        if (!key || !key.range) continue;
        rows.push([text.slice(key.range[0], key.range[1]).replace(/^(["'])([^]*)\1$/, "$2"), key.range[0], null]);
      }
    }
    return rows;
  },
};

function extract(file) {
  const text = fs.readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  const line = (offset) => text.slice(0, offset).split("\n").length;
  try {
    const rows = READ[process.argv[2]](text).map(([symbol, start, end]) => {
      const first = line(start);
      return { symbol, start: first, end: end === null ? null : line(start + text.slice(start, end).trimEnd().length) };
    });
    return { path: file, rows };
  } catch (error) {
    return { path: file, error: error.message };
  }
}

answer(extract);
