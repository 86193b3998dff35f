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

-- What a rule has found. One `condition` of a rule is open at most once.
CREATE TABLE alert_events (
  id TEXT NOT NULL PRIMARY KEY,
  alert_id TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  alert_name TEXT NOT NULL,
  kind TEXT NOT NULL,
  condition TEXT NOT NULL,
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

-- Mails to be sent; those sent or given up stay for a while.
CREATE TABLE mails (
  id TEXT NOT NULL PRIMARY KEY,
  recipient TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'sent', 'failed')),
  attempts BIGINT NOT NULL,
  next_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  last_result TEXT
);
CREATE INDEX mails_due ON mails (next_at) WHERE status = 'waiting';
CREATE INDEX mails_by_creation ON mails (created_at);

-- The data of a message that is not about a job, as JSON; its `job_id` is then empty.
ALTER TABLE webhook_deliveries ADD COLUMN content TEXT;
