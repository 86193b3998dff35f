-- How serious what a rule has found is, and the event that a message tells of.
ALTER TABLE alert_events ADD COLUMN severity TEXT NOT NULL DEFAULT 'warning';
ALTER TABLE mails ADD COLUMN event_id TEXT;
ALTER TABLE webhook_deliveries ADD COLUMN event_id TEXT;
CREATE INDEX mails_by_event ON mails (event_id);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);

-- The body of messages about alerts, where an address takes another than the gateway's own.
ALTER TABLE webhook_endpoints ADD COLUMN template TEXT;
