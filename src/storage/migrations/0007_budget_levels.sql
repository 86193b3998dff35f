-- Times since which a budget is nearly spent, and spent, in its running period. Null for a budget that is not; 0 for a
-- budget that already was at this migration.
ALTER TABLE budgets ADD COLUMN near_since BIGINT;
ALTER TABLE budgets ADD COLUMN spent_since BIGINT;
UPDATE budgets SET near_since = 0 WHERE amount > 0 AND spent >= amount - amount / 5;
UPDATE budgets SET spent_since = 0 WHERE amount > 0 AND spent >= amount;
CREATE INDEX budgets_by_level ON budgets (period_start) WHERE near_since IS NOT NULL;
