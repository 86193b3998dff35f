-- What a process has drawn from a budget for good: grants less what it gave back. `amount` is always `drawn` less
-- the charges posted since, so a process that missed an answer can find out what it was.
ALTER TABLE leases ADD COLUMN drawn BIGINT NOT NULL DEFAULT 0;
UPDATE leases SET drawn = amount;

-- Until when, by the database's clock, some process misses money that others hold.
ALTER TABLE budgets ADD COLUMN wanted_until BIGINT NOT NULL DEFAULT 0;

-- The charge that a refund or an adjustment corrects.
ALTER TABLE ledger ADD COLUMN corrects TEXT;
CREATE INDEX ledger_by_corrected ON ledger (corrects) WHERE corrects IS NOT NULL;
