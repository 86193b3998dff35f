-- Administrators become members with a role in some organizations, or in all of them. Those of before own everything.
-- An empty password hash is none: such a member signs in at an identity provider.
ALTER TABLE administrators ADD COLUMN email TEXT;
ALTER TABLE administrators ADD COLUMN role TEXT NOT NULL DEFAULT 'owner';
ALTER TABLE administrators ADD COLUMN organizations TEXT NOT NULL DEFAULT '"*"';
ALTER TABLE administrators ADD COLUMN is_disabled BIGINT NOT NULL DEFAULT 0;
ALTER TABLE administrators ADD COLUMN must_change_password BIGINT NOT NULL DEFAULT 0;
ALTER TABLE administrators ADD COLUMN totp TEXT;
ALTER TABLE administrators ADD COLUMN identity TEXT;
ALTER TABLE administrators ADD COLUMN last_seen_at BIGINT;
CREATE UNIQUE INDEX administrators_by_email ON administrators (email);
CREATE UNIQUE INDEX administrators_by_identity ON administrators (identity);

-- What a session is listed and removed by. Sessions of before end.
DELETE FROM sessions;
ALTER TABLE sessions ADD COLUMN id TEXT NOT NULL DEFAULT '';

-- Bearer tokens of the administrative interface; only their hashes are kept.
CREATE TABLE admin_tokens (
  id TEXT NOT NULL PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  name TEXT NOT NULL,
  administrator_id TEXT NOT NULL,
  role TEXT NOT NULL,
  organizations TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  last_used_at BIGINT,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL
);
CREATE INDEX admin_tokens_by_administrator ON admin_tokens (administrator_id);

-- Sign-ins of an account or an address within a window of time.
CREATE TABLE sign_in_attempts (
  subject TEXT NOT NULL PRIMARY KEY,
  count BIGINT NOT NULL,
  ends_at BIGINT NOT NULL
);
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (ends_at);

-- Whose row a change concerns, so that members of some organizations are shown those changes alone; not part of the
-- chain. Null is the installation, and changes of before.
ALTER TABLE audit ADD COLUMN organization_id TEXT;
CREATE INDEX audit_by_organization ON audit (organization_id, revision);
