-- What the kernels of one PostgreSQL keep together. Times are RFC 3339 UTC text, as in SQLite's store, since digests are
-- taken over them; ids are ULIDs, digests are `sha256:<hex>`.

CREATE TABLE catalogs (
    digest TEXT PRIMARY KEY,
    body   TEXT NOT NULL
);

CREATE TABLE exposures (
    digest TEXT PRIMARY KEY,
    body   TEXT NOT NULL
);

CREATE TABLE tasks (
    id         TEXT PRIMARY KEY,
    token_hash BYTEA NOT NULL,
    grant_body TEXT NOT NULL,
    message    TEXT,
    expires_at TEXT NOT NULL,
    revoked_at TEXT
);

CREATE TABLE selection_tokens (
    id         TEXT PRIMARY KEY,
    task_id    TEXT NOT NULL REFERENCES tasks (id),
    type       TEXT NOT NULL,
    target     TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    spent_by   TEXT
);

-- Kernels that are alive: each says so every few seconds, by this database's clock.
CREATE TABLE kernels (
    id      TEXT PRIMARY KEY,
    seen_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE calls (
    id         TEXT PRIMARY KEY,
    task_id    TEXT NOT NULL REFERENCES tasks (id),
    action     TEXT NOT NULL,
    arguments  TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN (
        'pending', 'approved', 'rejected', 'expired', 'running', 'succeeded', 'failed', 'outcome_unknown'
    )),
    -- The kernel that stored it and, while it runs, runs it. No reference: kernels come and go, calls stay.
    kernel     TEXT NOT NULL,
    result     TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE INDEX calls_running ON calls (state) WHERE state = 'running';

CREATE TABLE messages (
    seq     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      TEXT NOT NULL,
    task_id TEXT NOT NULL,
    sender  TEXT NOT NULL,
    body    TEXT NOT NULL
);

CREATE TABLE audit (
    seq    BIGINT PRIMARY KEY,
    at     TEXT NOT NULL,
    kind   TEXT NOT NULL,
    body   TEXT NOT NULL,
    prev   TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE
);

-- The end of the ledger, one row. Whoever changes anything locks it first: so changes stand in one line, and the records
-- of all kernels in one chain. The first digest is that of nothing.
CREATE TABLE ledger_head (
    only_one BOOLEAN PRIMARY KEY DEFAULT true CHECK (only_one),
    seq      BIGINT NOT NULL,
    digest   TEXT NOT NULL
);

INSERT INTO ledger_head (seq, digest)
VALUES (0, 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');

CREATE FUNCTION refuse_change_of_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit records are append-only';
END $$;

CREATE FUNCTION refuse_gap_in_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq IS DISTINCT FROM coalesce((SELECT max(seq) FROM audit), 0) + 1 THEN
        RAISE EXCEPTION 'audit records are append-only';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_keeps_records BEFORE UPDATE OR DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit();

CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();

CREATE TRIGGER audit_only_grows BEFORE INSERT ON audit
FOR EACH ROW EXECUTE FUNCTION refuse_gap_in_audit();
