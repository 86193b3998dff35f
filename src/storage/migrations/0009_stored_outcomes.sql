-- Outcomes of requests with an `Idempotency-Key`, by gateway key and the hash of that header. Until the request has
-- ended, `status` is NULL and `expires_at` is the end of its claim, which its process renews. `blob` is the name of a
-- stored body that is too large for `body` (base64). All times are by the database's clock.
CREATE TABLE stored_outcomes (
  key_id TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  claim TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  status BIGINT,
  headers TEXT,
  body TEXT,
  blob TEXT,
  PRIMARY KEY (key_id, idempotency_key)
);
CREATE INDEX stored_outcomes_by_expiry ON stored_outcomes (expires_at);
