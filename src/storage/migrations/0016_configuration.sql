-- Channels and models that were added by administration, in the form of the configuration file; secrets are sealed.
CREATE TABLE configuration (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  PRIMARY KEY (kind, id)
);
