-- Each audit row carries the hash of the row before and its own; the revision row carries the hash of the last one.
ALTER TABLE audit ADD COLUMN source TEXT;
ALTER TABLE audit ADD COLUMN previous_hash TEXT;
ALTER TABLE audit ADD COLUMN hash TEXT;
ALTER TABLE revision ADD COLUMN audit_head TEXT;
