import { type Integer, storeTime } from "../database/expressions.ts";
import type { Database } from "../database/sql.ts";

/** The state of an export, in numbers of the order of posting. */
export interface ExportCursor {
  /** All entries up to this number are in files. */
  exported: number;
  /** The last number of a file that was begun; null for none. */
  writing: number | null;
}

/** The cursor of one destination in the database. Each change needs the state that its caller has seen. */
export interface CursorStore {
  read(): Promise<ExportCursor>;
  /** Takes or keeps the turn to write, for so many milliseconds. Null while another process has it. */
  takeTurn(processId: string, forMs: number): Promise<ExportCursor | null>;
  leaveTurn(processId: string): Promise<null>;
  /** Notes the last number of the next file before it is written. False where another process was faster. */
  begin(exported: number, last: number): Promise<boolean>;
  /** Moves the cursor behind a file that is written, or behind numbers without entries. */
  advance(seen: ExportCursor, to: number): Promise<boolean>;
}

type CursorRow = { exported: Integer; writing: Integer | null };

export function cursorStore(database: Database, destination: string): CursorStore {
  const { kind } = database;
  return {
    async read() {
      const rows = await database.read(
        (sql) => sql<CursorRow[]>`SELECT exported, writing FROM ledger_exports
          WHERE destination = ${destination}`,
      );
      return rows[0] ? cursorOf(rows[0]) : { exported: 0, writing: null };
    },
    async takeTurn(processId, forMs) {
      const rows = await database.begin(async (sql) => {
        await sql`INSERT INTO ledger_exports (destination, exported, process_id, until_time)
          VALUES (${destination}, 0, '', 0) ON CONFLICT (destination) DO NOTHING`;
        return await sql<CursorRow[]>`UPDATE ledger_exports SET process_id = ${processId},
            until_time = ${storeTime(kind, sql)} + ${forMs}
          WHERE destination = ${destination}
            AND (process_id = ${processId} OR until_time < ${storeTime(kind, sql)})
          RETURNING exported, writing`;
      });
      return rows[0] ? cursorOf(rows[0]) : null;
    },
    async leaveTurn(processId) {
      await database.begin(
        (sql) => sql`UPDATE ledger_exports SET until_time = 0
          WHERE destination = ${destination} AND process_id = ${processId}`,
      );
      return null;
    },
    async begin(exported, last) {
      const rows = await database.begin(
        (sql) => sql<object[]>`UPDATE ledger_exports SET writing = ${last}
          WHERE destination = ${destination} AND exported = ${exported} AND writing IS NULL
          RETURNING destination`,
      );
      return rows.length > 0;
    },
    async advance({ exported, writing }, to) {
      const rows = await database.begin(
        (sql) => sql<object[]>`UPDATE ledger_exports SET exported = ${to}, writing = NULL
          WHERE destination = ${destination} AND exported = ${exported}
            AND ${writing === null ? sql`writing IS NULL` : sql`writing = ${writing}`}
          RETURNING destination`,
      );
      return rows.length > 0;
    },
  };
}

function cursorOf({ exported, writing }: CursorRow): ExportCursor {
  return { exported: Number(exported), writing: writing === null ? null : Number(writing) };
}
