// Reads an index of ckvd through the `sqlite3` shell: read-only, one process a question.
//
// The shell, because an extension that brings a native module (better-sqlite3) must bring one for every
// platform and every ABI of VS Code's Electron, and `node:sqlite` is not in the Node of every VS Code in use.
"use strict";

const { execFile } = require("node:child_process");
const crypto = require("node:crypto");
const fs = require("node:fs");
const net = require("node:net");
const path = require("node:path");

const CONTRACT = 1;
const APPLICATION = 0x636b7664;
const GUARD = `BEGIN;
SELECT (SELECT application_id FROM pragma_application_id) AS application,
  (SELECT user_version FROM pragma_user_version) AS version;
SELECT json_group_object(key, value) AS meta FROM meta
WHERE key IN ('revision', 'epoch', 'head_commit', 'last_sync');
`;

const SYMBOL = "symbol, name, kind, lsp_kind, start_line, end_line, name_line, name_column";
const OUTLINE = `
SELECT ${SYMBOL}, start_byte, end_byte FROM symbols WHERE path = :path ORDER BY start_byte, end_byte DESC`;
const NAMED = `
SELECT path, ${SYMBOL.replace("name, ", "s.name, ")} FROM names_fts CROSS JOIN symbols AS s ON s.name = names_fts.name
WHERE names_fts MATCH :match ORDER BY length(s.name), path, start_byte LIMIT 500`;
const PREFIXED = `
SELECT path, ${SYMBOL} FROM symbols
WHERE name >= :text COLLATE NOCASE AND name < :text || char(0x10FFFF) COLLATE NOCASE
ORDER BY name COLLATE NOCASE LIMIT 500`;
const CHANGED = `
SELECT DISTINCT path FROM changes WHERE revision > :revision
UNION ALL SELECT NULL FROM meta WHERE key = 'changes_since' AND value > :revision`;
const FAILURES = `
SELECT path, error_line AS line, reason, detail FROM failures ORDER BY path LIMIT 5000`;
const FILE = "SELECT blob_oid FROM files WHERE path = :path";

/** `kind`: missing, damaged, newer, foreign, sqlite3, unreadable; `message`: one sentence with the remedy. */
class IndexError extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

function literal(value) {
  if (value === undefined || value === null) return "NULL";
  if (typeof value === "number") return String(Math.trunc(value));
  return `'${value.replaceAll("\0", "").replaceAll("'", "''")}'`;
}

function problem(db, sqlite3, error, said, guard) {
  if (guard && guard.application !== APPLICATION) {
    return new IndexError("foreign", `${db} is not an index of ckvd: name the right one in the setting ckvd.db`);
  }
  if (guard && guard.version > CONTRACT) {
    const versions = `contract ${guard.version}, this extension knows ${CONTRACT}`;
    return new IndexError("newer", `${db} was written by a newer ckvd (${versions}): update the extension`);
  }
  if (!error) return null;
  if (error.code === "ENOENT") {
    return new IndexError("sqlite3", `${sqlite3} is not there: install the sqlite3 shell, 3.38 or later`);
  }
  // SQLITE_CORRUPT, 11, has other words where a full-text index cannot be opened.
  if (/not a database|malformed|disk I\/O|\(11\)/.test(said)) {
    return new IndexError("damaged", `${db} is damaged: run ckvd index, and it is mended or built anew`);
  }
  if (said.includes("unknown option")) {
    return new IndexError("sqlite3", `${sqlite3} is too old: install the sqlite3 shell, 3.38 or later`);
  }
  return new IndexError("unreadable", `${db} cannot be read: ${said.trim() || error.message}`);
}

/** The tree that holds a folder: the nearest with an index or a `.git`, else the folder itself. */
function findRoot(folder) {
  const real = fs.existsSync(folder) ? fs.realpathSync(folder) : folder;
  for (let at = real; ; at = path.dirname(at)) {
    if (fs.existsSync(path.join(at, ".git")) || fs.existsSync(path.join(at, ".ckvd", "index.db"))) return at;
    if (path.dirname(at) === at) return real;
  }
}

/** The tree of a file, and the file's path in it as the index has it. */
function locate(file) {
  const root = findRoot(path.dirname(file));
  const real = fs.existsSync(file) ? fs.realpathSync(file) : file;
  return { root, path: path.relative(root, real) };
}

/** What git calls a blob of these bytes, in the kind of id that `like` is. */
function blobId(bytes, like) {
  const hash = crypto.createHash(like.length === 40 ? "sha1" : "sha256");
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** A column in bytes as one in UTF-16 units, which is how VS Code counts. */
function utf16Column(line, bytes) {
  return Buffer.from(line, "utf8").subarray(0, bytes).toString("utf8").length;
}

/** `make(row)` of each row of an outline, those within another in its `children`; the outermost are returned. */
function nest(rows, make) {
  const top = [];
  const open = [];
  for (const row of rows) {
    while (open.length && open.at(-1).end <= row.start_byte) open.pop();
    const node = make(row);
    node.children = [];
    (open.length ? open.at(-1).node.children : top).push(node);
    open.push({ node, end: row.end_byte });
  }
  return top;
}

class Reader {
  constructor(root, { db = "", sqlite3 = "sqlite3", ckvd = "ckvd" } = {}) {
    this.root = root;
    this.db = db || path.join(root, ".ckvd", "index.db");
    this.sqlite3 = sqlite3;
    this.ckvd = ckvd;
  }

  /** One SELECT with `:name` parameters: `{ rows, meta }`, all of one moment. Rejects with IndexError. */
  query(sql, values = {}) {
    const stat = fs.statSync(this.db, { throwIfNoEntry: false });
    if (stat && !stat.isFile()) {
      const remedy = "move it away, or name another in the setting ckvd.db";
      return Promise.reject(new IndexError("unreadable", `${this.db} is not a regular file: ${remedy}`));
    }
    if (!stat?.size) {
      const remedy = "make one with ckvd index, or ckvd run";
      return Promise.reject(new IndexError("missing", `there is no index at ${this.db}: ${remedy}`));
    }
    const uri = `file:${this.db.split("/").map(encodeURIComponent).join("/")}?mode=ro`;
    const bound = sql.replace(/:([a-z]+)/g, (_, name) => literal(values[name]));
    // Neither the user's ~/.sqliterc nor what a foreign database brings may do anything here.
    const options = ["-batch", "-bail", "-readonly", "-safe", "-json", "-init", "/dev/null"];
    const command = [...options, "-cmd", ".timeout 5000", uri, GUARD + bound];
    return new Promise((resolve, reject) => {
      execFile(this.sqlite3, command, { maxBuffer: 1 << 28 }, (error, out, said) => {
        const [guard, meta, ...rest] = out.split("\n");
        const wrong = problem(this.db, this.sqlite3, error, said, guard ? JSON.parse(guard)[0] : null);
        if (wrong) return reject(wrong);
        const rows = rest.join("\n").trim();
        resolve({ rows: rows ? JSON.parse(rows) : [], meta: JSON.parse(JSON.parse(meta)[0].meta) });
      });
    });
  }

  /** `{ symbols, meta }`: the symbols of a file in file order, a scope before what it holds. */
  async outline(file) {
    const { rows, meta } = await this.query(OUTLINE, { path: file });
    return { symbols: rows, meta };
  }

  /** Symbols by name: words of three letters and more are sought anywhere in it, less at its beginning. */
  async symbols(text) {
    const words = text.split(/\s+/).filter((word) => [...word].length >= 3);
    const match = words.map((word) => `"${word.replaceAll('"', '""')}"`).join(" ");
    if (!match && !text.trim()) return [];
    return (await this.query(match ? NAMED : PREFIXED, { match, text: text.trim() })).rows;
  }

  /** `{ failures, meta }`: the files that did not parse cleanly. */
  async failures() {
    const { rows, meta } = await this.query(FAILURES);
    return { failures: rows, meta };
  }

  /** `{ paths, meta }`: what changed after a revision of an epoch; `paths` is null where all may have. */
  async changedSince(seen) {
    const { rows, meta } = await this.query(CHANGED, { revision: seen.revision });
    const afresh = meta.epoch !== seen.epoch || rows.some((row) => row.path === null);
    return { paths: afresh ? null : rows.map((row) => row.path), meta };
  }

  /** Whether the file on disk is what was indexed; null where the index does not have it. */
  async isFresh(file) {
    const [row] = (await this.query(FILE, { path: file })).rows;
    if (!row || !row.blob_oid) return null;
    try {
      return blobId(fs.readFileSync(path.join(this.root, file)), row.blob_oid) === row.blob_oid;
    } catch (error) {
      if (error.code === "ENOENT") return false;
      throw error;
    }
  }

  /** A line of a file as it is on disk, from 1; empty where there is none. */
  line(file, number) {
    try {
      return fs.readFileSync(path.join(this.root, file), "utf8").split("\n")[number - 1] ?? "";
    } catch {
      return "";
    }
  }

  /** The document of `ckvd search --json`. Rejects with what ckvd says. */
  search(text) {
    const command = ["search", "--json", "--root", this.root, "--db", this.db, "--", text];
    return new Promise((resolve, reject) => {
      execFile(this.ckvd, command, { maxBuffer: 1 << 28 }, (error, out, said) => {
        if (!error) return resolve(JSON.parse(out));
        const missing = `${this.ckvd} is not on PATH: name it in the setting ckvd.command`;
        reject(new Error(error.code === "ENOENT" ? missing : said.trim().replace(/^ckvd: /, "")));
      });
    });
  }

  /** Whether a daemon answers; by a descriptor of the folder, since the path of a socket must be short. */
  daemonRuns() {
    let folder;
    try {
      folder = fs.openSync(path.dirname(this.db), "r");
    } catch {
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      const socket = net.connect(`/proc/self/fd/${folder}/${path.basename(this.db)}.sock`);
      const end = (runs) => {
        socket.destroy();
        fs.closeSync(folder);
        resolve(runs);
      };
      socket.once("connect", () => end(true));
      socket.once("error", () => end(false));
    });
  }

  /** Differs whenever the file may have changed since the last look. */
  stamp() {
    return [this.db, `${this.db}-wal`]
      .map((file) => fs.statSync(file, { bigint: true, throwIfNoEntry: false }))
      .map((s) => (s ? `${s.ino}.${s.size}.${s.mtimeNs}` : "-"))
      .join(" ");
  }
}

module.exports = { Reader, IndexError, findRoot, locate, nest, utf16Column, CONTRACT };
