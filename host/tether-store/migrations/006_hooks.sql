-- How far each webhook has come in the history, and what is still to be told to it:
-- numbers of events.
CREATE TABLE hooks (
    name   TEXT PRIMARY KEY,
    cursor INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE hook_queue (
    hook      TEXT NOT NULL,
    number    INTEGER NOT NULL,
    action    TEXT NOT NULL,
    failures  INTEGER NOT NULL DEFAULT 0,
    queued_at INTEGER NOT NULL,
    -- The end of time where an earlier event of the action waits.
    next_at   INTEGER NOT NULL,
    PRIMARY KEY (hook, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX hook_queue_by_action ON hook_queue (hook, action, number);
CREATE INDEX hook_queue_by_time ON hook_queue (hook, next_at, number);
