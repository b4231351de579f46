-- The rows and the audit are bound to each other.

-- A digest of a row's text, and a check of all its columns with it. Rows of the time before have none.
ALTER TABLE interrupts ADD COLUMN seal BLOB;
ALTER TABLE joined ADD COLUMN seal BLOB;
ALTER TABLE reroutes ADD COLUMN seal BLOB;
ALTER TABLE slots ADD COLUMN seal BLOB;
ALTER TABLE runs ADD COLUMN seal BLOB;
ALTER TABLE nodes ADD COLUMN seal BLOB;
ALTER TABLE messages ADD COLUMN seal BLOB;
ALTER TABLE journal ADD COLUMN seal BLOB;
ALTER TABLE checkpoints ADD COLUMN seal BLOB;
ALTER TABLE tokens ADD COLUMN seal BLOB;
ALTER TABLE rules ADD COLUMN seal BLOB;
ALTER TABLE outbox ADD COLUMN seal BLOB;

-- What purged runs leave of the journal: the digest of each intent by its position, of each result by its count.
CREATE TABLE purged (
    result INTEGER NOT NULL,
    place INTEGER NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (result, place)
) STRICT, WITHOUT ROWID;

-- Which store it is: a head of its audit that is kept elsewhere names it.
CREATE TABLE store (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL
) STRICT;
INSERT INTO store (id, name) VALUES (1, lower(hex(randomblob(16))));

-- A process of an older version would change texts and leave their seals. What each transaction of it writes is refused.
CREATE TRIGGER outbox_sealed BEFORE INSERT ON outbox WHEN NEW.seal IS NULL
BEGIN SELECT RAISE(ABORT, 'a newer irq has the store: end this process'); END;
CREATE TRIGGER interrupts_sealed BEFORE UPDATE ON interrupts WHEN NEW.seal IS OLD.seal AND NEW.body IS NOT OLD.body
BEGIN SELECT RAISE(ABORT, 'a newer irq has the store: end this process'); END;
CREATE TRIGGER runs_sealed BEFORE UPDATE ON runs WHEN NEW.seal IS OLD.seal AND NEW.body IS NOT OLD.body
BEGIN SELECT RAISE(ABORT, 'a newer irq has the store: end this process'); END;
CREATE TRIGGER nodes_sealed BEFORE UPDATE ON nodes WHEN NEW.seal IS OLD.seal AND NEW.body IS NOT OLD.body
BEGIN SELECT RAISE(ABORT, 'a newer irq has the store: end this process'); END;
CREATE TRIGGER messages_sealed BEFORE UPDATE ON messages WHEN NEW.seal IS OLD.seal AND NEW.body IS NOT OLD.body
BEGIN SELECT RAISE(ABORT, 'a newer irq has the store: end this process'); END;
CREATE TRIGGER slots_sealed BEFORE UPDATE ON slots WHEN NEW.seal IS OLD.seal AND NEW.body IS NOT OLD.body
BEGIN SELECT RAISE(ABORT, 'a newer irq has the store: end this process'); END;
CREATE TRIGGER tokens_sealed BEFORE UPDATE ON tokens WHEN NEW.seal IS OLD.seal AND NEW.body IS NOT OLD.body
BEGIN SELECT RAISE(ABORT, 'a newer irq has the store: end this process'); END;
CREATE TRIGGER journal_sealed BEFORE UPDATE ON journal WHEN NEW.seal IS OLD.seal AND NEW.body IS NOT OLD.body
BEGIN SELECT RAISE(ABORT, 'a newer irq has the store: end this process'); END;
