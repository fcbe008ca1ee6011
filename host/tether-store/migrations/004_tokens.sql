-- Tokens by their SHA-256; rows are never deleted. `roles` are words with blanks between.
CREATE TABLE tokens (
    id         TEXT PRIMARY KEY,
    digest     BLOB NOT NULL UNIQUE,
    tenant     TEXT NOT NULL,
    user       TEXT NOT NULL,
    roles      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    revoked_by TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_by_tenant ON tokens (tenant, created_at);
