-- A text in a notice may have the character U+0000. Written as JSON it is `\u0000`, which the functions of PostgreSQL refuse
-- wherever in a document it is; for finding the run, another character does as well.
ALTER TABLE outbox DROP COLUMN run;
ALTER TABLE outbox ADD COLUMN run TEXT COLLATE "C" GENERATED ALWAYS AS
    (COALESCE(replace(body, '\u0000', '\u0001')::json ->> 'run',
        replace(body, '\u0000', '\u0001')::json #>> '{checkpoint,run}')) STORED;
CREATE INDEX outbox_of_run ON outbox (run, position) WHERE run IS NOT NULL;
