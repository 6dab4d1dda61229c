// Stages by dockerfile-ast: paths on standard input, one JSON line a file on standard output. A stage ends with its
// last instruction; one without a name goes by its image.
const fs = require("node:fs");
const { answer } = require("./common.cjs");
const { DockerfileParser } = require("dockerfile-ast");

function extract(file) {
  const rows = [];
  let stage = null;
  for (const each of DockerfileParser.parse(fs.readFileSync(file, "utf8")).getInstructions()) {
    const range = each.getRange();
    if (each.getKeyword() === "FROM") {
      const name = each.getBuildStage() || each.getImage();
      stage = name && { symbol: name, start: range.start.line + 1 };
      if (stage) rows.push(stage);
    }
    if (stage) stage.end = range.end.line + 1;
  }
  return { path: file, rows };
}

answer(extract);
