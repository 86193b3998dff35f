import { Database } from "bun:sqlite";
import { join } from "node:path";
import { EXPORTS } from "../../src/admin/exports/exports.ts";
import type { Administrator } from "../support/administration.ts";
import type { TestGateway } from "../support/gateway.ts";
import {
  copyLongReadings,
  LONG_READINGS,
  openLongReadings,
  readExport,
  VAIN_READINGS,
} from "../support/long-readings.ts";
import type { LoopCase, LoopWorld } from "./case.ts";

/** Number of rows in each of the ledger, the audit log and the request log. */
const ROWS = 60_000;
/** Number of rows in each table such as prices and sums. */
const SETTINGS = 1_000;
/** Number of lines that are read from an export. */
const EXPORT_LINES = 4_000;

interface Readings {
  gateway: TestGateway;
  admin: Administrator;
}

/** Gateways by the number of rows in their databases. Each run opens each gateway once. */
const opened = new Map<number, Promise<Readings>>();

function readingsOf(world: LoopWorld, rows: number): Promise<Readings> {
  const found = opened.get(rows) ?? openWith(world, rows);
  opened.set(rows, found);
  return found;
}

async function openWith(world: LoopWorld, rows: number): Promise<Readings> {
  const readings = await openLongReadings();
  world.opened.use(readings.gateway);
  using database = new Database(join(readings.gateway.dataDirectory, "gateway.sqlite"));
  database.run("PRAGMA busy_timeout = 10000");
  copyLongReadings(database, { many: rows, few: SETTINGS });
  return readings;
}

function readingCase(
  name: string,
  covered: string,
  read: (readings: Readings) => Promise<unknown>,
): LoopCase {
  return {
    name: `administration: ${name}`,
    covers: [covered],
    most: ROWS,
    gateway: async (world, count) => (await readingsOf(world, count)).gateway,
    async prepare(world, count) {
      const readings = await readingsOf(world, count);
      return async () => void (await read(readings));
    },
  };
}

/** Reports, exports and other reads of administration, whose work grows with the rows. */
export const ADMINISTRATION_CASES: readonly LoopCase[] = [
  ...Object.entries(LONG_READINGS).flatMap(([name, call]) =>
    call ? [readingCase(name, name, ({ admin }) => admin.act(...call))] : [],
  ),
  ...VAIN_READINGS.map((path) => readingCase(path, path, ({ admin }) => admin.act("GET", path))),
  ...EXPORTS.map((name) =>
    readingCase(`export of ${name}`, `export ${name}`, ({ gateway, admin }) =>
      readExport(gateway, admin, name, EXPORT_LINES),
    ),
  ),
];
