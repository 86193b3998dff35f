import { firstOf, type Integer, storeTime } from "../database/expressions.ts";
import type { Database } from "../database/sql.ts";
import type { BegunFile, FilePosition, LedgerFileFormat } from "./files.ts";

/** The state of an export to one destination. */
export interface ExportCursor {
  /** Number that increases when another process begins to write, and when the database has lost its newest state. */
  epoch: number;
  /** The end of the last file. Files contain all entries up to this position in the order of posting. */
  exported: FilePosition;
  /** The file after `exported` that a process has begun to write; null for none. */
  begun: BegunFile | null;
}

/** Reads and changes the cursor of one destination, for one process. */
export interface CursorStore {
  /** Returns the sequence number up to which files contain all entries. */
  exported(): Promise<number>;
  /**
   * Takes or keeps the right to write, for `forMs` milliseconds. Returns null while another process has that right. The
   * epoch does not change if this process had the right without a break and the cursor did not change meanwhile.
   */
  takeTurn(forMs: number): Promise<ExportCursor | null>;
  leaveTurn(): Promise<void>;
  /** Stores the next file before it is written. Returns false when the cursor has changed. */
  begin(seen: ExportCursor, file: BegunFile): Promise<boolean>;
  /** Moves the cursor to the end of the begun file. Returns false when the cursor has changed. */
  advance(seen: ExportCursor, file: BegunFile): Promise<boolean>;
}

interface CursorRow {
  epoch: Integer;
  exported: Integer;
  exported_epoch: Integer;
  writing: Integer | null;
  writing_epoch: Integer | null;
  writing_format: LedgerFileFormat | null;
  until_time: Integer;
}

export function cursorStore(database: Database, destination: string, processId: string): CursorStore {
  const { kind } = database;
  /** The cursor that this process stored last; null if it stored none or its last attempt failed. */
  let left: { cursor: ExportCursor; untilTime: number } | null = null;
  let highestEpoch = 0;
  const keep = (row: CursorRow | null): ExportCursor | null => {
    const cursor = row && cursorOf(row);
    left = cursor && { cursor, untilTime: Number(row.until_time) };
    if (cursor) highestEpoch = Math.max(highestEpoch, cursor.epoch);
    return cursor;
  };
  const isAsLeft = (row: CursorRow): boolean =>
    left !== null && left.untilTime === Number(row.until_time) && Bun.deepEquals(left.cursor, cursorOf(row));
  const move = async (seen: ExportCursor, { exported, begun }: Omit<ExportCursor, "epoch">) => {
    const rows = await database.begin(
      (sql) => sql<CursorRow[]>`UPDATE ledger_exports
        SET exported = ${exported.last}, exported_epoch = ${exported.epoch}, writing = ${begun?.last ?? null},
          writing_epoch = ${begun?.epoch ?? null}, writing_format = ${begun?.format ?? null}
        WHERE destination = ${destination} AND epoch = ${seen.epoch} AND exported = ${seen.exported.last}
          AND COALESCE(writing_epoch, 0) = ${seen.begun?.epoch ?? 0}
        RETURNING *`,
    );
    return keep(firstOf(rows)) !== null;
  };
  return {
    async exported() {
      const rows = await database.read(
        (sql) => sql<CursorRow[]>`SELECT * FROM ledger_exports WHERE destination = ${destination}`,
      );
      highestEpoch = Math.max(highestEpoch, Number(rows[0]?.epoch ?? 0));
      return Number(rows[0]?.exported ?? 0);
    },
    async takeTurn(forMs) {
      const epochOf = (row: CursorRow, now: number): number =>
        isAsLeft(row) && row.until_time > now
          ? Number(row.epoch)
          : Math.max(now, Number(row.epoch) + 1, highestEpoch + 1);
      return keep(await takeRow(database, { destination, processId, forMs, epochOf }));
    },
    async leaveTurn() {
      await database.begin(
        (sql) => sql`UPDATE ledger_exports SET until_time = ${storeTime(kind, sql)}
          WHERE destination = ${destination} AND process_id = ${processId}`,
      );
    },
    begin: (seen, begun) => move(seen, { exported: seen.exported, begun }),
    advance: (seen, begun) =>
      move({ ...seen, begun }, { exported: { epoch: begun.epoch, last: begun.last }, begun: null }),
  };
}

interface Taking {
  destination: string;
  processId: string;
  forMs: number;
  epochOf(row: CursorRow, now: number): number;
}

function takeRow(
  database: Database,
  { destination, processId, forMs, epochOf }: Taking,
): Promise<CursorRow | null> {
  const { kind } = database;
  return database.begin(async (sql) => {
    await sql`INSERT INTO ledger_exports (destination, exported, process_id, until_time)
      VALUES (${destination}, 0, '', 0) ON CONFLICT (destination) DO NOTHING`;
    // This update locks the row until the end of the transaction.
    const [found] = await sql<(CursorRow & { now: Integer })[]>`UPDATE ledger_exports
      SET process_id = ${processId}
      WHERE destination = ${destination}
        AND (process_id = ${processId} OR until_time <= ${storeTime(kind, sql)})
      RETURNING *, ${storeTime(kind, sql)} AS now`;
    if (!found) return null;
    const now = Number(found.now);
    const rows = await sql<CursorRow[]>`UPDATE ledger_exports
      SET epoch = ${epochOf(found, now)}, until_time = ${now + forMs}
      WHERE destination = ${destination} RETURNING *`;
    return firstOf(rows);
  });
}

function cursorOf(row: CursorRow): ExportCursor {
  const { writing: last, writing_epoch: epoch, writing_format: format } = row;
  return {
    epoch: Number(row.epoch),
    exported: { epoch: Number(row.exported_epoch), last: Number(row.exported) },
    begun:
      last === null || epoch === null || format === null
        ? null
        : { epoch: Number(epoch), last: Number(last), format },
  };
}
