-- The workers that execute runs, as each says of itself. Nothing is lost with them: who owns a run stands with the run.
CREATE TABLE workers (
    name TEXT COLLATE "C" PRIMARY KEY,
    until BIGINT NOT NULL,
    body TEXT NOT NULL
);

-- The oldest schema whose program works with this one: it goes on beside newer ones.
ALTER TABLE irq_schema ADD COLUMN compatible BIGINT NOT NULL DEFAULT 3;
