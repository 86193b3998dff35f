import type { PictureRecord, PictureStore } from "../../admin/usage-ports.ts";
import { padded } from "../budgets/locked-budgets.ts";
import type { Integer } from "../database/columns.ts";
import type { Database } from "../database/sql.ts";

/** Rows of one transaction: few, so that nothing waits. */
const BATCH = 500;

/** Which delivered pictures are stored, for a gallery; the pictures themselves are blobs. */
export function pictureStore(database: Database): PictureStore {
  return {
    async add(pictures) {
      await database.insertRows("pictures", pictures.map(writePicture));
    },
    async list({ organizations, keyId, model, ledgerId }, { since, below, limit }) {
      const rows = await database.read(
        (sql) => sql<PictureRow[]>`SELECT * FROM pictures WHERE at >= ${since}
          ${organizations === undefined ? sql`` : sql`AND organization_id IN ${sql(padded(organizations))}`}
          ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}
          ${model === undefined ? sql`` : sql`AND model = ${model}`}
          ${ledgerId === undefined ? sql`` : sql`AND ledger_id = ${ledgerId}`}
          ${below === null ? sql`` : sql`AND (at, name) < (${below.at}, ${below.id})`}
          ORDER BY at DESC, name DESC LIMIT ${limit}`,
      );
      return rows.map(readPicture);
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

interface PictureRow {
  name: string;
  at: Integer;
  organization_id: string;
  key_id: string;
  model: string;
  request_id: string;
  ledger_id: string;
  width: Integer;
  height: Integer;
  format: PictureRecord["format"];
  bytes: Integer;
}

function readPicture(row: PictureRow): PictureRecord {
  return {
    name: row.name,
    at: Number(row.at),
    organizationId: row.organization_id,
    keyId: row.key_id,
    model: row.model,
    requestId: row.request_id,
    ledgerId: row.ledger_id,
    width: Number(row.width),
    height: Number(row.height),
    format: row.format,
    bytes: Number(row.bytes),
  };
}

function writePicture(picture: PictureRecord): PictureRow {
  return {
    name: picture.name,
    at: picture.at,
    organization_id: picture.organizationId,
    key_id: picture.keyId,
    model: picture.model,
    request_id: picture.requestId,
    ledger_id: picture.ledgerId,
    width: picture.width,
    height: picture.height,
    format: picture.format,
    bytes: picture.bytes,
  };
}
