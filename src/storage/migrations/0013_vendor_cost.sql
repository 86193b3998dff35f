-- What a vendor says that its work has cost, for the operator's margin; null where it says nothing.
ALTER TABLE ledger ADD COLUMN vendor_cost BIGINT;
ALTER TABLE ledger ADD COLUMN vendor_cost_currency TEXT;
