-- Whose outcome it is, and the bytes of its body, which are bounded for each organization. NULL and 0 of what earlier
-- versions have stored, and of members' acts; 0 also where the body is not kept.
ALTER TABLE stored_outcomes ADD COLUMN organization_id TEXT;
ALTER TABLE stored_outcomes ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
CREATE INDEX stored_outcomes_by_size ON stored_outcomes (organization_id, expires_at, bytes);
