-- One company's board. Times are RFC 3339 UTC text, ids are text (ULIDs where the board makes them),
-- payloads are JSON objects.

CREATE TABLE company (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    name TEXT NOT NULL
) STRICT;

INSERT INTO company (one, name) VALUES (1, 'A company');

-- People and agents. The principal is how the kernel names whom a task's grant was issued to.
CREATE TABLE actors (
    id        TEXT PRIMARY KEY,
    name      TEXT NOT NULL,
    role      TEXT NOT NULL,
    principal TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE goals (
    id    TEXT PRIMARY KEY,
    title TEXT NOT NULL
) STRICT;

CREATE TABLE projects (
    id   TEXT PRIMARY KEY,
    name TEXT NOT NULL
) STRICT;

CREATE TABLE routines (
    id       TEXT PRIMARY KEY,
    name     TEXT NOT NULL,
    schedule TEXT NOT NULL,
    paused   INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1))
) STRICT;

CREATE TABLE tasks (
    id          TEXT PRIMARY KEY,
    title       TEXT NOT NULL,
    description TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('open', 'active', 'blocked', 'in_review', 'done')),
    priority    TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
    assignee    TEXT REFERENCES actors (id),
    parent      TEXT REFERENCES tasks (id),
    routine     TEXT REFERENCES routines (id),
    created_by  TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL
) STRICT;

-- What makes "the actor's task" one task.
CREATE UNIQUE INDEX tasks_one_active ON tasks (assignee) WHERE status = 'active';

CREATE TABLE dependencies (
    task       TEXT NOT NULL REFERENCES tasks (id),
    blocked_by TEXT NOT NULL REFERENCES tasks (id),
    PRIMARY KEY (task, blocked_by),
    CHECK (task <> blocked_by)
) STRICT, WITHOUT ROWID;

CREATE TABLE history (
    seq   INTEGER PRIMARY KEY AUTOINCREMENT,
    task  TEXT NOT NULL REFERENCES tasks (id),
    at    TEXT NOT NULL,
    actor TEXT NOT NULL,
    kind  TEXT NOT NULL,
    body  TEXT NOT NULL
) STRICT;

CREATE INDEX history_of_task ON history (task, seq);

CREATE TRIGGER history_keeps_entries BEFORE UPDATE ON history
BEGIN SELECT RAISE(ABORT, 'a task''s history only grows'); END;

CREATE TRIGGER history_loses_nothing BEFORE DELETE ON history
BEGIN SELECT RAISE(ABORT, 'a task''s history only grows'); END;

CREATE TABLE revisions (
    id       TEXT PRIMARY KEY,
    task     TEXT NOT NULL REFERENCES tasks (id),
    key      TEXT NOT NULL,
    number   INTEGER NOT NULL,
    title    TEXT NOT NULL,
    body     TEXT NOT NULL,
    summary  TEXT NOT NULL,
    author   TEXT NOT NULL,
    at       TEXT NOT NULL,
    UNIQUE (task, key, number)
) STRICT;

CREATE TABLE human_inputs (
    id              TEXT PRIMARY KEY,
    task            TEXT NOT NULL REFERENCES tasks (id),
    kind            TEXT NOT NULL,
    title           TEXT NOT NULL,
    prompt          TEXT NOT NULL,
    continuation    TEXT NOT NULL,
    payload         TEXT NOT NULL,
    target_revision TEXT REFERENCES revisions (id),
    asked_by        TEXT NOT NULL,
    at              TEXT NOT NULL
) STRICT;

CREATE TABLE deliverables (
    id           TEXT PRIMARY KEY,
    task         TEXT NOT NULL REFERENCES tasks (id),
    title        TEXT NOT NULL,
    filename     TEXT NOT NULL,
    content_type TEXT NOT NULL,
    byte_size    INTEGER NOT NULL CHECK (byte_size >= 0),
    sha256       TEXT NOT NULL,
    content_ref  TEXT NOT NULL,
    at           TEXT NOT NULL
) STRICT;

CREATE TABLE approvals (
    id            TEXT PRIMARY KEY,
    approval_type TEXT NOT NULL,
    payload       TEXT NOT NULL,
    requested_by  TEXT NOT NULL,
    requested_at  TEXT NOT NULL,
    decision      TEXT CHECK (decision IN ('approved', 'rejected', 'cancelled')),
    decided_by    TEXT CHECK (decided_by <> requested_by),
    note          TEXT,
    CHECK ((decision IS NULL) = (decided_by IS NULL))
) STRICT;

CREATE TABLE approval_comments (
    id       TEXT PRIMARY KEY,
    approval TEXT NOT NULL REFERENCES approvals (id),
    author   TEXT NOT NULL,
    body     TEXT NOT NULL,
    at       TEXT NOT NULL
) STRICT;

CREATE TABLE cases (
    key        TEXT PRIMARY KEY,
    body       TEXT NOT NULL,
    updated_by TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE services (
    id    TEXT PRIMARY KEY,
    name  TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('stopped', 'running', 'failed')),
    url   TEXT
) STRICT;

-- What there is to learn, and what the company has of it.
CREATE TABLE skill_library (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    summary TEXT NOT NULL
) STRICT;

CREATE TABLE company_skills (
    name      TEXT PRIMARY KEY,
    version   INTEGER NOT NULL,
    summary   TEXT NOT NULL,
    synced_at TEXT NOT NULL
) STRICT;

CREATE TABLE secrets (
    name       TEXT PRIMARY KEY,
    purpose    TEXT NOT NULL,
    value      TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- What each changing operation answered, by the id of its call.
CREATE TABLE operations (
    id        TEXT PRIMARY KEY,
    actor     TEXT NOT NULL,
    operation TEXT NOT NULL,
    result    TEXT NOT NULL,
    at        TEXT NOT NULL
) STRICT;
