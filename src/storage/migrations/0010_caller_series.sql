-- Sums of the ledger by member (`source`) and client program, like `usage_series`. Amounts from before this migration were
-- summed by hour, so they are in the first quarter of their hour.
CREATE TABLE caller_series (
  span_ms BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  at BIGINT NOT NULL,
  source TEXT NOT NULL,
  currency TEXT NOT NULL,
  client TEXT NOT NULL,
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
  PRIMARY KEY (span_ms, organization_id, at, source, currency, client)
) /* on SQLite: WITHOUT ROWID */;
INSERT INTO caller_series (
  span_ms, organization_id, at, source, currency, client, requests, images, tokens, input, cache_read, cache_write,
  cache_write_1h, output, reasoning, image_input, image_output, amount, orphan_cost, vendor_cost, costed
)
SELECT
  span_ms, owner, at - at % span_ms, source, currency, client, SUM(requests), SUM(images), SUM(tokens),
  SUM(input), SUM(cache_read), SUM(cache_write), SUM(cache_write_1h), SUM(output), SUM(reasoning), SUM(image_input),
  SUM(image_output), SUM(amount), SUM(orphan_cost), SUM(vendor_cost), SUM(costed)
FROM (
  SELECT organization_id AS owner, usage_hours.* FROM usage_hours
  UNION ALL SELECT '*', usage_hours.* FROM usage_hours
) AS hours CROSS JOIN (
  SELECT 900000 AS span_ms UNION ALL SELECT 3600000 UNION ALL SELECT 14400000 UNION ALL SELECT 86400000
) AS spans
GROUP BY 1, 2, 3, 4, 5, 6
ORDER BY 1, 3;
