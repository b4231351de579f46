-- What waits for a person, in the order of an inbox, and for whom: counted, and found part by part, from the index alone.
ALTER TABLE interrupts
    ADD COLUMN priority BIGINT GENERATED ALWAYS AS (CASE WHEN state = 'awaiting_review' THEN
        CASE replace(body, '\u0000', '\u0001')::json ->> 'source' WHEN 'user' THEN 0 WHEN 'programmatic' THEN 10 ELSE 20 END END) STORED,
    ADD COLUMN assignee TEXT COLLATE "C" GENERATED ALWAYS AS
        (CASE WHEN state = 'awaiting_review' THEN replace(body, '\u0000', '\u0001')::json #>> '{review,assignee}' END) STORED,
    ADD COLUMN claimed_by TEXT COLLATE "C" GENERATED ALWAYS AS
        (CASE WHEN state = 'awaiting_review' THEN replace(body, '\u0000', '\u0001')::json #>> '{review,claim,by}' END) STORED,
    ADD COLUMN claimed_until TEXT COLLATE "C" GENERATED ALWAYS AS
        (CASE WHEN state = 'awaiting_review' THEN rtrim(replace(body, '\u0000', '\u0001')::json #>> '{review,claim,until}', 'Z') END) STORED;
CREATE INDEX interrupts_waiting ON interrupts (priority, position, assignee, claimed_by, claimed_until)
    WHERE state = 'awaiting_review';
