-- Tasks that descend from others, what a lineage has used of its limits, and how tasks ended.

ALTER TABLE tasks
    -- The task that commissioned it.
    ADD COLUMN parent_id TEXT REFERENCES tasks (id),
    -- Calls begun or held, and artifacts proposed, by it and by all that descend from it; and the most that its grant
    -- allows.
    ADD COLUMN calls BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN artifacts BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN max_calls BIGINT,
    ADD COLUMN max_artifacts BIGINT,
    -- How it ended by its worker's own report, which is JSON.
    ADD COLUMN ended_at TEXT,
    ADD COLUMN outcome TEXT CHECK (outcome IN ('succeeded', 'failed')),
    ADD COLUMN report TEXT;

-- Tasks of before have the limits of their grants, too.
UPDATE tasks SET
    calls = (SELECT count(*) FROM calls WHERE task_id = tasks.id AND superseded_by IS NULL),
    max_calls = (grant_body::json #>> '{grant,limits,max_model_calls}')::bigint,
    max_artifacts = (grant_body::json #>> '{grant,limits,max_artifacts}')::bigint;

CREATE INDEX tasks_commissioned ON tasks (parent_id) WHERE parent_id IS NOT NULL;
