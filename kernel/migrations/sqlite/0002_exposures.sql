-- What tasks were shown of a catalog, and why no more: one record for each action. Tasks that were shown
-- the same for the same reasons have one row; the ledger names it with each grant.

CREATE TABLE exposures (
    digest TEXT PRIMARY KEY,
    body   TEXT NOT NULL
) STRICT;
