-- One row for each action. `number` is the order in which they were proposed;
-- rows are never deleted, so that it only grows.
CREATE TABLE actions (
    number           INTEGER PRIMARY KEY,
    id               TEXT NOT NULL UNIQUE,
    revision         INTEGER NOT NULL,
    tenant           TEXT NOT NULL,
    proposer         TEXT NOT NULL,
    proposal_key     TEXT,
    tool             TEXT NOT NULL,
    arguments        TEXT NOT NULL,
    component        TEXT NOT NULL,
    component_digest TEXT NOT NULL,
    grants           TEXT NOT NULL,
    -- Over everything that was shown and will run; checked whenever a row is read.
    fingerprint      TEXT NOT NULL,
    preview_kind     TEXT NOT NULL,
    preview          TEXT,
    created_at       INTEGER NOT NULL,
    max_attempts     INTEGER NOT NULL,
    status           TEXT NOT NULL,
    attempts         INTEGER NOT NULL,
    expires_at       INTEGER,
    -- Who confirmed or declined, with which key, and when the state began.
    person           TEXT,
    claim_key        TEXT,
    moment           INTEGER,
    failure          TEXT,
    reason           TEXT,
    output           TEXT,
    ledger           TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX actions_by_proposal_key ON actions (tenant, proposer, proposal_key)
    WHERE proposal_key IS NOT NULL;

-- Lists, newest first: every index ends with `number`, unwritten.
CREATE INDEX actions_by_tenant ON actions (tenant);
CREATE INDEX actions_by_status ON actions (tenant, status);
CREATE INDEX actions_by_proposer ON actions (tenant, proposer);
CREATE INDEX actions_by_proposer_and_status ON actions (tenant, proposer, status);

-- What the host itself looks for; each holds only the rows that count.
CREATE INDEX actions_executing ON actions (status) WHERE status = 'Executing';
CREATE INDEX actions_overdue ON actions (expires_at) WHERE status = 'Pending';
CREATE INDEX actions_undecided ON actions (component_digest) WHERE status IN ('Pending', 'Executing');
CREATE INDEX actions_with_output ON actions (moment) WHERE output IS NOT NULL;

CREATE TABLE history (
    action   INTEGER NOT NULL REFERENCES actions (number),
    revision INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    actor    TEXT,
    was      TEXT,
    became   TEXT NOT NULL,
    attempt  INTEGER NOT NULL,
    detail   TEXT NOT NULL,
    PRIMARY KEY (action, revision)
) STRICT, WITHOUT ROWID;

-- A person's key names one action: bound when its claim wins, kept for good.
CREATE TABLE confirm_keys (
    tenant TEXT NOT NULL,
    person TEXT NOT NULL,
    key    TEXT NOT NULL,
    action INTEGER NOT NULL REFERENCES actions (number),
    PRIMARY KEY (tenant, person, key)
) STRICT, WITHOUT ROWID;
