-- Asynchronous image jobs. All times are by the database's clock. `stage` is the lower bound of the progress. Whoever
-- runs a job has its lease: `worker` until `lease_until`, and writes only while `fence` is what it was at its claim.
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
  idempotency_key TEXT,
  fingerprint TEXT
);
CREATE INDEX jobs_by_organization ON jobs (organization_id, created_at, id);
CREATE INDEX jobs_queued ON jobs (key_id, created_at, id) WHERE status = 'pending' AND lease_until IS NULL;
CREATE INDEX jobs_by_lease ON jobs (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX jobs_cancelling ON jobs (worker) WHERE is_cancel_requested = 1 AND lease_until IS NOT NULL;
CREATE INDEX jobs_by_deadline ON jobs (deadline_at) WHERE status = 'pending' AND lease_until IS NULL;
CREATE INDEX jobs_completed ON jobs (created_at) WHERE status = 'completed';
CREATE INDEX jobs_by_creation ON jobs (created_at);
CREATE UNIQUE INDEX jobs_by_idempotency_key ON jobs (key_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- What a live job needs to run, removed with its end: the caller's request, the terms it was admitted on, and where it
-- was sent with the ids of the vendor's own jobs.
CREATE TABLE job_requests (
  job_id TEXT NOT NULL PRIMARY KEY,
  terms TEXT NOT NULL,
  sent TEXT,
  request TEXT NOT NULL
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
