-- Sums of ledger entries by minute, for the ranges of a day and less; they are kept for two days. Those of hours, days
-- and months have the same columns. From here on the minutes of traffic, too, have the keys of requests that failed.
CREATE TABLE usage_minutes (
  at BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  currency TEXT NOT NULL,
  requests BIGINT NOT NULL,
  images BIGINT NOT NULL,
  tokens BIGINT NOT NULL,
  input BIGINT NOT NULL,
  cache_read BIGINT NOT NULL,
  cache_write BIGINT NOT NULL,
  cache_write_1h BIGINT NOT NULL,
  output BIGINT NOT NULL,
  reasoning BIGINT NOT NULL,
  image_input BIGINT NOT NULL,
  image_output BIGINT NOT NULL,
  amount NUMERIC NOT NULL,
  orphan_cost NUMERIC NOT NULL,
  vendor_cost NUMERIC NOT NULL,
  costed NUMERIC NOT NULL,
  PRIMARY KEY (at, organization_id, key_id, model, channel, currency)
) /* on SQLite: WITHOUT ROWID */;
