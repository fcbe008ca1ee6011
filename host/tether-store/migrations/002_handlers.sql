-- A handler is a component or an endpoint. Of an endpoint, `handler_name` is the URL,
-- `handler_digest` that of its definition, and `grants` is empty.
ALTER TABLE actions ADD COLUMN handler TEXT NOT NULL DEFAULT 'component';
ALTER TABLE actions RENAME COLUMN component TO handler_name;
ALTER TABLE actions RENAME COLUMN component_digest TO handler_digest;

-- From when on the records of an erased output are to be emptied; NULL where that is
-- done, or nothing is erased.
ALTER TABLE actions ADD COLUMN records_due INTEGER;

-- Results that were erased before: whether their records were emptied was not kept.
UPDATE actions SET records_due = 0 WHERE status = 'Succeeded' AND output IS NULL;

DROP INDEX actions_undecided;
CREATE INDEX actions_undecided ON actions (handler_digest)
    WHERE handler = 'component' AND status IN ('Pending', 'Executing');
CREATE INDEX actions_with_records ON actions (records_due) WHERE records_due IS NOT NULL;
