-- Catalogues of workflows. What was kept is never changed: a catalogue is named by the digest of its content.

CREATE TABLE catalogues (
    position INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    seal BLOB,
    content TEXT NOT NULL,
    UNIQUE (name, version)
) STRICT;
