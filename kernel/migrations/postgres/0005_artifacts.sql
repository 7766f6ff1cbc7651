-- Manifests that were proposed and approved: each a version of a kind and id, of which one at most is active and stands in
-- for the operator's file. The kind is the name of its folder.

CREATE TABLE artifacts (
    kind       TEXT NOT NULL,
    id         TEXT NOT NULL,
    version    BIGINT NOT NULL,
    -- The manifest, exactly as it was approved, and its digest.
    text       TEXT NOT NULL,
    digest     TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('active', 'superseded', 'revoked')),
    -- The call that proposed it, and that call's task.
    call_id    TEXT NOT NULL UNIQUE,
    task_id    TEXT NOT NULL,
    reason     TEXT NOT NULL,
    created_at TEXT NOT NULL,
    -- The call that revoked it.
    revoked_by TEXT UNIQUE,
    -- Why the operator shall take it over into the files.
    nominated  TEXT,
    PRIMARY KEY (kind, id, version)
);

CREATE UNIQUE INDEX artifacts_active ON artifacts (kind, id) WHERE state = 'active';

-- How often the active ones changed, one row. Each kernel looks at it at each event and each call.
CREATE TABLE artifact_changes (
    only_one BOOLEAN PRIMARY KEY DEFAULT true CHECK (only_one),
    changes  BIGINT NOT NULL
);

INSERT INTO artifact_changes (changes) VALUES (0);
