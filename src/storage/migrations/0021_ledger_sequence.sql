-- A number that grows in the order in which entries can be read, the same for those of one transaction. Null of what earlier
-- versions have written.
ALTER TABLE ledger ADD COLUMN sequence BIGINT;
CREATE INDEX ledger_by_sequence ON ledger (sequence) WHERE sequence IS NOT NULL;

-- One row: the highest number that a reader was promised to know all entries of. Later entries get higher ones.
CREATE TABLE ledger_sequence (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  promised BIGINT NOT NULL
);
INSERT INTO ledger_sequence (id, promised) VALUES (1, 0);
