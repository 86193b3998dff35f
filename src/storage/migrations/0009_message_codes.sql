-- Code and figures of an event's message, from which the console makes the message in its language. Null for events that
-- an earlier version has found.
ALTER TABLE alert_events ADD COLUMN message_code TEXT;
ALTER TABLE alert_events ADD COLUMN figures TEXT NOT NULL DEFAULT '{}';
-- Code and figures of the results of mails and webhook messages.
ALTER TABLE mails ADD COLUMN result_code TEXT;
ALTER TABLE mails ADD COLUMN result_figures TEXT NOT NULL DEFAULT '{}';
ALTER TABLE webhook_deliveries ADD COLUMN result_code TEXT;
ALTER TABLE webhook_deliveries ADD COLUMN result_figures TEXT NOT NULL DEFAULT '{}';
