import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openFleet, readBudget, TOKEN_NANOS, untilBudgetInForce, type Fleet } from "../support/fleet.ts";
import { until, type TestGateway } from "../support/gateway.ts";
import { findPostgres, startPostgres, type PrivatePostgres } from "../support/postgres.ts";

/*
 * An older state replaces the database, as with a restored backup or a delayed standby. Later charges are in the
 * machines' journals, also in the journals of ended processes.
 */
const CLIENTS = 6;
const TOKENS = 8;
const COST_NANOS = BigInt(TOKENS) * TOKEN_NANOS;

const found = findPostgres();
if ("missing" in found) console.warn(`SKIPPED: a database that goes back in time (${found.missing})`);

describe.skipIf("missing" in found)("a database that goes back in time", () => {
  let postgres: PrivatePostgres;
  beforeAll(async () => {
    if (!("missing" in found)) postgres = await startPostgres(found.folder);
  }, 30_000);
  afterAll(() => postgres?.stop());

  test("loses no charge of three machines to a standby that lagged, one stopped and one killed meanwhile", async () => {
    await using fleet = await openFleet({ machines: 3, databaseUrl: await postgres.createDatabase() });
    const load = await startLoad(fleet);
    await postgres.copy("standby");
    await load.more(150);
    const [, stopped, killed] = fleet.gateways as [TestGateway, TestGateway, TestGateway];
    await stopped.stop();
    await killed.kill();
    await killed.restart();
    await load.more(60);
    await postgres.goBack();
    await load.more(60);
    await stopped.restart();
    await expectExact(fleet, await load.end());
  }, 90_000);

  test("loses no charge of an idle machine to an older backup", async () => {
    await using fleet = await openFleet({ databaseUrl: await postgres.createDatabase() });
    const load = await startLoad(fleet);
    await postgres.copy("backup");
    await load.more(150);
    const answered = await load.end();
    await until("every charge", async () =>
      (await charged(fleet)).length === answered.size ? true : undefined,
    );
    await postgres.goBack();
    expect((await charged(fleet)).length).toBeLessThan(answered.size);
    await expectExact(fleet, answered);
  }, 90_000);
});

/** Starts clients that send requests on a valid budget. */
async function startLoad(fleet: Fleet) {
  await fleet.gateways[0]!.cli("budgets", "create", "--amount", "1");
  await untilBudgetInForce(fleet);
  // Ids of the requests that were answered. The budget may also have paid for probes.
  const answered = new Set<string>();
  const over = new AbortController();
  let sent = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!over.signal.aborted) {
      const requestId = `back_${(sent += 1)}`;
      const response = await fleet.chat({ requestId, tokens: TOKENS }).catch(() => null);
      const text = await response?.text().catch(() => null);
      if (response?.status === 200 && text) answered.add(requestId);
      await Bun.sleep(5);
    }
  });
  const more = async (count: number) => {
    const enough = answered.size + count;
    await until(`${count} more answers`, () => (answered.size >= enough ? true : undefined), 30_000);
  };
  await more(100);
  return {
    more,
    async end() {
      over.abort();
      await Promise.all(clients);
      return answered;
    },
  };
}

/** Returns the request ids of charges. Probes are left out. */
async function charged(fleet: Fleet): Promise<string[]> {
  const rows = await fleet.query("SELECT request_id FROM ledger WHERE request_id LIKE 'back_%'");
  return rows.map((row) => String(row["request_id"]));
}

/** Checks that every response has one charge, that the budget has spent all charges, and that nothing is held. */
async function expectExact(fleet: Fleet, answered: ReadonlySet<string>): Promise<void> {
  await until(
    "the charge of every answer",
    async () => (answered.isSubsetOf(new Set(await charged(fleet))) ? true : undefined),
    30_000,
  );
  await Promise.all(fleet.gateways.map((gateway) => gateway.stop()));
  const ids = await charged(fleet);
  expect(ids.length).toBe(new Set(ids).size);
  // Probes that were sent before the budget was valid have no budget.
  const [booked] = await fleet.query(
    "SELECT COUNT(*) AS count, COUNT(CASE WHEN request_id LIKE 'back_%' THEN 1 END) AS own FROM ledger WHERE budgets <> '[]'",
  );
  expect(Number(booked!["own"])).toBe(ids.length);
  const spent = BigInt(String(booked!["count"])) * COST_NANOS;
  expect(await readBudget(fleet)).toEqual({ spent, held: 0n });
  for (const gateway of fleet.gateways)
    expect(await gateway.cli("ledger", "verify")).toMatch(/ 1 budget: no difference\.\n$/);
}
