// `node read.js DB CHUNK_ID [extension]` prints what better-sqlite3 reads; run where it is installed.
"use strict";

const Database = require("better-sqlite3");

const [file, chunkId, extension] = process.argv.slice(2);
const db = new Database(file, { readonly: true, fileMustExist: true });
if (extension) require("sqlite-vec").load(db);
const all = (sql, ...given) => db.prepare(sql).raw().all(...given);

const out = { version: all("PRAGMA user_version")[0][0], counts: {} };
for (const [view] of all("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")) {
  out.counts[view] = all(`SELECT count(*) FROM (SELECT * FROM ${view})`)[0][0];
}
out.words = all("SELECT c.chunk_id FROM chunks_fts JOIN chunks AS c ON c.id = chunks_fts.rowid WHERE chunks_fts MATCH '\"oldest\"' ORDER BY rank");
out.names = all("SELECT name FROM names_fts WHERE names_fts MATCH '\"evic\"'");

const [[own, ownBits]] = all("SELECT int8, bits FROM vectors JOIN chunks USING (id) WHERE chunk_id = ?", chunkId);
if (extension) {
  out.nearest = all(
    `SELECT chunk_id FROM vectors JOIN chunks USING (id)
     ORDER BY vec_distance_hamming(vec_bit(bits), vec_bit(?)), vec_distance_cosine(vec_int8(int8), vec_int8(?)) LIMIT 1`,
    ownBits,
    own,
  );
} else {
  const signed = (blob) => new Int8Array(blob.buffer, blob.byteOffset, blob.length);
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const query = signed(own);
  const rows = all("SELECT chunk_id, int8 FROM vectors JOIN chunks USING (id)");
  const cosine = (v) => dot(query, v) / Math.sqrt(dot(v, v));
  rows.sort((a, b) => cosine(signed(b[1])) - cosine(signed(a[1])));
  out.nearest = [[rows[0][0]]];
}
process.stdout.write(JSON.stringify(out));
