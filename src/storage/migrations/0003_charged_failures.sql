-- Number of the row's failed requests that were charged, such as a stream that was cut after its first words. The
-- ledger contains them too; with this number, a sum of traffic and ledger counts each request once.
ALTER TABLE traffic_minutes ADD COLUMN charged BIGINT NOT NULL DEFAULT 0;
ALTER TABLE traffic_hours ADD COLUMN charged BIGINT NOT NULL DEFAULT 0;
ALTER TABLE traffic_days ADD COLUMN charged BIGINT NOT NULL DEFAULT 0;
ALTER TABLE traffic_months ADD COLUMN charged BIGINT NOT NULL DEFAULT 0;
