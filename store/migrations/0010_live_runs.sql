-- Runs that are not over, in the order in which they came to be: those who look for work read them from here, however many
-- have ended.
CREATE INDEX runs_live ON runs (position) WHERE state NOT IN ('completed', 'failed', 'cancelled');
