-- What waits for a person, in the order of an inbox, and for whom: counted, and found part by part, from the index alone.
-- A damaged text has none of it: it is found by its seal when the row is read.
ALTER TABLE interrupts ADD COLUMN priority INTEGER GENERATED ALWAYS AS (CASE WHEN state = 'awaiting_review' THEN
    CASE CASE WHEN json_valid(body) THEN json_extract(body, '$.source') END
    WHEN 'user' THEN 0 WHEN 'programmatic' THEN 10 ELSE 20 END END) VIRTUAL;
ALTER TABLE interrupts ADD COLUMN assignee TEXT GENERATED ALWAYS AS
    (CASE WHEN state = 'awaiting_review' AND json_valid(body) THEN json_extract(body, '$.review.assignee') END) VIRTUAL;
ALTER TABLE interrupts ADD COLUMN claimed_by TEXT GENERATED ALWAYS AS
    (CASE WHEN state = 'awaiting_review' AND json_valid(body) THEN json_extract(body, '$.review.claim.by') END) VIRTUAL;
ALTER TABLE interrupts ADD COLUMN claimed_until TEXT GENERATED ALWAYS AS
    (CASE WHEN state = 'awaiting_review' AND json_valid(body) THEN rtrim(json_extract(body, '$.review.claim.until'), 'Z') END) VIRTUAL;
CREATE INDEX interrupts_waiting ON interrupts (priority, position, assignee, claimed_by, claimed_until)
    WHERE state = 'awaiting_review';
