-- The Merkle tree over the ledger's records, and what was signed of it. Tiles are those of C2SP tlog-tiles: up to 256
-- SHA-256 hashes, one after the other. Records of before become leaves when the kernel starts.

CREATE TABLE ledger_tiles (
    level  INTEGER NOT NULL,
    place  INTEGER NOT NULL,
    hashes BLOB NOT NULL,
    PRIMARY KEY (level, place)
) STRICT;

CREATE TABLE ledger_checkpoints (
    size INTEGER PRIMARY KEY,
    at   TEXT NOT NULL,
    note TEXT NOT NULL
) STRICT;

CREATE TRIGGER ledger_tiles_only_grow BEFORE UPDATE ON ledger_tiles
WHEN substr(NEW.hashes, 1, length(OLD.hashes)) IS NOT OLD.hashes
    OR NEW.level IS NOT OLD.level OR NEW.place IS NOT OLD.place
BEGIN SELECT RAISE(ABORT, 'the ledger''s tree is append-only'); END;

CREATE TRIGGER ledger_tiles_stay BEFORE DELETE ON ledger_tiles
BEGIN SELECT RAISE(ABORT, 'the ledger''s tree is append-only'); END;

CREATE TRIGGER ledger_checkpoints_are_kept BEFORE UPDATE ON ledger_checkpoints
BEGIN SELECT RAISE(ABORT, 'checkpoints are append-only'); END;

CREATE TRIGGER ledger_checkpoints_stay BEFORE DELETE ON ledger_checkpoints
BEGIN SELECT RAISE(ABORT, 'checkpoints are append-only'); END;
