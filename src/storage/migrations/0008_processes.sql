-- Gateway processes that serve, and when each was last alive by the database's clock. Rows of ended ones are removed.
CREATE TABLE processes (
  id TEXT NOT NULL PRIMARY KEY,
  alive_at BIGINT NOT NULL
);
