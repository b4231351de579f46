-- The workers that execute runs, as each says of itself. Nothing is lost with them: who owns a run stands with the run.
CREATE TABLE workers (
    name TEXT COLLATE "C" PRIMARY KEY,
    until BIGINT NOT NULL,
    body TEXT NOT NULL
);
