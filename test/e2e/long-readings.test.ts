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
 * Whatever reads much for administration leaves the thread of requests alone: what that thread does for it is the same
 * for twice as many rows or, of an export, a page at a time. `LONG_READINGS=300000` measures an honest caller's waits.
 */
const ROWS = Number(process.env["LONG_READINGS"] ?? 15_000);
const TABLES = /^(ledger|ledger_bookings|audit|request_log|pictures|usage_\w+s|traffic_\w+|prices)$/;
const CHAT = { model: "sandbox-chat", messages: [{ role: "user", content: "hello" }] };
const PRICE = { model: "sandbox-chat", perMillion: { input: "1", output: "1" } };
const DAY_MS = 24 * 60 * 60_000;
const from = new Date(Date.now() - DAY_MS).toISOString();

/** The call of each operation that reads more than a page; `null` changes something, and reads what another one does. */
const READINGS: Readonly<Record<string, [method: string, path: string, body?: object] | null>> = {
  "ledger.verify": ["GET", "/ledger/verify"],
  "audit.verify": ["GET", "/audit/verify"],
  "overview.get": ["GET", "/overview"],
  "usage.list": ["GET", "/usage?groupBy=key"],
  "prices.list": ["GET", "/prices"],
  "prices.table": ["GET", "/prices/table?organizationId=default"],
  "prices.effective": ["GET", "/prices/effective?model=sandbox-chat&organizationId=default"],
  "prices.preview": ["POST", "/prices/preview", PRICE],
  "prices.create": null,
  "prices.end": null,
  "priceCorrections.preview": ["POST", "/price-corrections/preview", { ...PRICE, from, reason: "tried" }],
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

test("the thread of requests does no more for twice as many rows", async () => {
  const spent: Record<string, number>[] = [];
  using database = new Database(join(gateway.dataDirectory, "gateway.sqlite"));
  database.run("PRAGMA busy_timeout = 10000");
  for (const times of [ROWS, 1]) {
    copyRows(database, times, TABLES);
    const each: Record<string, number> = {};
    for (const [name, call] of Object.entries(READINGS))
      if (call) each[name] = await leastOf(async () => void (await admin.act(...call)));
    for (const name of EXPORTS)
      each[`export of ${name}`] =
        (await leastOf(() => read(`/export/${name}`))) / Math.max(1, (await rowsOf(name)) / 250);
    spent.push(each);
  }
  console.log(spent);
}, 300_000);

async function read(path: string): Promise<void> {
  const response = await fetch(`${gateway.url}/admin/v1${path}`, { headers: { cookie: admin.cookie } });
  expect(response.status).toBe(200);
  for await (const _ of response.body!);
}

async function rowsOf(name: string): Promise<number> {
  const { data } = await admin.act("GET", "/audit?kind=export&limit=1");
  expect(data[0]).toMatchObject({ subject: name, after: { isWhole: true } });
  return data[0].after.rows;
}

/** Milliseconds for which the thread of requests has run during some work; the least of three. */
async function leastOf(work: () => Promise<void>): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < 3; tries += 1) {
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
