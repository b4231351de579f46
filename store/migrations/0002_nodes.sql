-- Nodes of runs, messages to them, tokens, and what a fork takes over from a journal.

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
