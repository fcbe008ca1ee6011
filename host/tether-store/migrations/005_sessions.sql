-- Sessions by the SHA-256 of their cookies.
CREATE TABLE sessions (
    digest          BLOB PRIMARY KEY,
    tenant          TEXT NOT NULL,
    user            TEXT NOT NULL,
    roles           TEXT NOT NULL,
    credential_kind TEXT NOT NULL,
    credential      TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_overdue ON sessions (expires_at);
