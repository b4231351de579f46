-- Runs that are not over and do not wait for people, in the order in which they came to be: those who look for runs without
-- an owner read them from here, however many wait.
CREATE INDEX runs_at_work ON runs (position) WHERE state NOT IN ('completed', 'failed', 'cancelled', 'waiting');
