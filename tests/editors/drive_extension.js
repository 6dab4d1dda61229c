// As much of the `vscode` module as the extension uses, to run it in Node and see what it would show.
"use strict";

const fs = require("node:fs");
const Module = require("node:module");

class Position {
  constructor(line, character) {
    if (!(line >= 0 && character >= 0)) throw new Error(`no position: ${line}, ${character}`);
    Object.assign(this, { line, character });
  }
  translate(lines, characters) {
    return new Position(this.line + lines, this.character + characters);
  }
  after(other) {
    return this.line > other.line || (this.line === other.line && this.character > other.character);
  }
}

class Range {
  constructor(a, b, c, d) {
    Object.assign(this, a instanceof Position ? { start: a, end: b } : { start: new Position(a, b), end: new Position(c, d) });
  }
  contains(other) {
    return !this.start.after(other.start) && !other.end.after(this.end);
  }
}

class DocumentSymbol {
  constructor(name, detail, kind, range, selectionRange) {
    if (!range.contains(selectionRange)) throw new Error("selectionRange must be contained in fullRange");
    Object.assign(this, { name, detail, kind, range, selectionRange, children: [] });
  }
}

const values = (...names) =>
  class {
    constructor(...given) {
      names.forEach((name, i) => (this[name] = given[i]));
    }
  };

const Uri = { file: (fsPath) => ({ scheme: "file", fsPath }) };

function open(fsPath) {
  const lines = fs.readFileSync(fsPath, "utf8").split(/\r?\n/);
  const lineAt = (n) => ({ text: lines[n], range: new Range(n, 0, n, lines[n].length) });
  return { uri: Uri.file(fsPath), lineCount: lines.length, lineAt };
}

/** Stands in for VS Code with `root` as its folder; `seen` holds what was shown and registered. */
function install(root, settings, answers) {
  const seen = { said: [], failures: new Map(), bar: {}, commands: {} };
  const event = () => ({ dispose() {} });
  const said = (message) => void seen.said.push(message);
  const vscode = {
    Position,
    Range,
    DocumentSymbol,
    Uri,
    Location: values("uri", "range"),
    SymbolInformation: values("name", "kind", "containerName", "location"),
    Diagnostic: values("range", "message", "severity"),
    DiagnosticSeverity: { Warning: 1 },
    StatusBarAlignment: { Right: 2 },
    workspace: {
      workspaceFolders: [{ uri: Uri.file(root) }],
      getConfiguration: () => ({ get: (key) => settings[key] ?? "" }),
      openTextDocument: async (uri) => open(uri.fsPath),
      onDidSaveTextDocument: (run) => ((seen.saved = run), event()),
      onDidChangeConfiguration: event,
    },
    window: {
      createStatusBarItem: () => Object.assign(seen.bar, { show() {}, dispose() {} }),
      onDidChangeActiveTextEditor: event,
      showWarningMessage: said,
      showInformationMessage: said,
      showInputBox: async () => answers.input,
      showQuickPick: async (items) => ((seen.items = items), items[answers.pick ?? 0]),
      showTextDocument: async (uri, options) => void (seen.shown = [uri.fsPath, options.selection.start.line]),
    },
    languages: {
      createDiagnosticCollection: () => ({
        set: (uri, found) => void seen.failures.set(uri.fsPath, found),
        delete: (uri) => void seen.failures.delete(uri.fsPath),
        dispose() {},
      }),
      registerDocumentSymbolProvider: (_, provider) => ((seen.outline = provider), event()),
      registerWorkspaceSymbolProvider: (provider) => ((seen.symbols = provider), event()),
    },
    commands: { registerCommand: (name, run) => ((seen.commands[name] = run), event()) },
  };
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
  return { vscode, seen, open };
}

const [extension, root, ckvd, program] = process.argv.slice(2);
const answers = {};
const { vscode, seen } = install(root, { sqlite3: "sqlite3", command: ckvd }, answers);
const context = { subscriptions: [] };
const run = new Function("vscode", "seen", "open", "answers", "root", `return (async () => { ${program} })()`);
require(extension)
  .activate(context)
  .then(() => run(vscode, seen, open, answers, root))
  .then((value) => {
    context.subscriptions.forEach((s) => s.dispose());
    process.stdout.write(JSON.stringify(value ?? null));
  });
