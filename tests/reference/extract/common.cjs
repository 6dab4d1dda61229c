// What the programs here share: which line an offset is on, and an answer for each file that is asked about.
const fs = require("node:fs");

/** Offsets of a text or of bytes → lines, from 1. */
function lines(source) {
  const starts = [0];
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0, high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= offset) low = middle; else high = middle;
    }
    return low + 1;
  };
}

/** Writes what `extract` says of each path on standard input: one line of JSON a file. */
function answer(extract) {
  for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean))
    process.stdout.write(JSON.stringify(extract(path)) + "\n");
}

module.exports = { answer, lines };
