-- Whole numbers, money (nano-units) and truth values (0, 1) are BIGINT, times Unix milliseconds; composite values
-- are JSON in TEXT. The same words are understood by SQLite and PostgreSQL.

-- One row; every change of administration adds one to it. `audit_head` is the hash of the last audit row.
CREATE TABLE revision (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  value BIGINT NOT NULL,
  audit_head TEXT
);
INSERT INTO revision (id, value) VALUES (1, 0);

-- Each row carries the hash of the row before and its own. `organization_id` names the organization whose row a change
-- concerns, so that its members are shown that change; it is not part of the chain. Null is the installation.
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

-- A deleted key keeps its row, so that entries of the ledger can be told its name.
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

-- Earlier secrets of rotated and deleted keys. A secret is refused from its `expires_at` on.
CREATE TABLE retired_secrets (
  hash TEXT NOT NULL PRIMARY KEY,
  key_id TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX retired_secrets_by_key ON retired_secrets (key_id);

-- A row that was not ended by `effective_until` holds on.
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

-- Secrets that every process on this database needs, such as the one that signs links. Older ones stay to check.
CREATE TABLE shared_secrets (
  purpose TEXT NOT NULL,
  place BIGINT NOT NULL,
  secret TEXT NOT NULL,
  PRIMARY KEY (purpose, place)
);

-- Gateway processes that serve, and when each was last alive by the database's clock. Rows of ended ones are removed.
CREATE TABLE processes (
  id TEXT NOT NULL PRIMARY KEY,
  alive_at BIGINT NOT NULL
);

-- Members with a role in some organizations, or in all of them. An empty password hash is none: such a member signs in
-- at an identity provider.
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

-- Bearer tokens of the administrative interface; only their hashes are kept.
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

-- Sign-ins of an account or an address within a window of time.
CREATE TABLE sign_in_attempts (
  subject TEXT NOT NULL PRIMARY KEY,
  count BIGINT NOT NULL,
  ends_at BIGINT NOT NULL
);
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (ends_at);

-- `wanted_until`: until when, by the database's clock, some process misses money that others hold. Every process looks
-- for that four times a second: few rows, however many budgets there are.
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

-- Slices of budgets that running processes have taken ahead of need. `drawn` is what a process has drawn from a budget
-- for good: grants less what it gave back. `amount` is always `drawn` less the charges posted since, so a process that
-- missed an answer can find out what it was.
CREATE TABLE leases (
  lease TEXT NOT NULL,
  budget TEXT NOT NULL,
  amount BIGINT NOT NULL CHECK (amount >= 0),
  drawn BIGINT NOT NULL DEFAULT 0,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (lease, budget)
);
CREATE INDEX leases_by_expiry ON leases (expires_at);

-- Only ever inserted into. `admitted_at` is the moment whose price a request is charged by; `corrects` the charge that a
-- refund or an adjustment corrects; `vendor_cost` what a vendor says that its work has cost, for the operator's margin;
-- `source` who sent a request other than the holder of its key: `playground/` and a member's name; `client` the program that
-- sent it, of a fixed list. `sequence` grows in the order in which entries can be read, and is the same for those of one
-- transaction.
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
-- The ledger is read newest first, all of it or one key's, and looked up by the caller's request id.
CREATE INDEX ledger_by_time ON ledger (at, id);
CREATE INDEX ledger_by_key ON ledger (key_id, at);
CREATE INDEX ledger_by_request ON ledger (request_id);
CREATE INDEX ledger_by_corrected ON ledger (corrects) WHERE corrects IS NOT NULL;
CREATE INDEX ledger_by_sequence ON ledger (sequence) WHERE sequence IS NOT NULL;

-- The budgets that an entry was booked on, so that a budget can be added up from its entries. `period_start` is the start
-- of the budget's period that the booking counts in, 0 when that was over, null of archived bookings.
CREATE TABLE ledger_bookings (
  budget TEXT NOT NULL,
  entry TEXT NOT NULL,
  kind TEXT NOT NULL,
  amount BIGINT NOT NULL,
  period_start BIGINT,
  PRIMARY KEY (budget, entry, kind)
);

-- One row: when the ledger was last compared with budgets and journals, and how many differences there were.
CREATE TABLE ledger_verification (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  at BIGINT NOT NULL,
  differences BIGINT NOT NULL
);

-- One row: the highest number that a reader was promised to know all entries of. Later entries get higher ones.
CREATE TABLE ledger_sequence (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  promised BIGINT NOT NULL
);
INSERT INTO ledger_sequence (id, promised) VALUES (1, 0);

-- One row: the id of this ledger, which its copies share and no other ledger has. Derived from the first migration by the
-- first process.
CREATE TABLE ledger_identity (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  ledger TEXT NOT NULL
);

-- The number of the last batch that each process has posted of its journal, written after the batch, and when by the
-- database's clock. A process that finds less than it has posted knows that the database went back in time.
CREATE TABLE journal_marks (
  process_id TEXT NOT NULL PRIMARY KEY,
  posted BIGINT NOT NULL,
  at BIGINT NOT NULL
);

-- Sums of ledger entries by minute, for ranges of a day and less; they are kept for two days.
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

-- Sums of ledger entries by hour, day and month (UTC, Unix milliseconds of the start), written in the transactions of the
-- entries. `channel`, `source` and `client` are empty where an entry has none. `vendor_cost` is in `currency`; `costed` is what was charged for
-- the work that it is known of. Money is NUMERIC because no sum may refuse an entry.
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

-- Requests as the processes saw them, by minute, hour, day and month. Empty is none; only requests that failed have a
-- key, and in minutes none. `status` is the first digit; `code` of those that failed. A row of the route `attempt` counts
-- calls to vendors. `d0` to `d16` count durations up to 5 ms, each bound twice the one before, and `d17` the rest.
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
  source TEXT,
  model TEXT,
  channel TEXT,
  status BIGINT NOT NULL,
  code TEXT,
  message TEXT,
  cause TEXT,
  -- The name that a caller asked for where there is no such model.
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

-- Prompts and replies of organizations that have them logged, until `expires_at`. `id` is that of the request.
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

-- Outcomes of requests with an `Idempotency-Key`, by gateway key and the hash of that header. Until the request has
-- ended, `status` is NULL and `expires_at` is the end of its claim, which its process renews. `blob` is the name of a
-- stored body that is too large for `body` (base64). `organization_id` names whose outcome it is, NULL of members' acts;
-- `bytes` are those of its body, which are bounded for each organization, and 0 where it is not kept. All times are by
-- the database's clock.
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

-- Asynchronous image jobs. All times are by the database's clock. `stage` is the lower bound of the progress. Whoever
-- runs a job has its lease: `worker` until `lease_until`, and writes only while `fence` is what it was at its claim.
-- `link_base` is the base address of links in messages about the job: that of its submission.
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
-- Lists by state are as quick as those of all jobs.
CREATE INDEX jobs_by_status ON jobs (organization_id, status, created_at, id);
CREATE INDEX jobs_queued ON jobs (key_id, created_at, id) WHERE status = 'pending' AND lease_until IS NULL;
CREATE INDEX jobs_by_lease ON jobs (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX jobs_cancelling ON jobs (worker) WHERE is_cancel_requested = 1 AND lease_until IS NOT NULL;
CREATE INDEX jobs_by_deadline ON jobs (deadline_at) WHERE status = 'pending' AND lease_until IS NULL;
CREATE INDEX jobs_completed ON jobs (created_at) WHERE status = 'completed';
CREATE INDEX jobs_by_creation ON jobs (created_at);
CREATE UNIQUE INDEX jobs_by_idempotency_key ON jobs (key_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- The part of a live job that its worker needs, removed with its end: the caller's request with the names of its stored
-- files, the terms it was admitted on, and where it was sent with the ids of the vendor's own jobs.
CREATE TABLE job_requests (
  job_id TEXT NOT NULL PRIMARY KEY,
  terms TEXT NOT NULL,
  sent TEXT,
  request TEXT NOT NULL,
  files TEXT
);

-- Organizations and keys with jobs: how many wait and run, and the turn in which each was last served.
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

-- Addresses at which organizations are told of the ends of their jobs. The row without an address has the secret that
-- signs for the addresses that jobs name themselves. While `previous_until` lasts, the secret before signs, too.
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

-- One message to one address, and what became of it. `next_at` is when it is tried next; a sender that has just taken it
-- moves that ahead, so that it is tried again should the sender vanish. `content` is the data of a message that is not
-- about a job, as JSON; its `job_id` is then empty.
CREATE TABLE webhook_deliveries (
  id TEXT NOT NULL PRIMARY KEY,
  endpoint_id TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  event TEXT NOT NULL,
  -- Of an alert, whose message it is.
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

-- Rules by which an organization is told that something needs attention. `settings` and `emails` are JSON.
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

-- Findings of rules. One `condition` of a rule is open at most once.
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

-- Targets that processes hold out of service. Empty is every organization.
CREATE TABLE ejected_targets (
  process_id TEXT NOT NULL,
  target TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  since BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (process_id, target, organization_id)
);

-- One row: the process that compares the rules with what happens, until when.
CREATE TABLE alert_turn (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  process_id TEXT NOT NULL,
  until_time BIGINT NOT NULL
);
INSERT INTO alert_turn (id, process_id, until_time) VALUES (1, '', 0);

-- Mails to be sent; those sent or given up stay for a while. `organization_id` names whose rule a mail tells of.
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
