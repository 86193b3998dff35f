-- Who is signed in to the console. Only the hash of a session's token is kept.
CREATE TABLE sessions (
  hash TEXT NOT NULL PRIMARY KEY,
  administrator_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  address TEXT NOT NULL,
  agent TEXT NOT NULL
);
CREATE INDEX sessions_by_administrator ON sessions (administrator_id);
