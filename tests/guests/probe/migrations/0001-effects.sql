CREATE TABLE effects (
    id      INTEGER PRIMARY KEY,
    key     TEXT    NOT NULL,
    attempt INTEGER NOT NULL,
    note    TEXT    NOT NULL
);

CREATE TABLE counters (
    name  TEXT    PRIMARY KEY,
    value INTEGER NOT NULL
);

INSERT INTO counters (name, value) VALUES ('one', 0);
