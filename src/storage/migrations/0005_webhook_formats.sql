-- Format of the messages to an endpoint: `standard` is signed as Standard Webhooks prescribes; `slack` and `pagerduty`
-- get only alerts. `secret` is the routing key of a `pagerduty` endpoint, and empty for `slack`. An endpoint without an
-- organization gets the alerts of the installation.
ALTER TABLE webhook_endpoints ADD COLUMN format TEXT NOT NULL DEFAULT 'standard';
