-- Whole numbers, money (nano-units) and booleans (0, 1) are BIGINT, times are Unix milliseconds, and composite values
-- are JSON in TEXT. SQLite and PostgreSQL both accept these statements.

-- One row: the number of the last administrative change, and the hash of the last audit row.
CREATE TABLE revision (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  value BIGINT NOT NULL,
  audit_head TEXT
);
INSERT INTO revision (id, value) VALUES (1, 0);

-- Each row has its own hash and the hash of the previous row. `organization_id` is the organization of the changed row,
-- so that its members see the change; null for the installation. The hash does not cover `organization_id`.
CREATE TABLE audit (
  revision BIGINT NOT NULL PRIMARY KEY,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  source TEXT,
  kind TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  organization_id TEXT,
  before_change TEXT,
  after_change TEXT,
  previous_hash TEXT,
  hash TEXT
);
CREATE INDEX audit_by_organization ON audit (organization_id, revision);

CREATE TABLE organizations (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  currency TEXT NOT NULL,
  is_disabled BIGINT NOT NULL,
  models TEXT NOT NULL,
  settings TEXT NOT NULL,
  limits TEXT NOT NULL,
  routes TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL
);

-- The row of a deleted key stays, so that entries of the ledger can be shown with its name.
CREATE TABLE api_keys (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  name TEXT NOT NULL,
  hint TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  models TEXT NOT NULL,
  addresses TEXT,
  limits TEXT NOT NULL,
  is_disabled BIGINT NOT NULL,
  refuse_ignored BIGINT NOT NULL,
  expires_at BIGINT,
  created_at BIGINT NOT NULL,
  deleted_at BIGINT,
  revision BIGINT NOT NULL
);
CREATE INDEX api_keys_by_revision ON api_keys (revision);
CREATE INDEX api_keys_by_organization ON api_keys (organization_id, created_at);

-- Earlier secrets of rotated keys, and all secrets of deleted keys. A secret is refused from its `expires_at` on.
CREATE TABLE retired_secrets (
  hash TEXT NOT NULL PRIMARY KEY,
  key_id TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX retired_secrets_by_key ON retired_secrets (key_id);

-- A row without `effective_until` has no end.
CREATE TABLE prices (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT,
  model TEXT NOT NULL,
  currency TEXT NOT NULL,
  price TEXT NOT NULL,
  effective_from BIGINT NOT NULL,
  effective_until BIGINT,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL
);

-- Channels and models that were added by administration, in the form of the configuration file; secrets are sealed.
CREATE TABLE configuration (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  PRIMARY KEY (kind, id)
);

-- Secrets that every process on this database needs, such as the secret that signs links. Older secrets stay, to verify
-- links.
CREATE TABLE shared_secrets (
  purpose TEXT NOT NULL,
  place BIGINT NOT NULL,
  secret TEXT NOT NULL,
  PRIMARY KEY (purpose, place)
);

-- Gateway processes that serve requests, and the time by the database's clock at which each was last alive. Rows of
-- ended processes are removed.
CREATE TABLE processes (
  id TEXT NOT NULL PRIMARY KEY,
  alive_at BIGINT NOT NULL
);

-- Members with a role in some organizations or in all. An empty password hash means that the member has no password and
-- can sign in only at an identity provider.
CREATE TABLE administrators (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  email TEXT,
  role TEXT NOT NULL DEFAULT 'owner',
  organizations TEXT NOT NULL DEFAULT '"*"',
  is_disabled BIGINT NOT NULL DEFAULT 0,
  password_hash TEXT NOT NULL,
  must_change_password BIGINT NOT NULL DEFAULT 0,
  totp TEXT,
  identity TEXT,
  last_seen_at BIGINT,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL
);
CREATE UNIQUE INDEX administrators_by_email ON administrators (email);
CREATE UNIQUE INDEX administrators_by_identity ON administrators (identity);

-- Sessions of the console. Only the hash of a session's token is kept; sessions are listed and removed by `id`.
CREATE TABLE sessions (
  hash TEXT NOT NULL PRIMARY KEY,
  id TEXT NOT NULL DEFAULT '',
  administrator_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  address TEXT NOT NULL,
  agent TEXT NOT NULL
);
CREATE INDEX sessions_by_administrator ON sessions (administrator_id);

-- Bearer tokens of the administrative interface; only their hashes and first characters (`hint`) are kept.
CREATE TABLE admin_tokens (
  id TEXT NOT NULL PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  name TEXT NOT NULL,
  administrator_id TEXT NOT NULL,
  role TEXT NOT NULL,
  organizations TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  last_used_at BIGINT,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL
);
CREATE INDEX admin_tokens_by_administrator ON admin_tokens (administrator_id);

-- Sign-in attempts of an account, a network, a session or a browser within a window of time.
CREATE TABLE sign_in_attempts (
  subject TEXT NOT NULL PRIMARY KEY,
  count BIGINT NOT NULL,
  ends_at BIGINT NOT NULL
);
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (ends_at);

-- `wanted_until`: time by the database's clock until which the budget counts as wanted, because a process needs money
-- that other processes hold. Every process looks for wanted budgets regularly. The index makes this cheap, because few
-- budgets are wanted at the same time.
CREATE TABLE budgets (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  key_id TEXT,
  amount BIGINT NOT NULL CHECK (amount >= 0),
  period TEXT NOT NULL CHECK (period IN ('total', 'day', 'month')),
  spent BIGINT NOT NULL,
  held BIGINT NOT NULL CHECK (held >= 0),
  period_start BIGINT NOT NULL,
  wanted_until BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL
);
CREATE INDEX budgets_by_wanted ON budgets (wanted_until);

-- The parts of budgets that processes and jobs may spend. `drawn` is the amount that a lease has taken from its budget,
-- minus the amount that was given back. `amount` is always `drawn` minus the posted charges, so a process that missed
-- the response to a take can compute what the response contained.
CREATE TABLE leases (
  lease TEXT NOT NULL,
  budget TEXT NOT NULL,
  amount BIGINT NOT NULL CHECK (amount >= 0),
  drawn BIGINT NOT NULL DEFAULT 0,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (lease, budget)
);
CREATE INDEX leases_by_expiry ON leases (expires_at);

-- `admitted_at`: time that decides the price of a request. `corrects`: the charge that a refund or adjustment corrects.
-- `vendor_cost`: the cost that a vendor reports, for the operator's margin. `source`: the sender of a request that the
-- holder of its key did not send, as `playground/` and a member's name. `client`: the program that sent the request,
-- from a fixed list. `sequence` grows in the order in which entries become readable; entries of one transaction have
-- the same number.
CREATE TABLE ledger (
  id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('charge', 'refund', 'adjustment')),
  request_id TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  source TEXT,
  client TEXT,
  model TEXT NOT NULL,
  channel TEXT,
  upstream_model TEXT,
  at BIGINT NOT NULL,
  admitted_at BIGINT,
  consumed TEXT,
  amount BIGINT NOT NULL CHECK (amount >= 0 OR kind IN ('refund', 'adjustment')),
  currency TEXT NOT NULL,
  price_source TEXT NOT NULL,
  orphan_cost BIGINT NOT NULL CHECK (orphan_cost >= 0),
  vendor_cost BIGINT,
  vendor_cost_currency TEXT,
  budgets TEXT NOT NULL,
  attempts TEXT NOT NULL,
  flags TEXT NOT NULL,
  corrects TEXT,
  sequence BIGINT,
  PRIMARY KEY (id, kind)
);
CREATE INDEX ledger_by_organization ON ledger (organization_id, at);
-- The ledger is read newest first, as a whole or by key, and looked up by the caller's request id.
CREATE INDEX ledger_by_time ON ledger (at, id);
CREATE INDEX ledger_by_key ON ledger (key_id, at);
CREATE INDEX ledger_by_request ON ledger (request_id);
CREATE INDEX ledger_by_corrected ON ledger (corrects) WHERE corrects IS NOT NULL;
CREATE INDEX ledger_by_sequence ON ledger (sequence) WHERE sequence IS NOT NULL;

-- The budgets on which an entry is booked, so that the spent amount of a budget can be computed from its bookings.
-- `period_start` is the start of the period in which a booking counts; 0 when that period was over, null for archived
-- bookings.
CREATE TABLE ledger_bookings (
  budget TEXT NOT NULL,
  entry TEXT NOT NULL,
  kind TEXT NOT NULL,
  amount BIGINT NOT NULL,
  period_start BIGINT,
  PRIMARY KEY (budget, entry, kind)
);

-- One row: the time of the last verification of the ledger, and the number of differences within the database.
CREATE TABLE ledger_verification (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  at BIGINT NOT NULL,
  differences BIGINT NOT NULL
);

-- One row: the highest number up to which a reader was promised to know all entries. Later entries get higher numbers.
CREATE TABLE ledger_sequence (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  promised BIGINT NOT NULL
);
INSERT INTO ledger_sequence (id, promised) VALUES (1, 0);

-- One row: the id of this ledger, which only its copies share. The first process derives it from the time of the first
-- migration.
CREATE TABLE ledger_identity (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  ledger TEXT NOT NULL
);

-- The number of the last posted batch of each process's journal, written after the batch, and the time of writing by
-- the database's clock. A process that finds a lower number than its own knows that the database has gone back to an
-- earlier state.
CREATE TABLE journal_marks (
  process_id TEXT NOT NULL PRIMARY KEY,
  posted BIGINT NOT NULL,
  at BIGINT NOT NULL
);

-- Sums of ledger entries by minute, for short ranges; they are kept for two days.
CREATE TABLE usage_minutes (
  at BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  source TEXT NOT NULL,
  client TEXT NOT NULL,
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
  PRIMARY KEY (at, organization_id, key_id, model, channel, source, client, currency)
) /* on SQLite: WITHOUT ROWID */;

-- Sums of ledger entries by hour, day and month in UTC, written in the transactions of the entries. `at` is the start.
-- `channel`, `source` and `client` are empty where an entry has none. `vendor_cost` is in `currency`; `costed` is the
-- amount charged for the work whose vendor cost is known. Money is NUMERIC, because no sum may refuse an entry.
CREATE TABLE usage_hours (
  at BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  source TEXT NOT NULL,
  client TEXT NOT NULL,
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
  PRIMARY KEY (at, organization_id, key_id, model, channel, source, client, currency)
) /* on SQLite: WITHOUT ROWID */;

CREATE TABLE usage_days (
  at BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  source TEXT NOT NULL,
  client TEXT NOT NULL,
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
  PRIMARY KEY (at, organization_id, key_id, model, channel, source, client, currency)
) /* on SQLite: WITHOUT ROWID */;

CREATE TABLE usage_months (
  at BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  source TEXT NOT NULL,
  client TEXT NOT NULL,
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
  PRIMARY KEY (at, organization_id, key_id, model, channel, source, client, currency)
) /* on SQLite: WITHOUT ROWID */;

-- Counts of requests by minute, hour, day and month. A name is empty for a request without it; only failed requests
-- have a key. `status` is the first digit of the status, and `code` the error code of a failed request. Rows of the
-- route `attempt` count calls to vendors. `d0` counts durations up to 5 ms, each of `d1` to `d16` durations up to twice
-- the bound of the previous column, and `d17` longer durations.
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

-- By default, only requests that failed, took several attempts or were slow; other requests are only in the ledger.
-- `id` is the gateway's id of the request and of its ledger entry.
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
  source TEXT,
  model TEXT,
  channel TEXT,
  status BIGINT NOT NULL,
  code TEXT,
  message TEXT,
  cause TEXT,
  -- The name that a caller requested, when the request could not use a model of this name.
  asked_model TEXT,
  -- The program that called, as it named itself.
  client TEXT,
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

-- Delivered pictures, as long as their files are stored.
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

-- Prompts and replies of the organizations that log them, until `expires_at`. `id` is the id of the request.
CREATE TABLE prompts (
  id TEXT NOT NULL PRIMARY KEY,
  at BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT,
  prompt TEXT NOT NULL,
  reply TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX prompts_by_expiry ON prompts (expires_at);

-- Outcomes of requests with an `Idempotency-Key`, by the hash of that header and by gateway key. For a member's
-- request, `key_id` is the member's id. Until the request has ended, `status` is NULL and `expires_at` is the end of
-- its claim, which its process renews. `blob` is the name of a stored body that is too large for `body` (base64).
-- `organization_id` is NULL for requests of members; `bytes` is the size of the body, which is limited for each
-- organization, and 0 when the body is not stored. All times are by the database's clock.
CREATE TABLE stored_outcomes (
  key_id TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  organization_id TEXT,
  fingerprint TEXT NOT NULL,
  claim TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  status BIGINT,
  headers TEXT,
  body TEXT,
  blob TEXT,
  bytes BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (key_id, idempotency_key)
);
CREATE INDEX stored_outcomes_by_expiry ON stored_outcomes (expires_at);
CREATE INDEX stored_outcomes_by_size ON stored_outcomes (organization_id, expires_at, bytes);

-- Asynchronous image jobs. All times are by the database's clock. `stage` is the lower bound of the progress. `worker`
-- has the lease of the job until `lease_until`, and writes only while `fence` has the value of its claim. `link_base`
-- is the base address of links in messages about the job, taken from its submission.
CREATE TABLE jobs (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  model TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'completed', 'failed', 'cancelled', 'expired')),
  stage BIGINT NOT NULL,
  typical_ms BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  deadline_at BIGINT NOT NULL,
  claimed_at BIGINT,
  started_at BIGINT,
  ended_at BIGINT,
  fence BIGINT NOT NULL,
  worker TEXT,
  lease_until BIGINT,
  is_cancel_requested BIGINT NOT NULL,
  outputs TEXT NOT NULL,
  error TEXT,
  webhook_url TEXT,
  link_base TEXT,
  idempotency_key TEXT,
  fingerprint TEXT
);
CREATE INDEX jobs_by_organization ON jobs (organization_id, created_at, id);
-- Makes lists by status as quick as lists of all jobs.
CREATE INDEX jobs_by_status ON jobs (organization_id, status, created_at, id);
CREATE INDEX jobs_queued ON jobs (key_id, created_at, id) WHERE status = 'pending' AND lease_until IS NULL;
CREATE INDEX jobs_by_lease ON jobs (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX jobs_cancelling ON jobs (worker) WHERE is_cancel_requested = 1 AND lease_until IS NOT NULL;
CREATE INDEX jobs_by_deadline ON jobs (deadline_at) WHERE status = 'pending' AND lease_until IS NULL;
CREATE INDEX jobs_completed ON jobs (created_at) WHERE status = 'completed';
CREATE INDEX jobs_by_creation ON jobs (created_at);
CREATE UNIQUE INDEX jobs_by_idempotency_key ON jobs (key_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- The part of an unfinished job that only its worker needs; the row is removed when the job ends. `request` is the
-- caller's request, `files` the names of its stored files, and `terms` the terms of its admission. `sent` is the target
-- to which the job was sent, with the ids of the vendor's own jobs.
CREATE TABLE job_requests (
  job_id TEXT NOT NULL PRIMARY KEY,
  terms TEXT NOT NULL,
  sent TEXT,
  request TEXT NOT NULL,
  files TEXT
);

-- Organizations and keys with jobs: the numbers of waiting and running jobs, and the turn in which each was last
-- served.
CREATE TABLE job_owners (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  queued BIGINT NOT NULL CHECK (queued >= 0),
  running BIGINT NOT NULL CHECK (running >= 0),
  turn BIGINT NOT NULL,
  running_limit BIGINT
);
CREATE INDEX job_owners_by_turn ON job_owners (turn);
CREATE INDEX job_owners_by_organization ON job_owners (organization_id);

-- Addresses that get messages about ended jobs and about alerts. An organization's row without an address has the
-- secret that signs messages to the addresses in jobs. Until `previous_until`, the previous secret also signs.
CREATE TABLE webhook_endpoints (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  url TEXT,
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_until BIGINT,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL
);
CREATE INDEX webhook_endpoints_by_organization ON webhook_endpoints (organization_id);

-- One message to one address, and the state of its delivery. `next_at` is the time of the next attempt; a sender that
-- takes a message moves this time ahead, so that another attempt follows if the sender's process ends. `content` is the
-- data, as JSON, of a message that is not about a job; `job_id` is then empty.
CREATE TABLE webhook_deliveries (
  id TEXT NOT NULL PRIMARY KEY,
  endpoint_id TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  event TEXT NOT NULL,
  -- The event of an alert that the message is about.
  event_id TEXT,
  url TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'delivered', 'failed')),
  attempts BIGINT NOT NULL,
  next_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  last_result TEXT,
  content TEXT
);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE status = 'waiting';
CREATE INDEX webhook_deliveries_by_organization ON webhook_deliveries (organization_id, created_at);
CREATE INDEX webhook_deliveries_by_creation ON webhook_deliveries (created_at);

-- Rules of alerts. An empty `organization_id` means the installation. `settings` and `emails` are JSON.
CREATE TABLE alerts (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  name TEXT NOT NULL,
  settings TEXT NOT NULL,
  emails TEXT NOT NULL,
  uses_webhooks BIGINT NOT NULL,
  is_disabled BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL
);
CREATE INDEX alerts_by_organization ON alerts (organization_id, created_at, id);

-- Events that rules have found. A `condition` of a rule has at most one open event.
CREATE TABLE alert_events (
  id TEXT NOT NULL PRIMARY KEY,
  alert_id TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  alert_name TEXT NOT NULL,
  kind TEXT NOT NULL,
  condition TEXT NOT NULL,
  severity TEXT NOT NULL,
  subject TEXT NOT NULL,
  message TEXT NOT NULL,
  fired_at BIGINT NOT NULL,
  resolved_at BIGINT
);
CREATE UNIQUE INDEX alert_events_open ON alert_events (alert_id, condition) WHERE resolved_at IS NULL;
CREATE INDEX alert_events_by_organization ON alert_events (organization_id, fired_at, id);

-- Targets that processes have taken out of service. An empty `organization_id` means all organizations.
CREATE TABLE ejected_targets (
  process_id TEXT NOT NULL,
  target TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  since BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (process_id, target, organization_id)
);

-- One row: the process that evaluates the rules, and the end of its turn.
CREATE TABLE alert_turn (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  process_id TEXT NOT NULL,
  until_time BIGINT NOT NULL
);
INSERT INTO alert_turn (id, process_id, until_time) VALUES (1, '', 0);

-- Mails to send. Sent and failed mails stay for a while. `organization_id` is the organization of the rule.
CREATE TABLE mails (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT,
  recipient TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  event_id TEXT,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'sent', 'failed')),
  attempts BIGINT NOT NULL,
  next_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  last_result TEXT
);
CREATE INDEX mails_by_event ON mails (event_id);
CREATE INDEX mails_due ON mails (next_at) WHERE status = 'waiting';
CREATE INDEX mails_by_creation ON mails (created_at);
