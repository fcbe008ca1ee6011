-- How many persons each attempt takes, and who said yes so far: JSON, NULL where nobody
-- did.
ALTER TABLE actions ADD COLUMN people INTEGER NOT NULL DEFAULT 1;
ALTER TABLE actions ADD COLUMN approvals TEXT;

-- What stays of texts that were erased. `arguments` is '' then, which is no JSON, and
-- `arguments_digest` is their fingerprint and the digest of their text; `preview_kind` is
-- 'erased'.
ALTER TABLE actions ADD COLUMN arguments_digest TEXT;
ALTER TABLE actions ADD COLUMN preview_digest TEXT;
ALTER TABLE actions ADD COLUMN output_digest TEXT;

-- One index for both erasures, whichever text is kept longer. What is erased whole is not
-- in it. Queries repeat its WHERE to the letter.
DROP INDEX actions_with_output;
CREATE INDEX actions_to_erase ON actions (output IS NULL, arguments_digest IS NULL, moment)
    WHERE status <> 'Pending' AND status <> 'Executing'
        AND (output IS NOT NULL OR arguments_digest IS NULL);

-- Every event of every tenant, in the order in which they were written, chained for each
-- tenant. The rows of before are taken over where the hashes can be computed.
ALTER TABLE history RENAME TO unchained;
CREATE TABLE history (
    number   INTEGER PRIMARY KEY,
    tenant   TEXT NOT NULL,
    place    INTEGER NOT NULL,
    action   INTEGER NOT NULL REFERENCES actions (number),
    revision INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    actor    TEXT,
    channel  TEXT,
    was      TEXT,
    became   TEXT NOT NULL,
    attempt  INTEGER NOT NULL,
    detail   TEXT NOT NULL,
    -- Digests of what never changes of the action, and of how it stood from then on.
    proposal BLOB NOT NULL,
    state    BLOB NOT NULL,
    hash     BLOB NOT NULL,
    -- Any further index would be a page more to sync for each move.
    UNIQUE (action, revision)
) STRICT;
CREATE TABLE chain_heads (
    tenant TEXT PRIMARY KEY,
    place  INTEGER NOT NULL,
    hash   BLOB NOT NULL
) STRICT, WITHOUT ROWID;
