-- The number of the last batch that each process has posted of its journal, written after the batch, and when by the
-- database's clock. A process that finds less than it has posted knows that the database went back in time.
CREATE TABLE journal_marks (
  process_id TEXT NOT NULL PRIMARY KEY,
  posted BIGINT NOT NULL,
  at BIGINT NOT NULL
);

-- One row: the id of this ledger, which its copies share, also those from before this table, and no other ledger has.
-- Derived from the first migration by the first process.
CREATE TABLE ledger_identity (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  ledger TEXT NOT NULL
);
