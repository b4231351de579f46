-- Interrupts, and what belongs to them. Bodies are JSON; other columns are what is searched by. Times are microseconds
-- since 1970. Rows of lists are numbered by `position`, without gaps, by whoever holds the lock of the store. The columns
-- are those of a SQLite file: what a seal covers is the same in both.
--
-- Keys are compared byte by byte: what a locale says of their order may change with the system's libraries.

CREATE TABLE store (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL
);
INSERT INTO store (id, name) VALUES (1, replace(gen_random_uuid()::text, '-', ''));

-- The last transaction of each process that writes: whoever loses the connection while it commits finds here what became
-- of it.
CREATE TABLE commits (
    writer TEXT COLLATE "C" PRIMARY KEY,
    number BIGINT NOT NULL,
    at TIMESTAMPTZ NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE TABLE heads (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    body TEXT NOT NULL
);

CREATE TABLE interrupts (
    position BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    key TEXT COLLATE "C" NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    run TEXT COLLATE "C" NOT NULL,
    node TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    live BIGINT NOT NULL,
    deadline BIGINT,
    body TEXT NOT NULL,
    seal BYTEA
);
CREATE INDEX interrupts_of_run ON interrupts (run, live, position);
CREATE INDEX interrupts_open ON interrupts (position) WHERE live = 1;
CREATE INDEX interrupts_due ON interrupts (deadline) WHERE live = 1 AND deadline IS NOT NULL;

CREATE TABLE joined (
    key TEXT COLLATE "C" PRIMARY KEY,
    interrupt TEXT COLLATE "C" NOT NULL,
    digest TEXT NOT NULL,
    run TEXT COLLATE "C" NOT NULL,
    seal BYTEA
);
CREATE INDEX joined_of_run ON joined (run);

CREATE TABLE reroutes (
    event TEXT COLLATE "C" PRIMARY KEY,
    run TEXT COLLATE "C" NOT NULL,
    pending BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    body TEXT NOT NULL,
    seal BYTEA
);
CREATE INDEX reroutes_of_run ON reroutes (run);
CREATE INDEX reroutes_due ON reroutes (expires_at) WHERE pending = 1;

CREATE TABLE slots (
    id TEXT COLLATE "C" PRIMARY KEY,
    run TEXT COLLATE "C" NOT NULL,
    body TEXT NOT NULL,
    seal BYTEA
);
CREATE INDEX slots_of_run ON slots (run);

CREATE TABLE runs (
    position BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    alias TEXT COLLATE "C" UNIQUE,
    state TEXT COLLATE "C" NOT NULL,
    body TEXT NOT NULL,
    seal BYTEA
);
CREATE INDEX runs_live ON runs (position) WHERE state NOT IN ('completed', 'failed', 'cancelled');

CREATE TABLE nodes (
    position BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    run TEXT COLLATE "C" NOT NULL,
    body TEXT NOT NULL,
    seal BYTEA
);
CREATE INDEX nodes_of_run ON nodes (run, position);

CREATE TABLE messages (
    position BIGINT PRIMARY KEY,
    key TEXT COLLATE "C" NOT NULL UNIQUE,
    run TEXT COLLATE "C" NOT NULL,
    body TEXT NOT NULL,
    seal BYTEA
);
CREATE INDEX messages_of_run ON messages (run, position);

CREATE TABLE journal (
    position BIGINT PRIMARY KEY,
    effect TEXT COLLATE "C" NOT NULL UNIQUE,
    run TEXT COLLATE "C" NOT NULL,
    done BIGINT NOT NULL,
    body TEXT NOT NULL,
    seal BYTEA
);
CREATE INDEX journal_of_run ON journal (run, position);
CREATE INDEX journal_unknown ON journal (run, position) WHERE done = 0;

CREATE TABLE checkpoints (
    id TEXT COLLATE "C" PRIMARY KEY,
    run TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    parent TEXT,
    form BIGINT NOT NULL,
    digest TEXT NOT NULL,
    pending TEXT NOT NULL,
    at BIGINT NOT NULL,
    journal BIGINT NOT NULL,
    seal BYTEA,
    content TEXT NOT NULL,
    UNIQUE (run, number)
);

-- What purged runs leave of the journal: the digest of each intent by its position, of each result by its count.
CREATE TABLE purged (
    result BIGINT NOT NULL,
    place BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    PRIMARY KEY (result, place)
);

CREATE TABLE tokens (
    position BIGINT PRIMARY KEY,
    digest TEXT COLLATE "C" NOT NULL UNIQUE,
    body TEXT NOT NULL,
    seal BYTEA
);

CREATE TABLE rules (
    position BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    matter TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C",
    live BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    body TEXT NOT NULL,
    seal BYTEA
);
CREATE INDEX rules_of_matter ON rules (matter, position) WHERE live = 1;
CREATE INDEX rules_due ON rules (expires_at) WHERE live = 1;
CREATE INDEX rules_of_run ON rules (run) WHERE run IS NOT NULL;

CREATE TABLE catalogues (
    position BIGINT PRIMARY KEY,
    digest TEXT COLLATE "C" NOT NULL UNIQUE,
    name TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    seal BYTEA,
    content TEXT NOT NULL,
    UNIQUE (name, version)
);

CREATE TABLE cursors (
    consumer TEXT COLLATE "C" PRIMARY KEY,
    position BIGINT NOT NULL
);

-- The last row says where the lists of the store end.
CREATE TABLE outbox (
    position BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    heads TEXT,
    body TEXT NOT NULL,
    seal BYTEA,
    run TEXT COLLATE "C" GENERATED ALWAYS AS
        (COALESCE(body::json ->> 'run', body::json #>> '{checkpoint,run}')) STORED
);
CREATE INDEX outbox_of_run ON outbox (run, position) WHERE run IS NOT NULL;

CREATE TABLE audit (
    position BIGINT PRIMARY KEY,
    previous TEXT NOT NULL,
    digest TEXT NOT NULL,
    entry TEXT NOT NULL
);
