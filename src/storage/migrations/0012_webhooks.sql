-- Where organizations are told of the ends of their jobs. The row without an address has the secret that signs for the
-- addresses that jobs name themselves. While `previous_until` lasts, the secret before signs, too.
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
-- moves that ahead, so that it is tried again should the sender vanish.
CREATE TABLE webhook_deliveries (
  id TEXT NOT NULL PRIMARY KEY,
  endpoint_id TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  event TEXT NOT NULL,
  url TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'delivered', 'failed')),
  attempts BIGINT NOT NULL,
  next_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  last_result TEXT
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE status = 'waiting';
CREATE INDEX webhook_deliveries_by_organization ON webhook_deliveries (organization_id, created_at);
CREATE INDEX webhook_deliveries_by_creation ON webhook_deliveries (created_at);

-- Lists by state are as quick as those of all jobs.
CREATE INDEX jobs_by_status ON jobs (organization_id, status, created_at, id);

-- Names of the stored files of a live job's request, to be removed with it.
ALTER TABLE job_requests ADD COLUMN files TEXT;

-- The base address of links in messages about the job: that of its submission.
ALTER TABLE jobs ADD COLUMN link_base TEXT;
