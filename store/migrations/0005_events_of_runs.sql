-- What is told of a run is found without what is told of others between. A checkpoint names its run by itself.
ALTER TABLE outbox ADD COLUMN run TEXT GENERATED ALWAYS AS
    (COALESCE(json_extract(body, '$.run'), json_extract(body, '$.checkpoint.run'))) VIRTUAL;
CREATE INDEX outbox_of_run ON outbox (run, position) WHERE run IS NOT NULL;
