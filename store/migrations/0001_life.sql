-- The life of interrupts, and what belongs to it. Bodies are JSON; other columns are what is searched by.
-- Times are microseconds since 1970. Rows of lists are numbered by `position`, without gaps, by the one writer.

CREATE TABLE heads (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    body TEXT NOT NULL
) STRICT;

CREATE TABLE interrupts (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    run TEXT NOT NULL,
    node TEXT NOT NULL,
    state TEXT NOT NULL,
    live INTEGER NOT NULL,
    deadline INTEGER,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX interrupts_of_run ON interrupts (run, position);
CREATE INDEX interrupts_live ON interrupts (run) WHERE live = 1;
CREATE INDEX interrupts_due ON interrupts (deadline) WHERE live = 1 AND deadline IS NOT NULL;

CREATE TABLE reroutes (
    event TEXT PRIMARY KEY,
    pending INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX reroutes_due ON reroutes (expires_at) WHERE pending = 1;

CREATE TABLE slots (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    alias TEXT UNIQUE,
    state TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX runs_ended ON runs (id) WHERE state IN ('completed', 'failed', 'cancelled');

CREATE TABLE journal (
    position INTEGER PRIMARY KEY,
    effect TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL,
    done INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX journal_of_run ON journal (run, position);
CREATE INDEX journal_unknown ON journal (run, position) WHERE done = 0;

CREATE TABLE checkpoints (
    id TEXT PRIMARY KEY,
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    parent TEXT,
    form INTEGER NOT NULL,
    digest TEXT NOT NULL,
    pending TEXT NOT NULL,
    at INTEGER NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (run, number)
) STRICT;

CREATE TABLE cursors (
    consumer TEXT PRIMARY KEY,
    position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
    position INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE audit (
    position INTEGER PRIMARY KEY,
    previous TEXT NOT NULL,
    digest TEXT NOT NULL,
    entry TEXT NOT NULL
) STRICT;
