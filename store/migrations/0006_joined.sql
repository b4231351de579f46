-- Requests with a key of their own that joined a stop under way: the key is that stop's from then on.

CREATE TABLE joined (
    key TEXT PRIMARY KEY,
    interrupt TEXT NOT NULL,
    digest TEXT NOT NULL,
    run TEXT NOT NULL
) STRICT;
CREATE INDEX joined_of_run ON joined (run);
