-- Who sent a request other than the holder of its key: `playground/` and a member's name.
ALTER TABLE ledger ADD COLUMN source TEXT;
ALTER TABLE request_log ADD COLUMN source TEXT;
