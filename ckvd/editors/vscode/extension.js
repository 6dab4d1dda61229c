// Outline, workspace symbols, search, parse failures and a status bar item; `reader.js` does the reading.
"use strict";

const path = require("node:path");
const vscode = require("vscode");
const { Reader, findRoot, locate, nest, utf16Column } = require("./reader");

const POLL_MS = 2000;

/** By root: its reader, the `meta` last seen, the stamp of the file then, what is wrong, whether a daemon runs. */
const trees = new Map();
let failures;
let item;

function treeAt(root) {
  if (!trees.has(root)) {
    const set = vscode.workspace.getConfiguration("ckvd");
    const options = { db: set.get("db"), sqlite3: set.get("sqlite3"), ckvd: set.get("command") };
    trees.set(root, { reader: new Reader(root, options), seen: null, stamp: null, wrong: null, runs: false });
  }
  return trees.get(root);
}

function located(document) {
  if (!document || document.uri.scheme !== "file") return null;
  const found = locate(document.uri.fsPath);
  return { tree: treeAt(found.root), file: found.path };
}

function folderTrees() {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.filter((f) => f.uri.scheme === "file").map((f) => treeAt(findRoot(f.uri.fsPath)));
}

function uriOf(tree, file) {
  return vscode.Uri.file(path.join(tree.reader.root, file));
}

/** VS Code counts from 0 and in UTF-16; a document that has changed since may be shorter. */
function position(document, line, column) {
  const at = Math.max(0, Math.min(line - 1, document.lineCount - 1));
  return new vscode.Position(at, utf16Column(document.lineAt(at).text, column));
}

/** Runs `ask`; what is wrong with the index is kept for the status bar, and said where `loud`. */
async function guarded(tree, loud, otherwise, ask) {
  try {
    const answer = await ask(tree.reader);
    tree.wrong = null;
    return answer;
  } catch (error) {
    if (error.kind) tree.wrong = error;
    else if (!loud) console.error(error);
    if (loud) vscode.window.showWarningMessage(`ckvd: ${error.message}`);
    return otherwise;
  } finally {
    show();
  }
}

function documentSymbol(document, row) {
  const last = Math.max(0, Math.min(row.end_line, document.lineCount) - 1);
  const range = new vscode.Range(position(document, row.start_line, 0), document.lineAt(last).range.end);
  const start = position(document, row.name_line, row.name_column);
  const name = new vscode.Range(start, start.translate(0, row.name.length));
  const selection = range.contains(name) ? name : new vscode.Range(range.start, range.start);
  return new vscode.DocumentSymbol(row.name, row.kind, row.lsp_kind - 1, range, selection);
}

const outline = {
  async provideDocumentSymbols(document) {
    const at = located(document);
    if (!at) return [];
    const { symbols } = await guarded(at.tree, false, { symbols: [] }, (r) => r.outline(at.file));
    return nest(symbols, (row) => documentSymbol(document, row));
  },
};

const workspaceSymbols = {
  async provideWorkspaceSymbols(text) {
    const found = folderTrees().map(async (tree) => {
      const rows = await guarded(tree, false, [], (r) => r.symbols(text));
      return rows.map((row) => {
        const where = new vscode.Location(uriOf(tree, row.path), new vscode.Position(row.name_line - 1, 0));
        const container = row.symbol.slice(0, -row.name.length).replace(/\.$/, "");
        const made = new vscode.SymbolInformation(row.name, row.lsp_kind - 1, container, where);
        return Object.assign(made, { ckvd: row });
      });
    });
    return (await Promise.all(found)).flat();
  },
  async resolveWorkspaceSymbol(symbol) {
    const document = await vscode.workspace.openTextDocument(symbol.location.uri);
    const start = position(document, symbol.ckvd.name_line, symbol.ckvd.name_column);
    symbol.location = new vscode.Location(symbol.location.uri, start);
    return symbol;
  },
};

function currentTree() {
  return (located(vscode.window.activeTextEditor?.document) ?? { tree: folderTrees()[0] }).tree;
}

async function search() {
  const tree = currentTree();
  const text = tree && (await vscode.window.showInputBox({ prompt: "Search by words and meaning" }));
  if (!text) return;
  const { results } = await guarded(tree, true, { results: null }, (r) => r.search(text));
  if (!results) return;
  if (!results.length) return vscode.window.showInformationMessage("ckvd: nothing was found");
  const picks = results.map((hit) => ({
    label: hit.symbol ?? hit.unit,
    description: `${hit.kind}  ${hit.path}:${hit.start_line}`,
    detail: hit.body.trimStart().split("\n", 1)[0],
    hit,
  }));
  const picked = await vscode.window.showQuickPick(picks, { matchOnDescription: true });
  if (!picked) return;
  const start = new vscode.Position(picked.hit.start_line - 1, 0);
  await vscode.window.showTextDocument(uriOf(tree, picked.hit.path), { selection: new vscode.Range(start, start) });
}

async function status() {
  const tree = currentTree();
  if (!tree) return;
  const { meta } = await guarded(tree, true, {}, (r) => r.query("SELECT 1"));
  if (!meta) return;
  const kept = (await tree.reader.daemonRuns()) ? "a daemon keeps it" : `no daemon keeps it, true as of ${meta.last_sync}`;
  const at = `revision ${meta.revision}, commit ${meta.head_commit ?? "none"}`;
  vscode.window.showInformationMessage(`ckvd: ${tree.reader.db} at ${at}; ${kept}`);
}

/** Brings the parse failures up to date: of the files that changed since the last look, or of all. */
async function look(tree) {
  const seen = tree.seen ?? { revision: -1, epoch: null };
  const changed = await tree.reader.changedSince(seen);
  if (changed.paths && !changed.paths.length) return changed.meta;
  const found = await tree.reader.failures();
  const rows = new Map(found.failures.map((row) => [row.path, row]));
  if (!changed.paths) tree.failed?.forEach((file) => failures.delete(uriOf(tree, file)));
  for (const file of changed.paths ?? rows.keys()) {
    const row = rows.get(file);
    failures.set(uriOf(tree, file), row ? [diagnostic(tree, row)] : []);
  }
  tree.failed = [...rows.keys()];
  return changed.meta;
}

function diagnostic(tree, row) {
  const line = Math.max(0, (row.line ?? 1) - 1);
  // Where a place is known, `detail` begins with it; its column is in bytes, from 1.
  const [, at, column] = /^line (\d+), column (\d+): /.exec(row.detail) ?? [];
  const start = Number(at) === row.line ? utf16Column(tree.reader.line(row.path, row.line), column - 1) : 0;
  const range = new vscode.Range(line, start, line, Number.MAX_SAFE_INTEGER);
  const made = new vscode.Diagnostic(range, row.detail, vscode.DiagnosticSeverity.Warning);
  return Object.assign(made, { source: "ckvd", code: row.reason });
}

async function refresh(tree) {
  tree.runs = await tree.reader.daemonRuns();
  await guarded(tree, false, null, async (reader) => {
    const stamp = reader.stamp();
    if (stamp === tree.stamp) return;
    tree.seen = await look(tree);
    tree.stamp = stamp; // only now: what went wrong is tried again
  });
  const at = located(vscode.window.activeTextEditor?.document);
  if (at?.tree === tree && !tree.wrong) tree.fresh = await guarded(tree, false, null, (r) => r.isFresh(at.file));
  show();
}

function show() {
  const tree = currentTree();
  if (!tree || !item) return;
  const facts = [`r${tree.seen?.revision ?? "?"}`, tree.runs ? "" : "stopped", tree.fresh === false ? "stale" : ""];
  item.text = `ckvd ${tree.wrong ? tree.wrong.kind : facts.filter(Boolean).join(" ")}`;
  item.tooltip = tree.wrong?.message;
  item.show();
}

function activate(context) {
  failures = vscode.languages.createDiagnosticCollection("ckvd");
  item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Right);
  item.command = "ckvd.status";
  const all = () => Promise.all(folderTrees().map(refresh));
  let next;
  let ended = false;
  const poll = async () => {
    await all();
    if (!ended) next = setTimeout(poll, POLL_MS);
  };
  context.subscriptions.push(
    failures,
    item,
    vscode.languages.registerDocumentSymbolProvider({ scheme: "file" }, outline, { label: "ckvd" }),
    vscode.languages.registerWorkspaceSymbolProvider(workspaceSymbols),
    vscode.commands.registerCommand("ckvd.search", search),
    vscode.commands.registerCommand("ckvd.status", status),
    vscode.window.onDidChangeActiveTextEditor(all),
    vscode.workspace.onDidSaveTextDocument(all),
    vscode.workspace.onDidChangeConfiguration(() => trees.clear()),
    { dispose: () => ((ended = true), clearTimeout(next)) },
  );
  return poll();
}

module.exports = { activate };
