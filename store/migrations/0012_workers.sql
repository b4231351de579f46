-- The workers that execute runs, as each says of itself. Nothing is lost with them: who owns a run stands with the run.
CREATE TABLE workers (
    name TEXT PRIMARY KEY,
    until INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
