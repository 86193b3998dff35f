-- Of the requests in a row that failed, those that the ledger has too, such as a stream that was cut after its first
-- words: who adds up both counts each request once.
ALTER TABLE traffic_minutes ADD COLUMN charged BIGINT NOT NULL DEFAULT 0;
ALTER TABLE traffic_hours ADD COLUMN charged BIGINT NOT NULL DEFAULT 0;
ALTER TABLE traffic_days ADD COLUMN charged BIGINT NOT NULL DEFAULT 0;
ALTER TABLE traffic_months ADD COLUMN charged BIGINT NOT NULL DEFAULT 0;
