"""The way from one schema version to the next. A step is history: it says what was true then, whatever
`schema.sql` says today."""

from __future__ import annotations

from collections.abc import Mapping

MIGRATIONS: Mapping[int, str] = {
    1: """
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
CREATE VIEW metrics AS
SELECT hour, revision, files, ok, partial, failed, languages, directories, chunks, tokens_median, tokens_p90,
    tokens_max, edits, row_p50_ms, row_p99_ms, vector_p50_ms, vector_p99_ms, indexed AS files_indexed,
    indexed / nullif(indexed_s, 0) AS files_per_s, vectors, vectors / nullif(vectors_s, 0) AS vectors_per_s,
    row_histogram, vector_histogram
FROM metric;
""",
    2: """
CREATE TABLE model_source (
    identity TEXT PRIMARY KEY,
    folder TEXT NOT NULL,
    input_tokens INTEGER NOT NULL
) WITHOUT ROWID;
""",
    3: """
CREATE TABLE stand_in (
    chunk INTEGER PRIMARY KEY REFERENCES chunk(id) ON DELETE CASCADE,
    hash BLOB NOT NULL
);
CREATE INDEX stand_in_hash ON stand_in(hash);
DROP VIEW chunks;
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
DROP VIEW vectors;
CREATE VIEW vectors AS
SELECT c.id, m.name AS model, v.int8, v.scale, v.bits
FROM model AS m CROSS JOIN chunk AS c CROSS JOIN vector AS v ON v.model_id = m.id
    AND v.hash = coalesce((SELECT hash FROM stand_in WHERE chunk = c.id), c.embed_hash)
WHERE m.serving;
""",
    4: """
INSERT OR IGNORE INTO lsp_kind VALUES
    ('scalar', 26), ('project', 2), ('schema', 2), ('stage', 3), ('keyframes', 5), ('mixin', 5), ('rule', 5),
    ('directive', 12), ('fragment', 12), ('mutation', 12), ('query', 12), ('subscription', 12),
    ('exception', 23), ('input', 23);
""",
    5: """
DROP TABLE code;
CREATE TABLE code (
    model_id INTEGER NOT NULL,
    block INTEGER NOT NULL,
    used BLOB NOT NULL,              -- a bit a slot
    bits BLOB NOT NULL,
    UNIQUE (model_id, block)
);
""",
}
"""SQL from one schema version to the next; a version that is not here is rebuilt from nothing."""

CODES_SINCE = 6
"""The schema version whose `code` is what it is now."""
