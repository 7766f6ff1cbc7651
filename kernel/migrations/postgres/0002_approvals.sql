-- What a call that waits for approval needs besides: what it is bound to, who decided, and until when.

ALTER TABLE calls
    -- The arguments as they came, encrypted, where something is hidden; gone when the call ends.
    ADD COLUMN sealed BYTEA,
    -- Why it was rejected or refused.
    ADD COLUMN reason TEXT,
    -- The digest of all that a decision is bound to.
    ADD COLUMN binding TEXT,
    ADD COLUMN selection TEXT REFERENCES selection_tokens (id),
    ADD COLUMN expires_at TEXT,
    -- The call that took its place.
    ADD COLUMN superseded_by TEXT,
    DROP CONSTRAINT calls_state_check,
    ADD CONSTRAINT calls_state_check CHECK (state IN (
        'pending', 'approved', 'rejected', 'expired', 'refused',
        'running', 'succeeded', 'failed', 'outcome_unknown'
    ));

CREATE INDEX calls_waiting ON calls (state) WHERE state IN ('pending', 'approved');

CREATE TABLE decisions (
    call_id  TEXT NOT NULL REFERENCES calls (id),
    approver TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('approved', 'rejected')),
    reason   TEXT,
    -- What the approver saw.
    binding  TEXT NOT NULL,
    at       TEXT NOT NULL,
    PRIMARY KEY (call_id, approver)
);
