-- Nodes of runs, messages to them, tokens, what a fork takes over from a journal, and what a run leaves when it
-- is purged.

CREATE TABLE nodes (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX nodes_of_run ON nodes (run, position);

CREATE TABLE messages (
    position INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX messages_of_run ON messages (run, position);

CREATE TABLE tokens (
    position INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
) STRICT;

-- Checkpoints of the time before name no part of the journal: a fork of them takes over nothing.
ALTER TABLE checkpoints ADD COLUMN journal INTEGER NOT NULL DEFAULT 0;

ALTER TABLE reroutes ADD COLUMN run TEXT NOT NULL DEFAULT '';
UPDATE reroutes SET run = json_extract(body, '$.run');
CREATE INDEX reroutes_of_run ON reroutes (run);

-- The id of a slot is its run and its node.
ALTER TABLE slots ADD COLUMN run TEXT NOT NULL DEFAULT '';
UPDATE slots SET run = substr(id, 1, instr(id, ' ') - 1);
CREATE INDEX slots_of_run ON slots (run);
