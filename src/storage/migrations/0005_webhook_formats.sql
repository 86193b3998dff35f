-- How messages to an endpoint are written: `standard` is signed as Standard Webhooks prescribes; `slack` and `pagerduty` are
-- told of alerts alone. `secret` is the routing key of a `pagerduty` endpoint, and empty for `slack`. An endpoint without an
-- organization is told of the alerts of the installation.
ALTER TABLE webhook_endpoints ADD COLUMN format TEXT NOT NULL DEFAULT 'standard';
