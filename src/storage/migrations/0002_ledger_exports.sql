-- The state of the export to a destination, which is a bucket and a prefix: the files contain all entries up to the
-- number `exported`. `writing` is the number of the last entry of a file that is being written; a process that
-- continues the export writes the same file again. `process_id` has the right to write until `until_time`.
CREATE TABLE ledger_exports (
  destination TEXT NOT NULL PRIMARY KEY,
  exported BIGINT NOT NULL,
  writing BIGINT,
  process_id TEXT NOT NULL,
  until_time BIGINT NOT NULL
);
