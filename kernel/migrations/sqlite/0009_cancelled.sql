-- A call that waits can be taken back by its worker. The table is made anew for it, and the decisions on its calls with it,
-- so that they refer to a call at each moment.

CREATE TABLE decisions_kept AS SELECT * FROM decisions;
DROP TABLE decisions;

CREATE TABLE calls_with_cancelled (
    id              TEXT PRIMARY KEY,
    task_id         TEXT NOT NULL REFERENCES tasks (id),
    action          TEXT NOT NULL,
    -- As they may be looked at: what is secret in them is hidden.
    arguments       TEXT NOT NULL,
    -- The arguments as they came, encrypted, where something is hidden; gone when the call ends.
    sealed          BLOB,
    state           TEXT NOT NULL CHECK (state IN (
        'pending', 'approved', 'rejected', 'expired', 'cancelled', 'refused',
        'running', 'succeeded', 'failed', 'outcome_unknown'
    )),
    -- Why it was rejected or refused.
    reason          TEXT,
    -- The digest of all that a decision is bound to.
    binding         TEXT,
    selection       TEXT REFERENCES selection_tokens (id),
    expires_at      TEXT,
    -- The call that took its place.
    superseded_by   TEXT,
    result          TEXT,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL,
    -- The digest of the key that it came with, and of what was asked under it.
    idempotency_key TEXT,
    asked           TEXT,
    -- How often it was run again after it was cut off.
    resumptions     INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO calls_with_cancelled (
    id, task_id, action, arguments, sealed, state, reason, binding, selection, expires_at, superseded_by, result,
    created_at, updated_at, idempotency_key, asked, resumptions
)
SELECT
    id, task_id, action, arguments, sealed, state, reason, binding, selection, expires_at, superseded_by, result,
    created_at, updated_at, idempotency_key, asked, resumptions
FROM calls;

DROP TABLE calls;
ALTER TABLE calls_with_cancelled RENAME TO calls;

CREATE INDEX calls_open ON calls (state) WHERE state IN ('pending', 'approved', 'running');
CREATE UNIQUE INDEX calls_by_key ON calls (task_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX calls_unknown ON calls (state) WHERE state = 'outcome_unknown';

CREATE TABLE decisions (
    call_id  TEXT NOT NULL REFERENCES calls (id),
    approver TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('approved', 'rejected')),
    reason   TEXT,
    -- What the approver saw.
    binding  TEXT NOT NULL,
    at       TEXT NOT NULL,
    PRIMARY KEY (call_id, approver)
) STRICT;

INSERT INTO decisions (call_id, approver, decision, reason, binding, at)
SELECT call_id, approver, decision, reason, binding, at FROM decisions_kept;
DROP TABLE decisions_kept;
