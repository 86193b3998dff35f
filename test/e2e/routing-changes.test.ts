import { afterAll, beforeAll, expect, test } from "bun:test";
import { MODEL, openFleet, TOKEN_NANOS, type Fleet } from "../support/fleet.ts";
import { reportAtMost, reportExact } from "../support/figure.ts";
import { until, type TestGateway } from "../support/gateway.ts";

/* An operator's change is valid in every process within two seconds. No running request may fail. */
const MACHINES = 3;
const IN_FORCE_MS = 2_000;

let fleet: Fleet;
let load: { statuses: Set<number>; stop(): Promise<void> };
beforeAll(async () => {
  fleet = await openFleet({ machines: MACHINES, vendors: 2 });
  load = startLoad();
}, 30_000);
afterAll(async () => {
  await load.stop();
  await fleet[Symbol.asyncDispose]();
});

test("every process refuses a disabled key", async () => {
  const { secret, key } = JSON.parse(await change("keys", "create", "--name", "short", "--json"));
  const statusOf = async (gateway: TestGateway): Promise<number> => {
    const response = await fleet.chat({ gateway, key: secret });
    await response.text();
    return response.status;
  };
  for (const gateway of fleet.gateways) expect(await statusOf(gateway)).toBe(200);
  await change("keys", "disable", key.id);
  await provesInForce("disabled key", async (gateway) => (await statusOf(gateway)) === 401);
}, 30_000);

test("every process returns and bills a changed price", async () => {
  const ofConfiguration = await readPrice(fleet.gateways[0]!);
  await change("prices", "set", MODEL, "--tokens", "input=0", "--tokens", "output=3");
  await provesInForce("changed price", async (gateway) => (await readPrice(gateway)) === "3.00");
  await Promise.all(fleet.gateways.map((gateway, index) => send(gateway, `priced-${index}`)));
  const rows = await until("the charges", async () => {
    const found = await fleet.query("SELECT amount FROM ledger WHERE request_id LIKE 'priced-%'");
    return found.length === MACHINES ? found : undefined;
  });
  expect(ofConfiguration).toBe("1.00");
  expect(rows).toEqual(Array.from({ length: MACHINES }, () => ({ amount: 8n * 3n * TOKEN_NANOS })));
}, 30_000);

test("every process uses a changed route", async () => {
  await change("routes", "set", MODEL, "--target", `${MODEL}-2/gpt-5.4`);
  await provesInForce("changed route", async (gateway) => {
    const id = crypto.randomUUID();
    await send(gateway, id);
    return fleet.vendors[1]!.hits.some((hit) => hit.body.includes(id));
  });
}, 30_000);

test("every process enforces a changed limit, and no request failed", async () => {
  await change("orgs", "set", "default", "--limit", "requests_per_minute=0");
  await provesInForce("changed limit", async (gateway) => (await send(gateway, "limited")) === 429);
  await load.stop();
  const others = [...load.statuses].filter((status) => status !== 200 && status !== 429);
  expect(reportExact("P33", "other answers than 200 and 429 during changes", others.length, "kinds", 0)).toBe(
    true,
  );
  expect(load.statuses).toContain(200);
}, 30_000);

function change(...args: string[]): Promise<string> {
  return fleet.gateways[0]!.cli(...args);
}

/** Polls each process until the change is valid there. */
async function provesInForce(
  name: string,
  isInForce: (gateway: TestGateway) => Promise<boolean>,
): Promise<void> {
  const changedAt = performance.now();
  await Promise.all(
    fleet.gateways.map((gateway) => until(name, async () => ((await isInForce(gateway)) ? true : undefined))),
  );
  const tookMs = Math.round(performance.now() - changedAt);
  expect(
    reportAtMost("P33", `${name} in force on ${MACHINES} processes after`, tookMs, "ms", IN_FORCE_MS),
  ).toBe(true);
}

/** Sends a request with its id in the prompt. Returns the status. */
async function send(gateway: TestGateway, id: string): Promise<number> {
  const response = await fleet.chat({ gateway, requestId: id, prompt: id });
  await response.text();
  return response.status;
}

async function readPrice(gateway: TestGateway): Promise<string> {
  const response = await gateway.call(`/v1/pricing/lookup?model=${MODEL}`);
  return Object(await response.json()).prices.output;
}

/** Starts clients that send requests until the load is stopped. */
function startLoad(): typeof load {
  const statuses = new Set<number>();
  const state = { isStopping: false };
  const clients = fleet.gateways.map(async (gateway) => {
    while (!state.isStopping) {
      statuses.add(await send(gateway, "load"));
      await Bun.sleep(5);
    }
  });
  return {
    statuses,
    async stop() {
      state.isStopping = true;
      await Promise.all(clients);
    },
  };
}
