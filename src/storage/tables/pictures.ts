import type { PictureRecord, PictureStore } from "../../admin/usage/store-port.ts";
import { padded } from "../database/expressions.ts";
import type { Database } from "../database/sql.ts";
import { integer, table, text, time, type Row } from "../database/table.ts";

const pictures = table<PictureRecord>("pictures", {
  name: text(),
  at: time(),
  organizationId: text(),
  keyId: text(),
  model: text(),
  requestId: text(),
  ledgerId: text(),
  width: integer(),
  height: integer(),
  format: text(),
  bytes: integer(),
});

/** Maximum number of rows in one transaction, so that other transactions do not wait long. */
const BATCH = 500;

/** Records of the stored pictures, for a gallery. The pictures themselves are blobs. */
export function pictureStore(database: Database): PictureStore {
  return {
    async add(records) {
      await database.insertRows(pictures.name, records.map(pictures.write));
    },
    async list({ organizations, keyId, model, ledgerId }, { since, below, limit }) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM pictures WHERE at >= ${since}
          ${organizations === undefined ? sql`` : sql`AND organization_id IN ${sql(padded(organizations))}`}
          ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}
          ${model === undefined ? sql`` : sql`AND model = ${model}`}
          ${ledgerId === undefined ? sql`` : sql`AND ledger_id = ${ledgerId}`}
          ${below === null ? sql`` : sql`AND (at, name) < (${below.at}, ${below.id})`}
          ORDER BY at DESC, name DESC LIMIT ${limit}`,
      );
      return rows.map(pictures.read);
    },
    async sweep(before) {
      const removed = await database.begin(
        (sql) => sql<object[]>`DELETE FROM pictures WHERE name IN
          (SELECT name FROM pictures WHERE at < ${before} ORDER BY at LIMIT ${BATCH}) RETURNING name`,
      );
      return removed.length;
    },
  };
}
