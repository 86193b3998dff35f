-- What was said in requests of organizations that have it logged, until `expires_at`. `id` is that of the request.
CREATE TABLE prompts (
  id TEXT NOT NULL PRIMARY KEY,
  at BIGINT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT,
  prompt TEXT NOT NULL,
  reply TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX prompts_by_expiry ON prompts (expires_at);
