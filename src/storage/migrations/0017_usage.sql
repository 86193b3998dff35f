-- Sums of ledger entries by hour, day and month (UTC, Unix milliseconds of the start), written in the transactions of the
-- entries. `channel` is empty where an entry has none. `vendor_cost` is in `currency`; `costed` is what was charged for
-- the work that it is known of. Money is NUMERIC because no sum may refuse an entry.
CREATE TABLE usage_hours (
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

CREATE TABLE usage_days (
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

CREATE TABLE usage_months (
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

-- 1 of an entry that was added to the sums when it was written. Entries of earlier versions have none: they are added
-- in the background, in the order of (at, id, kind). The one row is the position reached and the time it goes up to.
ALTER TABLE ledger ADD COLUMN is_summed BIGINT;
CREATE TABLE usage_backfill (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  at BIGINT NOT NULL,
  entry TEXT NOT NULL,
  kind TEXT NOT NULL,
  until_time BIGINT NOT NULL,
  is_complete BIGINT NOT NULL
);
INSERT INTO usage_backfill SELECT 1, 0, '', '', 0, CASE WHEN EXISTS (SELECT 1 FROM ledger) THEN 0 ELSE 1 END;

-- Requests as the processes saw them, by minute, hour, day and month. Empty is none; only
-- requests that failed have a key, and in minutes none. `status` is the first digit; `code` of
-- those that failed. A row of the route `attempt` counts calls to vendors. `d0` to `d16` count durations up to 5 ms,
-- each bound twice the one before, and `d17` the rest.
CREATE TABLE traffic_minutes (
  at BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  route TEXT NOT NULL,
  status BIGINT NOT NULL,
  code TEXT NOT NULL,
  requests BIGINT NOT NULL,
  d0 BIGINT NOT NULL,
  d1 BIGINT NOT NULL,
  d2 BIGINT NOT NULL,
  d3 BIGINT NOT NULL,
  d4 BIGINT NOT NULL,
  d5 BIGINT NOT NULL,
  d6 BIGINT NOT NULL,
  d7 BIGINT NOT NULL,
  d8 BIGINT NOT NULL,
  d9 BIGINT NOT NULL,
  d10 BIGINT NOT NULL,
  d11 BIGINT NOT NULL,
  d12 BIGINT NOT NULL,
  d13 BIGINT NOT NULL,
  d14 BIGINT NOT NULL,
  d15 BIGINT NOT NULL,
  d16 BIGINT NOT NULL,
  d17 BIGINT NOT NULL,
  PRIMARY KEY (at, organization_id, key_id, model, channel, route, status, code)
) /* on SQLite: WITHOUT ROWID */;
CREATE TABLE traffic_hours (
  at BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  route TEXT NOT NULL,
  status BIGINT NOT NULL,
  code TEXT NOT NULL,
  requests BIGINT NOT NULL,
  d0 BIGINT NOT NULL,
  d1 BIGINT NOT NULL,
  d2 BIGINT NOT NULL,
  d3 BIGINT NOT NULL,
  d4 BIGINT NOT NULL,
  d5 BIGINT NOT NULL,
  d6 BIGINT NOT NULL,
  d7 BIGINT NOT NULL,
  d8 BIGINT NOT NULL,
  d9 BIGINT NOT NULL,
  d10 BIGINT NOT NULL,
  d11 BIGINT NOT NULL,
  d12 BIGINT NOT NULL,
  d13 BIGINT NOT NULL,
  d14 BIGINT NOT NULL,
  d15 BIGINT NOT NULL,
  d16 BIGINT NOT NULL,
  d17 BIGINT NOT NULL,
  PRIMARY KEY (at, organization_id, key_id, model, channel, route, status, code)
) /* on SQLite: WITHOUT ROWID */;
CREATE TABLE traffic_days (
  at BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  route TEXT NOT NULL,
  status BIGINT NOT NULL,
  code TEXT NOT NULL,
  requests BIGINT NOT NULL,
  d0 BIGINT NOT NULL,
  d1 BIGINT NOT NULL,
  d2 BIGINT NOT NULL,
  d3 BIGINT NOT NULL,
  d4 BIGINT NOT NULL,
  d5 BIGINT NOT NULL,
  d6 BIGINT NOT NULL,
  d7 BIGINT NOT NULL,
  d8 BIGINT NOT NULL,
  d9 BIGINT NOT NULL,
  d10 BIGINT NOT NULL,
  d11 BIGINT NOT NULL,
  d12 BIGINT NOT NULL,
  d13 BIGINT NOT NULL,
  d14 BIGINT NOT NULL,
  d15 BIGINT NOT NULL,
  d16 BIGINT NOT NULL,
  d17 BIGINT NOT NULL,
  PRIMARY KEY (at, organization_id, key_id, model, channel, route, status, code)
) /* on SQLite: WITHOUT ROWID */;

CREATE TABLE traffic_months (
  at BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  route TEXT NOT NULL,
  status BIGINT NOT NULL,
  code TEXT NOT NULL,
  requests BIGINT NOT NULL,
  d0 BIGINT NOT NULL,
  d1 BIGINT NOT NULL,
  d2 BIGINT NOT NULL,
  d3 BIGINT NOT NULL,
  d4 BIGINT NOT NULL,
  d5 BIGINT NOT NULL,
  d6 BIGINT NOT NULL,
  d7 BIGINT NOT NULL,
  d8 BIGINT NOT NULL,
  d9 BIGINT NOT NULL,
  d10 BIGINT NOT NULL,
  d11 BIGINT NOT NULL,
  d12 BIGINT NOT NULL,
  d13 BIGINT NOT NULL,
  d14 BIGINT NOT NULL,
  d15 BIGINT NOT NULL,
  d16 BIGINT NOT NULL,
  d17 BIGINT NOT NULL,
  PRIMARY KEY (at, organization_id, key_id, model, channel, route, status, code)
) /* on SQLite: WITHOUT ROWID */;
-- Requests that failed, took several attempts or were slow; of the others only the ledger knows. `id` is the gateway's
-- own and that of the ledger entry.
CREATE TABLE request_log (
  id TEXT NOT NULL PRIMARY KEY,
  request_id TEXT NOT NULL,
  trace_id TEXT,
  at BIGINT NOT NULL,
  route TEXT NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  address TEXT,
  organization_id TEXT,
  key_id TEXT,
  model TEXT,
  channel TEXT,
  status BIGINT NOT NULL,
  code TEXT,
  message TEXT,
  cause TEXT,
  duration_ms BIGINT NOT NULL,
  first_byte_ms BIGINT,
  is_stream BIGINT NOT NULL,
  is_failed BIGINT NOT NULL,
  is_charged BIGINT NOT NULL,
  attempts TEXT NOT NULL
);
CREATE INDEX request_log_by_time ON request_log (at, id);
CREATE INDEX request_log_by_organization ON request_log (organization_id, at, id);
CREATE INDEX request_log_by_key ON request_log (key_id, at, id);
CREATE INDEX request_log_by_request ON request_log (request_id);

-- Delivered pictures that are stored, until the stored file goes.
CREATE TABLE pictures (
  name TEXT NOT NULL PRIMARY KEY,
  at BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  request_id TEXT NOT NULL,
  ledger_id TEXT NOT NULL,
  width BIGINT NOT NULL,
  height BIGINT NOT NULL,
  format TEXT NOT NULL,
  bytes BIGINT NOT NULL
);
CREATE INDEX pictures_by_time ON pictures (at, name);
CREATE INDEX pictures_by_organization ON pictures (organization_id, at, name);
