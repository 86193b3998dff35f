-- Reason for the end of an event whose condition may last: its alert was `disabled` or `removed`. Null when the event
-- is open or its condition is over. This migration ends the open events of disabled alerts, at the last change of the
-- alert.
ALTER TABLE alert_events ADD COLUMN end_reason TEXT;
UPDATE alert_events SET end_reason = 'disabled', resolved_at = COALESCE(
    (SELECT MAX(at) FROM audit WHERE audit.kind = 'alert' AND audit.subject = alert_events.alert_id), fired_at)
  WHERE resolved_at IS NULL AND alert_id IN (SELECT id FROM alerts WHERE is_disabled = 1);
