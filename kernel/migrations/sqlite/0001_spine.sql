-- What one kernel keeps. Times are RFC 3339 UTC text, ids are ULIDs, digests are `sha256:<hex>`.

CREATE TABLE catalogs (
    digest TEXT PRIMARY KEY,
    body   TEXT NOT NULL
) STRICT;

CREATE TABLE tasks (
    id             TEXT PRIMARY KEY,
    token_hash     BLOB NOT NULL,
    grant_body     TEXT NOT NULL,
    message        TEXT,
    expires_at     TEXT NOT NULL,
    revoked_at     TEXT
) STRICT;

CREATE TABLE selection_tokens (
    id         TEXT PRIMARY KEY,
    task_id    TEXT NOT NULL REFERENCES tasks (id),
    type       TEXT NOT NULL,
    target     TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    spent_by   TEXT
) STRICT;

CREATE TABLE calls (
    id         TEXT PRIMARY KEY,
    task_id    TEXT NOT NULL REFERENCES tasks (id),
    action     TEXT NOT NULL,
    arguments  TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN (
        'pending', 'approved', 'rejected', 'expired', 'running', 'succeeded', 'failed', 'outcome_unknown'
    )),
    result     TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE INDEX calls_running ON calls (state) WHERE state = 'running';

CREATE TABLE messages (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL,
    task_id TEXT NOT NULL,
    sender  TEXT NOT NULL,
    body    TEXT NOT NULL
) STRICT;

CREATE TABLE audit (
    seq    INTEGER PRIMARY KEY,
    at     TEXT NOT NULL,
    kind   TEXT NOT NULL,
    body   TEXT NOT NULL,
    prev   TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE
) STRICT;

CREATE TRIGGER audit_keeps_records BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'audit records are append-only'); END;

CREATE TRIGGER audit_loses_nothing BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'audit records are append-only'); END;

-- Without this one, INSERT OR REPLACE would take a record's place unseen.
CREATE TRIGGER audit_only_grows BEFORE INSERT ON audit
WHEN NEW.seq IS NOT coalesce((SELECT max(seq) FROM audit), 0) + 1
BEGIN SELECT RAISE(ABORT, 'audit records are append-only'); END;
