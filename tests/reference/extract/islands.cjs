// Scripts and styles of HTML, Vue and Svelte: `islands.cjs html|vue|svelte`, paths on standard input, one JSON line a
// file on standard output. Where they lie is said by parse5, Vue's and Svelte's own compilers; what they hold by the
// TypeScript compiler and PostCSS, at the lines of the whole file.
const fs = require("node:fs");
const { answer } = require("./common.cjs");
const scripts = require("./typescript.js");
const sheets = require("./sheets.cjs");

const FIND = {
  html(text) {
    const { parse } = require("parse5");
    const found = [];
    const pending = [parse(text, { sourceCodeLocationInfo: true })];
    while (pending.length) {
      const node = pending.pop();
      const at = node.sourceCodeLocation;
      if ((node.nodeName === "script" || node.nodeName === "style") && at && at.endTag && node.childNodes.length) {
        const said = Object.fromEntries(node.attrs.map(({ name, value }) => [name, value]));
        found.push([node.nodeName, said.type || "", said.lang || "", at.startTag.endOffset, at.endTag.startOffset]);
      }
      pending.push(...(node.childNodes || []), ...(node.content ? [node.content] : []));
    }
    return found;
  },
  vue(text) {
    const { parse } = require("@vue/compiler-sfc");
    const { descriptor, errors } = parse(text);
    if (errors.length) throw errors[0];
    return [descriptor.script, descriptor.scriptSetup, ...descriptor.styles]
      .filter((block) => block && !block.src)
      .map((b) => [b.type, "", b.lang || "", b.loc.start.offset, b.loc.end.offset]);
  },
  svelte(text) {
    const { parse } = require("svelte/compiler");
    const { css, instance, module } = parse(text, { modern: true });
    const found = css ? [["style", "", "", css.content.start, css.content.end]] : [];
    for (const script of [instance, module].filter(Boolean))
      found.push(["script", "", "ts", text.indexOf(">", script.start) + 1, text.lastIndexOf("</script", script.end)]);
    return found;
  },
};

function extract(file, kind) {
  const text = fs.readFileSync(file, "utf8");
  const rows = [];
  try {
    for (const [island, type, lang, start, end] of FIND[kind](text)) {
      if (island === "script" && !/^(|module|(text|application)\/(x-)?(java|ecma)script)$/i.test(type)) continue;
      if (island === "style" && !/^(|css|scss|postcss)$/.test(lang)) throw new Error(`styles of ${lang}`);
      const own = text.slice(0, start).replace(/[^\n]/g, " ") + text.slice(start, end);
      const name = lang === "tsx" || lang === "jsx" ? `x.${lang}` : lang === "ts" ? "x.ts" : "x.js";
      const answer = island === "script" ? scripts.extract(name, own) : sheets.extract(file, lang, own);
      if (answer.error) throw new Error(answer.error);
      rows.push(...answer.rows);
    }
  } catch (error) {
    return { path: file, error: error.message };
  }
  return { path: file, rows };
}

answer((file) => extract(file, process.argv[2]));
