import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EXPORTS } from "../../src/admin/exports/exports.ts";
import type { Operation } from "../../src/admin/operation.ts";
import { operations } from "../../src/admin/operations.ts";
import type { Administrator } from "../support/administration.ts";
import { until, type TestGateway } from "../support/gateway.ts";
import {
  CHAT,
  copyLongReadings,
  LONG_READINGS,
  openLongReadings,
  readExport,
  VAIN_READINGS,
} from "../support/long-readings.ts";

/*
 * Large reads of administration must not load the thread of requests. The bound for the thread's running time does not
 * depend on the number of rows, except for reads that go from page to page. Other processes do not affect this time.
 * With `LONG_READINGS=300000` an honest caller is also served beside all reads.
 */
const LONG = process.env["LONG_READINGS"];
const ROWS = Number(LONG ?? 8_000);
/** Number of rows in tables such as prices and sums. Some reports read all of these rows. */
const FEW_ROWS = 1_000;
/** Maximum milliseconds that the thread of requests runs for a read. `MAX_PAGE_MS` applies to each page. */
const MAX_MS = 100;
const MAX_PAGE_MS = 25;
const PAGE = 250;
/** Maximum of pages that the test reads from an export with many rows. */
const MAX_PAGES = 16;

let gateway: TestGateway;
let admin: Administrator;

beforeAll(async () => {
  ({ gateway, admin } = await openLongReadings());
}, 30_000);
afterAll(() => gateway[Symbol.asyncDispose]());

test("every operation that reads more than a page is measured", () => {
  const long = Object.entries(operations as Record<string, Operation>).filter(
    ([, { cost }]) => cost !== "page",
  );
  expect(Object.keys(LONG_READINGS).toSorted()).toEqual(long.map(([name]) => name).toSorted());
});

test.skipIf(process.platform !== "linux")(
  "the thread of requests does little for a long reading",
  async () => {
    using database = new Database(join(gateway.dataDirectory, "gateway.sqlite"));
    database.run("PRAGMA busy_timeout = 10000");
    const slow: { name: string; ms: number; most: number }[] = [];
    const compare = (name: string, ms: number, most: number) => {
      if (LONG) console.log(Math.round(performance.now()), name, Math.round(ms * 10) / 10, most);
      if (ms > most) slow.push({ name, ms, most });
    };
    for (const isAgain of [false, true]) {
      // The second pass doubles the number of all rows.
      copyLongReadings(database, isAgain ? { many: 1, few: 1 } : { many: ROWS, few: FEW_ROWS });
      const rows = { many: isAgain ? 2 * ROWS : ROWS, few: isAgain ? 2 * FEW_ROWS : FEW_ROWS };
      for (const [name, call] of Object.entries(LONG_READINGS))
        if (call) {
          const most = MAX_MS + (PAGED[name]?.(rows) ?? 0);
          compare(name, await leastOf(() => admin.act(...call), most), most);
        }
      for (const path of VAIN_READINGS)
        compare(path, await leastOf(() => admin.act("GET", path), MAX_MS), MAX_MS);
      for (const name of EXPORTS) {
        const ms = await leastOf(() => readExport(gateway, admin, name, MAX_PAGES * PAGE), MAX_MS);
        const pages = Math.ceil((await lastExport(name)) / PAGE);
        compare(`export of ${name}`, ms, MAX_MS + pages * MAX_PAGE_MS);
      }
    }
    expect(slow).toEqual([]);
  },
  120_000,
);

test("a second verification of one process is refused while one runs", async () => {
  const both = await Promise.all([1, 2].map(() => admin.send("GET", "/ledger/verify")));
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 429]);
  expect((await admin.send("GET", "/audit/verify")).status).toBe(200);
});

if (LONG !== undefined)
  test("an honest caller waits at most 100 ms beside a verification and four exports", async () => {
    let least = Infinity;
    for (let tries = 0; tries < 5 && least > MAX_MS; tries += 1) {
      const waits: number[] = [];
      const over = new AbortController();
      const honest = (async () => {
        while (!over.signal.aborted) {
          const start = performance.now();
          await (await gateway.call("/v1/chat/completions", { body: CHAT })).text();
          waits.push(performance.now() - start);
          await Bun.sleep(5);
        }
      })();
      await Promise.all([
        admin.act("GET", "/ledger/verify"),
        ...["ledger", "ledger", "requests", "audit"].map((name) =>
          readExport(gateway, admin, name, 4 * MAX_PAGES * PAGE),
        ),
      ]);
      over.abort();
      await honest;
      least = Math.min(least, Math.max(...waits));
      console.log(`${waits.length} calls, at most ${Math.round(Math.max(...waits))} ms`);
    }
    expect(least).toBeLessThan(MAX_MS);
  }, 300_000);

/** Additional milliseconds for all pages of a read that goes from page to page. */
const PAGED: Readonly<Record<string, (rows: { many: number; few: number }) => number>> = {
  "priceCorrections.preview": ({ many }) => (many / PAGE) * MAX_PAGE_MS,
  "configuration.export": ({ few }) => (few / PAGE) * MAX_PAGE_MS,
};

/** Returns the number of rows in the last export, after its end. */
function lastExport(name: string): Promise<number> {
  return until(`the audit row of the export of ${name}`, async () => {
    const { data } = await admin.act("GET", "/audit?kind=export&limit=1");
    return data[0]?.subject === name ? data[0].after.rows : undefined;
  });
}

const TRIES = 3;

/** Returns the milliseconds that the thread of requests runs during `work`. Retries if the result exceeds `most`. */
async function leastOf(work: () => Promise<unknown>, most: number): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < TRIES && least > most; tries += 1) {
    const before = threadMs();
    await work();
    least = Math.min(least, threadMs() - before);
  }
  return least;
}

function threadMs(): number {
  const [nanoseconds] = readFileSync(`/proc/${gateway.pid}/task/${gateway.pid}/schedstat`, "utf8").split(" ");
  return Number(nanoseconds) / 1e6;
}
