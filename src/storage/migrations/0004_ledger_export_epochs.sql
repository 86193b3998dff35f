-- `epoch` is in the names of the files that are begun while one process keeps the turn: the time at which it took it, and
-- above all epochs before. `exported_epoch` is that of the last file, and `writing_epoch` that of the one that is being
-- written, in `writing_format`.
ALTER TABLE ledger_exports ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ledger_exports ADD COLUMN exported_epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ledger_exports ADD COLUMN writing_epoch BIGINT;
ALTER TABLE ledger_exports ADD COLUMN writing_format TEXT;
