// Run by test_vscode.py: `node drive_reader.js READER ROOT CKVD PROGRAM` prints what PROGRAM leaves, as JSON.
"use strict";

const [reader, root, ckvd, program] = process.argv.slice(2);
const made = require(reader);
const run = new Function("made", "r", "root", `return (async () => { ${program} })()`);
run(made, new made.Reader(root, { ckvd }), root)
  .catch((error) => ({ kind: error.kind ?? "other", message: error.message }))
  .then((value) => process.stdout.write(JSON.stringify(value ?? null)));
