-- What a call that waits for the owner needs besides: what it is bound to, who decided, and until when. The
-- table is made anew, as a call can be refused after it was approved.

CREATE TABLE calls_with_approvals (
    id            TEXT PRIMARY KEY,
    task_id       TEXT NOT NULL REFERENCES tasks (id),
    action        TEXT NOT NULL,
    -- As they may be looked at: what is secret in them is hidden.
    arguments     TEXT NOT NULL,
    -- The arguments as they came, encrypted, where something is hidden; gone when the call ends.
    sealed        BLOB,
    state         TEXT NOT NULL CHECK (state IN (
        'pending', 'approved', 'rejected', 'expired', 'refused',
        'running', 'succeeded', 'failed', 'outcome_unknown'
    )),
    -- Why it was rejected or refused.
    reason        TEXT,
    -- The digest of all that a decision is bound to.
    binding       TEXT,
    selection     TEXT REFERENCES selection_tokens (id),
    expires_at    TEXT,
    -- The call that took its place.
    superseded_by TEXT,
    result        TEXT,
    created_at    TEXT NOT NULL,
    updated_at    TEXT NOT NULL
) STRICT;

INSERT INTO calls_with_approvals (id, task_id, action, arguments, state, result, created_at, updated_at)
SELECT id, task_id, action, arguments, state, result, created_at, updated_at FROM calls;

DROP TABLE calls;
ALTER TABLE calls_with_approvals RENAME TO calls;

CREATE INDEX calls_open ON calls (state) WHERE state IN ('pending', 'approved', 'running');

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
