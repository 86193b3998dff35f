import { expect, test } from "bun:test";
import {
  openFleet,
  PROBE,
  readBudget,
  untilBudgetInForce,
  type Fleet,
  type FleetOptions,
} from "../support/fleet.ts";
import { reportExact } from "../support/figure.ts";
import { until } from "../support/gateway.ts";
import { findPostgres, startPostgres } from "../support/postgres.ts";

/*
 * A budget for exactly a thousand equal requests, used by 64 concurrent clients through three processes. A thousand
 * requests must be served, and each must be charged.
 */
const SERVED = 1_000;
const CLIENTS = 64;
const TRIES = 100;
const TOKENS = 8;
/** Cost of eight tokens. A hold is one nano-unit more, so the last request needs one more nano-unit of budget. */
const COST_NANOS = 8_000n;
const AMOUNT_NANOS = BigInt(SERVED) * COST_NANOS + 1n;

const postgres = findPostgres();

test("three processes on one port share one SQLite file and one budget exactly", async () => {
  await prove("P5 sqlite", { workers: 3 });
}, 60_000);

test.skipIf("missing" in postgres)(
  "three machines on one PostgreSQL share one budget exactly",
  async () => {
    if ("missing" in postgres) return;
    const server = await startPostgres(postgres.folder);
    try {
      await prove("P5 postgres", { machines: 3, databaseUrl: await server.createDatabase() });
    } finally {
      await server.stop();
    }
  },
  60_000,
);

test("a hold covers the organization's and the key's budget, or neither", async () => {
  await using fleet = await openFleet({ workers: 3 });
  const [gateway] = fleet.gateways;
  const created = JSON.parse(await gateway!.cli("keys", "create", "--name", "narrow", "--json"));
  await gateway!.cli("budgets", "create", "--amount", "0.000240001", "--key", created.key.id);
  await untilBudgetInForce(fleet, created.secret);
  await gateway!.cli("budgets", "create", "--amount", "0.000800001");
  await untilBudgetInForce(fleet);
  const narrow = await race(fleet, 16, 20, created.secret);
  const wide = await race(fleet, 16, 40);
  expect(reportExact("P5 key", "served within the key's budget", narrow.served, "requests", 30)).toBe(true);
  expect(
    reportExact("P5 key", "served within the rest of the organization's", wide.served, "requests", 70),
  ).toBe(true);
}, 30_000);

async function prove(id: string, options: FleetOptions): Promise<void> {
  await using fleet = await openFleet(options);
  await fleet.gateways[0]!.cli("budgets", "create", "--amount", (Number(AMOUNT_NANOS) / 1e9).toFixed(9));
  await untilBudgetInForce(fleet);
  const startedAt = performance.now();
  const { served, refused, other } = await race(fleet, CLIENTS, TRIES);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const load = `${CLIENTS} clients × ${TRIES} tries in ${seconds} s, ${refused} refused`;
  const isExact = reportExact(id, `served (${load})`, served, "requests", SERVED);
  const charges = await until("every charge", async () => {
    const [row] = await fleet.query(
      `SELECT COUNT(*) AS count, SUM(amount) AS sum FROM ledger WHERE request_id <> '${PROBE}'`,
    );
    return Number(row!["count"]) >= served ? row : undefined;
  });
  const { spent } = await readBudget(fleet);
  const overNanos = Number(spent - AMOUNT_NANOS);
  const isWithin = reportExact(id, "spent over the budget", Math.max(0, overNanos), "nano-units", 0);
  expect(other).toEqual([]);
  expect(fleet.vendors[0]!.totals.delivered).toBe(served);
  expect(BigInt(String(charges!["sum"]))).toBe(BigInt(served) * COST_NANOS);
  expect(spent).toBe(BigInt(served) * COST_NANOS);
  expect([isExact, isWithin]).toEqual([true, true]);
}

async function race(
  fleet: Fleet,
  clients: number,
  tries: number,
  key?: string,
): Promise<{ served: number; refused: number; other: string[] }> {
  const outcome = { served: 0, refused: 0, other: [] as string[] };
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let attempt = 0; attempt < tries; attempt += 1) {
        const gateway = fleet.gateways[client % fleet.gateways.length]!;
        const response = await fleet.chat({ tokens: TOKENS, gateway, ...(key && { key }) });
        const text = await response.text();
        if (response.status === 200) outcome.served += 1;
        else if (response.status === 429 && text.includes("BILLING_BLOCKED")) outcome.refused += 1;
        else outcome.other.push(`${response.status} ${text}`);
      }
    }),
  );
  return outcome;
}
