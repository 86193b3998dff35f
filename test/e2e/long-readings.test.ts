import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EXPORTS } from "../../src/admin/exports.ts";
import type { Operation } from "../../src/admin/operation.ts";
import { operations } from "../../src/admin/operations.ts";
import { signIn, type Administrator } from "../support/administration.ts";
import { copyRows } from "../support/copied-rows.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

/*
 * Whatever reads much for administration leaves the thread of requests alone: of twice as many rows that thread sees no
 * more or, where they are given out, so many more pages. What it does is the time for which it has run, which no other
 * process lengthens. With `LONG_READINGS=300000` an honest caller is served beside all of it, too.
 */
const LONG = process.env["LONG_READINGS"];
const ROWS = Number(LONG ?? 8_000);
/** Of what people set, which all of it is read for a report. */
const FEW_ROWS = 1_000;
const MANY = /^(ledger|ledger_bookings|audit|request_log)$/;
const FEW = /^(pictures|prices|usage_\w+s|traffic_\w+)$/;
/** Most that the thread of requests runs for one reading, and for one page. Milliseconds. */
const MAX_MS = 100;
const MAX_PAGE_MS = 25;
const PAGE = 250;
/** Pages of an export that are read of many rows. */
const MAX_PAGES = 16;
const CHAT = { model: "sandbox-chat", messages: [{ role: "user", content: "hello" }] };
const PRICE = { model: "sandbox-chat", perMillion: { input: "1", output: "1" } };
const DAY_MS = 24 * 60 * 60_000;
const from = new Date(Date.now() - DAY_MS).toISOString();
const CORRECTION = { ...PRICE, from, reason: "tried", organizationId: "default" };

/** The call of each operation that reads more than a page; `null` changes something, and reads what another one does. */
const READINGS: Readonly<Record<string, [method: string, path: string, body?: object] | null>> = {
  "ledger.verify": ["GET", "/ledger/verify"],
  "audit.verify": ["GET", "/audit/verify"],
  "overview.get": ["GET", "/overview"],
  "usage.list": ["GET", "/usage?groupBy=key"],
  "prices.table": ["GET", "/prices/table?organizationId=default"],
  "prices.effective": ["GET", "/prices/effective?model=sandbox-chat&organizationId=default"],
  "prices.preview": ["POST", "/prices/preview", PRICE],
  "prices.create": null,
  "prices.end": null,
  "priceCorrections.preview": ["POST", "/price-corrections/preview", CORRECTION],
  "priceCorrections.apply": null,
  "routes.explain": ["POST", "/routes/explain", { organizationId: "default", model: "sandbox-chat" }],
  "requests.get": ["GET", "/requests/template"],
  "keys.list": ["GET", "/keys"],
  "leases.list": ["GET", "/leases"],
  "webhooks.list": ["GET", "/webhooks"],
  "members.list": ["GET", "/members"],
  "tokens.list": ["GET", "/tokens"],
  "sessions.list": ["GET", "/sessions"],
  "channels.get": ["GET", "/channels/sandbox"],
  "channels.remove": null,
  "models.list": ["GET", "/models"],
  "models.get": ["GET", "/model?id=sandbox-chat"],
  "models.create": null,
  "models.update": null,
  "configuration.export": ["GET", "/configuration"],
  "configuration.import": null,
  "configuration.reseal": null,
};

/** Filters with which a list goes through everything and finds nothing. */
const VAIN = ["/ledger?model=none", "/requests?model=none&channel=none", "/audit?actor=nobody"];

let gateway: TestGateway;
let admin: Administrator;

beforeAll(async () => {
  gateway = await startTestGateway({ env: { REQUEST_LOG: "all" } });
  admin = await signIn(gateway);
  await admin.act("POST", "/budgets", { organizationId: "default", amount: "1000", period: "month" });
  await admin.act("POST", "/prices", { ...PRICE, organizationId: "default" });
  await gateway.call("/v1/chat/completions", { body: CHAT, headers: { "x-request-id": "template" } });
  await gateway.charged("template");
  await until("the sums of the request", async () => {
    const { totals } = await admin.act("GET", "/overview");
    return totals.requests > 0 || undefined;
  });
}, 30_000);
afterAll(() => gateway[Symbol.asyncDispose]());

test("every operation that reads more than a page is measured", () => {
  const long = Object.entries(operations as Record<string, Operation>).filter(
    ([, { cost }]) => cost !== "page",
  );
  expect(Object.keys(READINGS).toSorted()).toEqual(long.map(([name]) => name).toSorted());
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
      // The second time there are twice as many of all.
      copyRows(database, isAgain ? 1 : ROWS, MANY);
      copyRows(database, isAgain ? 1 : FEW_ROWS, FEW);
      const rows = { many: isAgain ? 2 * ROWS : ROWS, few: isAgain ? 2 * FEW_ROWS : FEW_ROWS };
      for (const [name, call] of Object.entries(READINGS))
        if (call) {
          const most = MAX_MS + (PAGED[name]?.(rows) ?? 0);
          compare(name, await leastOf(() => admin.act(...call), most), most);
        }
      for (const path of VAIN) compare(path, await leastOf(() => admin.act("GET", path), MAX_MS), MAX_MS);
      for (const name of EXPORTS) {
        const ms = await leastOf(() => read(`/export/${name}`, MAX_PAGES), MAX_MS);
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
        ...["ledger", "ledger", "requests", "audit"].map((name) => read(`/export/${name}`, 4 * MAX_PAGES)),
      ]);
      over.abort();
      await honest;
      least = Math.min(least, Math.max(...waits));
      console.log(`${waits.length} calls, at most ${Math.round(Math.max(...waits))} ms`);
    }
    expect(least).toBeLessThan(MAX_MS);
  }, 300_000);

/** Of those that go on from page to page, what all pages may take besides. */
const PAGED: Readonly<Record<string, (rows: { many: number; few: number }) => number>> = {
  "priceCorrections.preview": ({ many }) => (many / PAGE) * MAX_PAGE_MS,
  "configuration.export": ({ few }) => (few / PAGE) * MAX_PAGE_MS,
};

/** Reads an export up to so many pages, whose first is the heading. */
async function read(path: string, most = Infinity): Promise<void> {
  const response = await fetch(`${gateway.url}/admin/v1${path}`, { headers: { cookie: admin.cookie } });
  expect(response.status).toBe(200);
  let lines = 0;
  for await (const piece of response.body!) {
    lines += Buffer.from(piece).toString("latin1").split("\n").length - 1;
    if (lines > most * PAGE) break;
  }
}

/** The rows of the last export, once it has ended. */
function lastExport(name: string): Promise<number> {
  return until(`the audit row of the export of ${name}`, async () => {
    const { data } = await admin.act("GET", "/audit?kind=export&limit=1");
    return data[0]?.subject === name ? data[0].after.rows : undefined;
  });
}

const TRIES = 3;

/** Milliseconds for which the thread of requests has run during some work; above `most`, the least of some tries. */
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
