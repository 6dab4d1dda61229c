-- The tables are ckvd's own and may change with any `schema_version`; the views are the contract.
-- No triggers and no virtual table in a view: a plain SQLite of 3.38 reads all of it. Texts come by
-- subquery, so that a query that asks for none, an aggregate too, reads none.

CREATE TABLE meta_kv (
    key TEXT PRIMARY KEY,
    value
) WITHOUT ROWID;

CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    path_bytes BLOB NOT NULL UNIQUE,
    language TEXT,
    strategy TEXT NOT NULL,
    parse_status TEXT NOT NULL,
    reason TEXT,
    detail TEXT,
    error_line INTEGER,
    error_bytes INTEGER NOT NULL,
    damage TEXT NOT NULL,            -- JSON: [[start_byte, end_byte], ...]
    size INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    blob_oid TEXT,
    revision INTEGER NOT NULL,
    -- What lstat said when these bytes were read, and when that was; no part of any view.
    stamp_size INTEGER,
    mtime_ns INTEGER,
    ctime_ns INTEGER,
    inode INTEGER,
    read_ns INTEGER,
    cut_key TEXT                     -- all that decided how the file was cut, besides its bytes
);
CREATE INDEX file_path ON file(path);

-- Headers, once per distinct text and division.
CREATE TABLE header (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    text TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    segments TEXT NOT NULL           -- JSON: [[kind, characters], ...], LF between two in `text`
);

-- Narrow on purpose: a chunk that only moved rewrites this row and no text.
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL REFERENCES file(id),
    chunk_id TEXT NOT NULL,
    unit TEXT NOT NULL,
    kind TEXT NOT NULL,
    grain TEXT NOT NULL,
    symbol TEXT,
    parents TEXT NOT NULL,
    start_byte INTEGER NOT NULL,
    end_byte INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    part INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    header_id INTEGER REFERENCES header(id),
    rendering TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    header_trimmed INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    content_hash BLOB NOT NULL,
    own_hash BLOB NOT NULL,
    embed_hash BLOB NOT NULL,
    revision INTEGER NOT NULL
);
CREATE INDEX chunk_place ON chunk(file_id, start_byte);
CREATE INDEX chunk_name ON chunk(chunk_id);
CREATE INDEX chunk_embed ON chunk(embed_hash);
CREATE INDEX chunk_header ON chunk(header_id) WHERE header_id IS NOT NULL;

CREATE TABLE body (
    id INTEGER PRIMARY KEY REFERENCES chunk(id) ON DELETE CASCADE,
    body TEXT NOT NULL,
    names TEXT NOT NULL,             -- the symbol and its parts, for words
    words TEXT NOT NULL              -- the parts of the body's compound identifiers, for words
);

CREATE TABLE symbol (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL REFERENCES file(id),
    symbol TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    parents TEXT NOT NULL,
    signature TEXT NOT NULL,
    doc TEXT NOT NULL,
    start_byte INTEGER NOT NULL,
    end_byte INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    name_line INTEGER NOT NULL,
    name_column INTEGER NOT NULL,
    chunk_id TEXT NOT NULL
);
CREATE INDEX symbol_place ON symbol(file_id, start_byte);
CREATE INDEX symbol_name ON symbol(name);
CREATE INDEX symbol_name_nocase ON symbol(name COLLATE NOCASE);
CREATE INDEX symbol_qualified ON symbol(symbol);
CREATE INDEX symbol_chunk ON symbol(chunk_id);

-- The distinct names of symbols, under a trigram index.
CREATE TABLE name (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE change (
    revision INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    path TEXT NOT NULL,
    what TEXT NOT NULL,
    start_byte INTEGER NOT NULL,
    end_byte INTEGER NOT NULL,
    PRIMARY KEY (revision, ordinal)
) WITHOUT ROWID;

-- `serving` answers searches; `target` is what chunks are embedded with. They differ while a new model
-- catches up. Other rows stay as long as vectors of theirs are kept for the way back.
CREATE TABLE model (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    serving INTEGER NOT NULL DEFAULT 0,
    target INTEGER NOT NULL DEFAULT 0
);

-- What it takes to load a model again, to embed queries by it for as long as it serves.
CREATE TABLE model_source (
    identity TEXT PRIMARY KEY,
    folder TEXT NOT NULL,
    input_tokens INTEGER NOT NULL
) WITHOUT ROWID;

-- Vectors by content. `unused_since` is the revision at which the last chunk that had one left.
CREATE TABLE vector (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    model_id INTEGER NOT NULL REFERENCES model(id),
    int8 BLOB NOT NULL,
    scale REAL NOT NULL,
    bits BLOB NOT NULL,
    unused_since INTEGER,
    UNIQUE (hash, model_id)
);
CREATE INDEX vector_unused ON vector(unused_since) WHERE unused_since IS NOT NULL;
CREATE INDEX vector_model ON vector(model_id);

-- The bits of the vectors in use, many to a row, as `store/codes.py` says: a Hamming scan reads these pages alone.
CREATE TABLE code (
    model_id INTEGER NOT NULL,
    block INTEGER NOT NULL,
    used BLOB NOT NULL,              -- a bit a slot
    bits BLOB NOT NULL,
    UNIQUE (model_id, block)
);

-- Chunks that wait for a vector of the target model, the latest revision first.
CREATE TABLE pending (
    chunk INTEGER PRIMARY KEY REFERENCES chunk(id) ON DELETE CASCADE,
    priority INTEGER NOT NULL
);
CREATE INDEX pending_next ON pending(priority DESC);

-- The hash of the vector that answers for a chunk until that of `embed_hash` is in: of the text that was embedded
-- before the configuration or the model wanted another one for the same chunk.
CREATE TABLE stand_in (
    chunk INTEGER PRIMARY KEY REFERENCES chunk(id) ON DELETE CASCADE,
    hash BLOB NOT NULL
);
CREATE INDEX stand_in_hash ON stand_in(hash);

-- What each hour of work was like; no part of what an index is equal by. Histograms are JSON, {bucket: number},
-- where bucket b holds latencies of at most 2^(b/8) ms; `languages` and `directories` are JSON,
-- {name: [files, ok, partial, failed]}.
CREATE TABLE metric (
    hour INTEGER PRIMARY KEY,        -- Unix seconds of its start
    revision INTEGER NOT NULL DEFAULT 0,
    files INTEGER NOT NULL DEFAULT 0,
    ok INTEGER NOT NULL DEFAULT 0,
    partial INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    languages TEXT NOT NULL DEFAULT '{}',
    directories TEXT NOT NULL DEFAULT '{}',
    chunks INTEGER NOT NULL DEFAULT 0,
    tokens_median INTEGER NOT NULL DEFAULT 0,
    tokens_p90 INTEGER NOT NULL DEFAULT 0,
    tokens_max INTEGER NOT NULL DEFAULT 0,
    edits INTEGER NOT NULL DEFAULT 0,
    row_p50_ms REAL,
    row_p99_ms REAL,
    vector_p50_ms REAL,
    vector_p99_ms REAL,
    indexed INTEGER NOT NULL DEFAULT 0,
    indexed_s REAL NOT NULL DEFAULT 0,
    vectors INTEGER NOT NULL DEFAULT 0,
    vectors_s REAL NOT NULL DEFAULT 0,
    row_histogram TEXT NOT NULL DEFAULT '{}',
    vector_histogram TEXT NOT NULL DEFAULT '{}'
);

-- Numbers of the LSP's SymbolKind; a kind that is not here shows as a variable, 13.
CREATE TABLE lsp_kind (
    kind TEXT PRIMARY KEY,
    number INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO lsp_kind VALUES
    ('module', 2), ('library', 2), ('namespace', 3), ('package', 4), ('class', 5), ('contract', 5),
    ('extension', 5), ('impl', 5), ('method', 6), ('rpc', 6), ('property', 7), ('field', 8), ('constructor', 9),
    ('enum', 10), ('annotation', 11), ('interface', 11), ('protocol', 11), ('service', 11), ('trait', 11),
    ('function', 12), ('macro', 12), ('modifier', 12), ('procedure', 12), ('target', 12), ('test', 12),
    ('output', 13), ('variable', 13), ('constant', 14), ('section', 15), ('block', 19), ('data', 19),
    ('object', 19), ('provider', 19), ('resource', 19), ('index', 20), ('key', 20), ('enum_member', 22),
    ('error', 23), ('message', 23), ('record', 23), ('struct', 23), ('table', 23), ('union', 23), ('view', 23),
    ('event', 24), ('trigger', 24), ('operator', 25), ('type', 26), ('scalar', 26),
    ('project', 2), ('schema', 2), ('stage', 3), ('keyframes', 5), ('mixin', 5), ('rule', 5), ('directive', 12),
    ('fragment', 12), ('mutation', 12), ('query', 12), ('subscription', 12), ('exception', 23), ('input', 23);

CREATE VIEW meta AS SELECT key, value FROM meta_kv;

CREATE VIEW files AS
SELECT path, path_bytes, language, strategy, parse_status, reason, error_line, error_bytes, size, lines,
    blob_oid, revision, detail, damage
FROM file;

CREATE VIEW failures AS
SELECT path, parse_status, reason, detail, language, strategy, error_line, error_bytes, damage
FROM file
WHERE parse_status IN ('partial', 'failed')
    OR reason IN ('unreadable', 'encoding', 'timeout', 'memory', 'crashed');

CREATE VIEW symbols AS
SELECT f.path, f.language, s.symbol, s.name, s.kind,
    coalesce((SELECT number FROM lsp_kind WHERE lsp_kind.kind = s.kind), 13) AS lsp_kind, s.parents, s.signature,
    s.doc, s.start_byte, s.end_byte, s.start_line, s.end_line, s.name_line, s.name_column,
    s.chunk_id
FROM symbol AS s JOIN file AS f ON f.id = s.file_id;

CREATE VIEW chunks AS
SELECT c.id, c.chunk_id, f.path, f.language, c.unit, c.kind, c.grain, c.symbol, c.parents, c.start_byte,
    c.end_byte, c.start_line, c.end_line, c.part, c.parts,
    coalesce((SELECT text FROM header WHERE header.id = c.header_id), '') AS header,
    coalesce((SELECT bytes FROM header WHERE header.id = c.header_id), 0) AS header_bytes,
    (SELECT body FROM body WHERE body.id = c.id) AS body, c.rendering, c.tokens, c.header_trimmed,
    c.truncated, EXISTS (
        SELECT 1 FROM vector AS v
        WHERE v.hash = coalesce((SELECT hash FROM stand_in WHERE chunk = c.id), c.embed_hash)
            AND v.model_id = (SELECT id FROM model WHERE serving)
    ) AS embedded,
    lower(hex(c.content_hash)) AS content_hash, c.revision
FROM chunk AS c JOIN file AS f ON f.id = c.file_id;

CREATE VIEW changes AS SELECT revision, path, what, start_byte, end_byte FROM change;

CREATE VIEW vectors AS
SELECT c.id, m.name AS model, v.int8, v.scale, v.bits
FROM model AS m CROSS JOIN chunk AS c CROSS JOIN vector AS v ON v.model_id = m.id
    AND v.hash = coalesce((SELECT hash FROM stand_in WHERE chunk = c.id), c.embed_hash)
WHERE m.serving;

CREATE VIEW metrics AS
SELECT hour, revision, files, ok, partial, failed, languages, directories, chunks, tokens_median, tokens_p90,
    tokens_max, edits, row_p50_ms, row_p99_ms, vector_p50_ms, vector_p99_ms, indexed AS files_indexed,
    indexed / nullif(indexed_s, 0) AS files_per_s, vectors, vectors / nullif(vectors_s, 0) AS vectors_per_s,
    row_histogram, vector_histogram
FROM metric;

-- What `chunks_fts` indexes; FTS5 reads it to delete, to check itself and for snippets.
CREATE VIEW chunk_text AS
SELECT c.id, b.names, b.words, coalesce(h.text, '') AS header, b.body, f.path
FROM chunk AS c JOIN file AS f ON f.id = c.file_id JOIN body AS b ON b.id = c.id
    LEFT JOIN header AS h ON h.id = c.header_id;

CREATE VIRTUAL TABLE chunks_fts USING fts5(
    names, words, header, body, path,
    content='chunk_text', content_rowid='id', tokenize='unicode61 remove_diacritics 2'
);

CREATE VIRTUAL TABLE names_fts USING fts5(name, content='name', content_rowid='id', tokenize='trigram');
