-- Tasks that descend from others, what a lineage has used of its limits, and how tasks ended.

-- The task that commissioned it.
ALTER TABLE tasks ADD COLUMN parent_id TEXT REFERENCES tasks (id);
-- Calls begun or held, and artifacts proposed, by it and by all that descend from it; and the most that its grant allows.
ALTER TABLE tasks ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN artifacts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN max_calls INTEGER;
ALTER TABLE tasks ADD COLUMN max_artifacts INTEGER;
-- How it ended by its worker's own report, which is JSON.
ALTER TABLE tasks ADD COLUMN ended_at TEXT;
ALTER TABLE tasks ADD COLUMN outcome TEXT CHECK (outcome IN ('succeeded', 'failed'));
ALTER TABLE tasks ADD COLUMN report TEXT;

-- Tasks of before have the limits of their grants, too.
UPDATE tasks SET
    calls = (SELECT count(*) FROM calls WHERE task_id = tasks.id AND superseded_by IS NULL),
    max_calls = json_extract(grant_body, '$.grant.limits.max_model_calls'),
    max_artifacts = json_extract(grant_body, '$.grant.limits.max_artifacts')
WHERE json_valid(grant_body);

CREATE INDEX tasks_commissioned ON tasks (parent_id) WHERE parent_id IS NOT NULL;
