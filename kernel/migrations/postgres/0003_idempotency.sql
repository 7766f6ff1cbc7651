-- The idempotency key that a call came with, as a digest, and what was asked under it: one call for each key of a task.

ALTER TABLE calls ADD COLUMN idempotency_key TEXT;
ALTER TABLE calls ADD COLUMN asked TEXT;

CREATE UNIQUE INDEX calls_by_key ON calls (task_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
