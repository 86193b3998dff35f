-- Sums of the ledger and of traffic for series of days in any time zone, with fewer key columns than `usage_hours` and
-- `traffic_hours`. There are sums for each organization and for all organizations together (`*`), by quarter of an
-- hour, hour, four hours and day in UTC; `span_ms` is the length. Amounts from before this migration were summed by
-- hour, so they are in the first quarter of their hour.
CREATE TABLE usage_series (
  span_ms BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  at BIGINT NOT NULL,
  model TEXT NOT NULL,
  currency TEXT NOT NULL,
  channel TEXT NOT NULL,
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
  PRIMARY KEY (span_ms, organization_id, at, model, currency, channel)
) /* on SQLite: WITHOUT ROWID */;
INSERT INTO usage_series (
  span_ms, organization_id, at, model, currency, channel, requests, images, tokens, input, cache_read, cache_write,
  cache_write_1h, output, reasoning, image_input, image_output, amount, orphan_cost, vendor_cost, costed
)
SELECT
  span_ms, owner, at - at % span_ms, model, currency, channel, SUM(requests), SUM(images), SUM(tokens),
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

CREATE TABLE traffic_series (
  span_ms BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  at BIGINT NOT NULL,
  route TEXT NOT NULL,
  status BIGINT NOT NULL,
  code TEXT NOT NULL,
  requests BIGINT NOT NULL,
  charged BIGINT NOT NULL,
  d0 BIGINT NOT NULL,
  d1 BIGINT NOT NULL,
  d2 BIGINT NOT NULL,
  d3 BIGINT NOT NULL,
  d4 BIGINT NOT NULL,
  d5 BIGINT NOT NULL,
  d6 BIGINT NOT NULL,
  d7 BIGINT NOT NULL,
  d8 BIGINT NOT NULL,
  d9 BIGINT NOT NULL,
  d10 BIGINT NOT NULL,
  d11 BIGINT NOT NULL,
  d12 BIGINT NOT NULL,
  d13 BIGINT NOT NULL,
  d14 BIGINT NOT NULL,
  d15 BIGINT NOT NULL,
  d16 BIGINT NOT NULL,
  d17 BIGINT NOT NULL,
  PRIMARY KEY (span_ms, organization_id, at, route, status, code)
) /* on SQLite: WITHOUT ROWID */;
CREATE INDEX traffic_series_at ON traffic_series (at);
INSERT INTO traffic_series (
  span_ms, organization_id, at, route, status, code, requests, charged, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10,
  d11, d12, d13, d14, d15, d16, d17
)
SELECT
  span_ms, owner, at - at % span_ms, route, status, code, SUM(requests), SUM(charged), SUM(d0), SUM(d1),
  SUM(d2), SUM(d3), SUM(d4), SUM(d5), SUM(d6), SUM(d7), SUM(d8), SUM(d9), SUM(d10), SUM(d11), SUM(d12), SUM(d13),
  SUM(d14), SUM(d15), SUM(d16), SUM(d17)
FROM (
  SELECT organization_id AS owner, traffic_hours.* FROM traffic_hours
  UNION ALL SELECT '*', traffic_hours.* FROM traffic_hours
) AS hours CROSS JOIN (
  SELECT 900000 AS span_ms UNION ALL SELECT 3600000 UNION ALL SELECT 14400000 UNION ALL SELECT 86400000
) AS spans
GROUP BY 1, 2, 3, 4, 5, 6
ORDER BY 1, 3;
