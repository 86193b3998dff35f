-- When a price row stops to hold, Unix milliseconds; a row that was not ended holds on.
ALTER TABLE prices ADD COLUMN effective_until BIGINT;

-- When the request was admitted, which is the moment whose price it is charged by.
ALTER TABLE ledger ADD COLUMN admitted_at BIGINT;
