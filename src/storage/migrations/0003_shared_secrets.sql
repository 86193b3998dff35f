-- Secrets that every process on this database needs, such as the one that signs links. Older ones stay to check.
CREATE TABLE shared_secrets (
  purpose TEXT NOT NULL,
  place BIGINT NOT NULL,
  secret TEXT NOT NULL,
  PRIMARY KEY (purpose, place)
);
