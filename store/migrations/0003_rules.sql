-- Standing rules. `matter` is the digest of what a rule answers, `run` the run that it is confined to, `live` whether
-- it has not ended.

CREATE TABLE rules (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    matter TEXT NOT NULL,
    run TEXT,
    live INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX rules_of_matter ON rules (matter, position) WHERE live = 1;
CREATE INDEX rules_due ON rules (expires_at) WHERE live = 1;
CREATE INDEX rules_of_run ON rules (run) WHERE run IS NOT NULL;
