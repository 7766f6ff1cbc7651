-- A role for kernels that cannot change the ledger, nor its triggers: the tables belong to another role, which starts a
-- kernel once (or after an update) to make them. Make the role first, with a password of its own:
--   CREATE ROLE actum_kernel LOGIN PASSWORD '...';
-- Then run this as the owner of the tables, in their database, once and after each update.

GRANT SELECT, INSERT ON audit, catalogs, decisions, exposures, ledger_checkpoints, messages TO actum_kernel;
-- Tiles grow at their end, and a trigger sees to it that they do nothing else.
GRANT SELECT, INSERT, UPDATE ON ledger_tiles TO actum_kernel;
GRANT SELECT, INSERT, UPDATE ON tasks, selection_tokens, calls TO actum_kernel;
GRANT SELECT, INSERT, UPDATE, DELETE ON kernels TO actum_kernel;
GRANT SELECT, INSERT, UPDATE ON artifacts TO actum_kernel;
GRANT SELECT, UPDATE ON ledger_head, artifact_changes TO actum_kernel;
GRANT SELECT ON _sqlx_migrations TO actum_kernel;
