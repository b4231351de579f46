-- What every change writes lies on fewer pages.

-- The last row of the outbox says where the lists of the store end: `heads` is written where nothing is told alone.
ALTER TABLE outbox ADD COLUMN heads TEXT;

-- One index finds the open interrupts of a run and all of them.
DROP INDEX interrupts_live;
DROP INDEX interrupts_of_run;
CREATE INDEX interrupts_of_run ON interrupts (run, live, position);
