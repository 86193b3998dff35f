-- Whole numbers, money (nano-units) and truth values (0, 1) are BIGINT, times Unix milliseconds; composite values
-- are JSON in TEXT. The same words are understood by SQLite and PostgreSQL.

-- One row; every change of administration adds one to it.
CREATE TABLE revision (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  value BIGINT NOT NULL
);
INSERT INTO revision (id, value) VALUES (1, 0);

CREATE TABLE audit (
  revision BIGINT NOT NULL PRIMARY KEY,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  kind TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  before_change TEXT,
  after_change TEXT
);

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
  expires_at BIGINT,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL
);
CREATE INDEX api_keys_by_revision ON api_keys (revision);
CREATE INDEX api_keys_by_organization ON api_keys (organization_id, created_at);

CREATE TABLE prices (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT,
  model TEXT NOT NULL,
  currency TEXT NOT NULL,
  price TEXT NOT NULL,
  effective_from BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL
);

CREATE TABLE budgets (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  key_id TEXT,
  amount BIGINT NOT NULL CHECK (amount >= 0),
  period TEXT NOT NULL CHECK (period IN ('total', 'day', 'month')),
  spent BIGINT NOT NULL,
  held BIGINT NOT NULL CHECK (held >= 0),
  period_start BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL
);

-- Slices of budgets that running processes have taken ahead of need.
CREATE TABLE leases (
  lease TEXT NOT NULL,
  budget TEXT NOT NULL,
  amount BIGINT NOT NULL CHECK (amount >= 0),
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (lease, budget)
);
CREATE INDEX leases_by_expiry ON leases (expires_at);

CREATE TABLE administrators (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL
);

-- Only ever inserted into.
CREATE TABLE ledger (
  id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('charge', 'refund', 'adjustment')),
  request_id TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT,
  upstream_model TEXT,
  at BIGINT NOT NULL,
  consumed TEXT,
  amount BIGINT NOT NULL CHECK (amount >= 0 OR kind IN ('refund', 'adjustment')),
  currency TEXT NOT NULL,
  price_source TEXT NOT NULL,
  orphan_cost BIGINT NOT NULL CHECK (orphan_cost >= 0),
  budgets TEXT NOT NULL,
  attempts TEXT NOT NULL,
  flags TEXT NOT NULL,
  PRIMARY KEY (id, kind)
);
CREATE INDEX ledger_by_organization ON ledger (organization_id, at);
CREATE INDEX ledger_by_request ON ledger (request_id);

-- Which budgets an entry was booked on, so that a budget can be added up from its entries.
CREATE TABLE ledger_bookings (
  budget TEXT NOT NULL,
  entry TEXT NOT NULL,
  kind TEXT NOT NULL,
  amount BIGINT NOT NULL,
  PRIMARY KEY (budget, entry, kind)
);
