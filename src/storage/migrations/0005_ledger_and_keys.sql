-- The ledger is read newest first, all of it or one key's, and looked up by the caller's request id.
CREATE INDEX ledger_by_time ON ledger (at, id);
CREATE INDEX ledger_by_key ON ledger (key_id, at);
CREATE INDEX ledger_by_request ON ledger (request_id);

-- Earlier secrets of rotated and deleted keys. A secret is refused from its `expires_at` on.
CREATE TABLE retired_secrets (
  hash TEXT NOT NULL PRIMARY KEY,
  key_id TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX retired_secrets_by_key ON retired_secrets (key_id);

-- A deleted key keeps its row, so that entries of the ledger can be told its name.
ALTER TABLE api_keys ADD COLUMN deleted_at BIGINT;

-- One row: when the ledger was last compared with budgets and journals, and how many differences there were.
CREATE TABLE ledger_verification (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  at BIGINT NOT NULL,
  differences BIGINT NOT NULL
);
