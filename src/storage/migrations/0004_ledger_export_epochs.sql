-- `epoch` is part of the names of the files that a process begins while it keeps the right to write. It is the time at
-- which the process took this right, or more, so that it is above all earlier epochs. `exported_epoch` is the epoch of
-- the last file; `writing_epoch` and `writing_format` belong to the file that is being written.
ALTER TABLE ledger_exports ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ledger_exports ADD COLUMN exported_epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ledger_exports ADD COLUMN writing_epoch BIGINT;
ALTER TABLE ledger_exports ADD COLUMN writing_format TEXT;
