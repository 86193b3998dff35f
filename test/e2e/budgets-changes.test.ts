import { expect, test } from "bun:test";
import { openFleet, untilBudgetInForce, type Fleet, type FleetOptions } from "../support/fleet.ts";
import { until } from "../support/gateway.ts";
import { findPostgres, startPostgres } from "../support/postgres.ts";

const CLIENTS_A_PROCESS = 4;
/** Maximum time until every process applies a changed budget. */
const OBEYED_MS = 2000;

const postgres = findPostgres();

test("three processes over SQLite stop within two seconds when their budget is lowered", async () => {
  await lowerAndRaise({ machines: 3 });
}, 60_000);

test.skipIf("missing" in postgres)(
  "three processes over PostgreSQL stop within two seconds when their budget is lowered",
  async () => {
    if ("missing" in postgres) return;
    const server = await startPostgres(postgres.folder);
    try {
      await lowerAndRaise({ machines: 3, databaseUrl: await server.createDatabase() });
    } finally {
      await server.stop();
    }
  },
  60_000,
);

test("a new budget stops every process within two seconds and counts no request from before", async () => {
  await using fleet = await openFleet({ machines: 3 });
  const load = startLoad(fleet);
  await until("every process to serve without a budget", () =>
    load.served.every((times) => times.length >= 20) ? true : undefined,
  );
  const { id } = JSON.parse(
    await fleet.gateways[0]!.cli("budgets", "create", "--amount", "0.000000001", "--json"),
  );
  const createdAt = performance.now();
  await until("the time to obey", () => (performance.now() - createdAt > 2 * OBEYED_MS ? true : undefined));
  const lastMs = load.served.map((times) => Math.round((times.at(-1) ?? 0) - createdAt));
  await load.stop();
  console.log(`last served request after a new budget: ${lastMs.join(", ")} ms`);
  expect(lastMs.filter((milliseconds) => milliseconds > OBEYED_MS)).toEqual([]);
  const budgets = JSON.parse(await fleet.gateways[0]!.cli("budgets", "list", "--json"));
  expect(budgets).toMatchObject([{ id, spent: "0.00", held: "0.00" }]);
}, 60_000);

async function lowerAndRaise(options: FleetOptions): Promise<void> {
  await using fleet = await openFleet(options);
  const created = await fleet.gateways[0]!.cli("budgets", "create", "--amount", "100", "--json");
  const { id } = JSON.parse(created);
  await untilBudgetInForce(fleet);
  const load = startLoad(fleet);
  await until("every process to have a lease", () =>
    load.served.every((times) => times.length >= 20) ? true : undefined,
  );
  await fleet.gateways[0]!.cli("budgets", "set", id, "--amount", "0");
  const loweredAt = performance.now();
  await until("the time to obey", () => (performance.now() - loweredAt > 2 * OBEYED_MS ? true : undefined));
  const lastMs = load.served.map((times) => Math.round((times.at(-1) ?? 0) - loweredAt));
  expect(lastMs.filter((milliseconds) => milliseconds > OBEYED_MS)).toEqual([]);
  const before = load.served.map((times) => times.length);
  await fleet.gateways[1]!.cli("budgets", "set", id, "--amount", "100");
  await until(
    "every process to serve again",
    () => (load.served.every((times, index) => times.length > before[index]!) ? true : undefined),
    OBEYED_MS,
  );
  await load.stop();
}

/** Starts clients that send one request after another to each gateway. Records the send times of served requests. */
function startLoad(fleet: Fleet): { served: readonly number[][]; stop(): Promise<void> } {
  const state = { isStopping: false };
  const served: number[][] = fleet.gateways.map(() => []);
  const client = async (index: number): Promise<void> => {
    while (!state.isStopping) {
      const sentAt = performance.now();
      const response = await fleet.chat({ gateway: fleet.gateways[index]! });
      await response.text();
      if (response.status === 200) served[index]!.push(sentAt);
      await Bun.sleep(50);
    }
  };
  const clients = fleet.gateways.flatMap((_, index) =>
    Array.from({ length: CLIENTS_A_PROCESS }, () => client(index)),
  );
  return {
    served,
    async stop() {
      state.isStopping = true;
      await Promise.all(clients);
    },
  };
}
