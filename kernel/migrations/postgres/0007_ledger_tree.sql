-- The Merkle tree over the ledger's records, and what was signed of it. Tiles are those of C2SP tlog-tiles: up to 256
-- SHA-256 hashes, one after the other. Records of before become leaves when a kernel starts.

CREATE TABLE ledger_tiles (
    level  BIGINT NOT NULL,
    place  BIGINT NOT NULL,
    hashes BYTEA NOT NULL,
    PRIMARY KEY (level, place)
);

-- Hashes do not compress.
ALTER TABLE ledger_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;

CREATE TABLE ledger_checkpoints (
    size BIGINT PRIMARY KEY,
    at   TEXT NOT NULL,
    note TEXT NOT NULL
);

-- How many records the newest checkpoint is about. It stands in the row that every change locks: whoever waited for that
-- row sees what it says by then, and of every other table what they said before.
ALTER TABLE ledger_head ADD COLUMN signed BIGINT NOT NULL DEFAULT 0;

CREATE FUNCTION refuse_change_of_tree() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger''s tree is append-only';
END $$;

CREATE FUNCTION refuse_change_of_checkpoints() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'checkpoints are append-only';
END $$;

CREATE TRIGGER ledger_tiles_only_grow BEFORE UPDATE ON ledger_tiles
FOR EACH ROW WHEN (
    substr(NEW.hashes, 1, length(OLD.hashes)) IS DISTINCT FROM OLD.hashes
    OR NEW.level IS DISTINCT FROM OLD.level OR NEW.place IS DISTINCT FROM OLD.place
)
EXECUTE FUNCTION refuse_change_of_tree();

CREATE TRIGGER ledger_tiles_stay BEFORE DELETE ON ledger_tiles
FOR EACH ROW EXECUTE FUNCTION refuse_change_of_tree();

CREATE TRIGGER ledger_tiles_are_not_emptied BEFORE TRUNCATE ON ledger_tiles
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_tree();

CREATE TRIGGER ledger_checkpoints_are_kept BEFORE UPDATE OR DELETE ON ledger_checkpoints
FOR EACH ROW EXECUTE FUNCTION refuse_change_of_checkpoints();

CREATE TRIGGER ledger_checkpoints_are_not_emptied BEFORE TRUNCATE ON ledger_checkpoints
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_checkpoints();

-- A kernel of an earlier version, which is still running and knows no tree, would append records without leaves.
CREATE FUNCTION refuse_records_without_leaves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq IS DISTINCT FROM coalesce(
        (SELECT place * 256 + length(hashes) / 32 FROM ledger_tiles WHERE level = 0 ORDER BY place DESC LIMIT 1), 0
    ) THEN
        RAISE EXCEPTION 'the ledger has a tree by now, which this kernel''s version does not know: update it';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER ledger_head_moves_with_the_tree BEFORE UPDATE ON ledger_head
FOR EACH ROW WHEN (NEW.seq IS DISTINCT FROM OLD.seq)
EXECUTE FUNCTION refuse_records_without_leaves();
