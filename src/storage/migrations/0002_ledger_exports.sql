-- How far the ledger has been exported to a destination, which is a bucket and a prefix: all entries up to the number
-- `exported` are in its files. `writing` is the last number of a file that is being written; whoever goes on writes the
-- same file again. `process_id` has the turn until `until_time`.
CREATE TABLE ledger_exports (
  destination TEXT NOT NULL PRIMARY KEY,
  exported BIGINT NOT NULL,
  writing BIGINT,
  process_id TEXT NOT NULL,
  until_time BIGINT NOT NULL
);
