import { expect, test } from "bun:test";
import { openFleet, type ChatRequest, type Fleet, type FleetOptions } from "../support/fleet.ts";
import { until, type TestGateway } from "../support/gateway.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import type { Simulator } from "../upstreams/simulator.ts";

/*
 * A request reaches a healthy target within its attempts, whatever other targets do. Each test starts a gateway without
 * health data.
 */
const DOWN: Behaviour = { fault: "error-status", status: 503 };
const MODEL = "one";

test("twenty parallel requests of a fresh process all reach the second target", async () => {
  await using fleet = await openTargets({ vendors: 2 });
  repeat(fleet.vendors[0]!, DOWN);
  expect(await statuses(fleet, 20)).toEqual(all200(20));
});

test("a target that refuses connections does not hide the next one", async () => {
  await using fleet = await openTargets({ vendors: 2 });
  await fleet.vendors[0]!.close();
  expect(await statuses(fleet, 20)).toEqual(all200(20));
});

test("a first target that hangs fails no request", async () => {
  await using fleet = await openTargets({ vendors: 2, deadlines: { firstByteMs: 300, totalMs: 300 } });
  repeat(fleet.vendors[0]!, { fault: "stall" });
  const running: Promise<number>[] = [];
  for (let sent = 0; sent < 60; sent += 1) {
    running.push(statusOf(fleet, { isStream: sent % 2 === 0 }));
    await Bun.sleep(50);
  }
  expect(await Promise.all(running)).toEqual(all200(60));
}, 20_000);

test("failures of other models take no attempt from this one", async () => {
  await using fleet = await openTargets({ models: [MODEL, "broken"], vendors: 2 });
  for (const vendor of fleet.vendorsByModel.get("broken")!) repeat(vendor, DOWN);
  repeat(fleet.vendors[0]!, DOWN);
  const others = statuses(fleet, 100, { model: "broken" });
  expect(await statuses(fleet, 20)).toEqual(all200(20));
  expect(new Set(await others)).toEqual(new Set([503]));
});

test("with more failing targets than attempts only the first requests fail", async () => {
  await using fleet = await openTargets({ vendors: 5 });
  for (const vendor of fleet.vendors.slice(0, 4)) repeat(vendor, DOWN);
  for (let learning = 0; learning < 2; learning += 1) await statusOf(fleet);
  expect(await statuses(fleet, 20)).toEqual(all200(20));
});

test("'Cancel on timeout and use fallback' works for many parallel pictures", async () => {
  await using fleet = await openTargets({ vendors: 2, deadlines: { firstByteMs: 3_000 } });
  const [gateway] = fleet.gateways;
  await gateway!.cli("orgs", "set", "default", "--fallback-after", "1");
  repeat(fleet.vendors[0]!, { fault: "stall" });
  const generate = async (): Promise<number> => {
    const body = { model: `${MODEL}-image`, prompt: "a lighthouse", size: "1024x1024" };
    const response = await gateway!.call("/v1/images/generations", { body });
    await response.arrayBuffer();
    return response.status;
  };
  await until(
    "the switch to be in force",
    async () => ((await generate()) === 200 ? true : undefined),
    20_000,
  );
  expect(await Promise.all(Array.from({ length: 20 }, generate))).toEqual(all200(20));
}, 40_000);

test("failing requests of one organization eject the target for no other", async () => {
  await using fleet = await openTargets({ vendors: 1 });
  const [gateway] = fleet.gateways;
  const key = await otherOrganization(gateway!);
  await until("the other organization's key", async () =>
    (await statusOf(fleet, { key })) === 200 ? true : undefined,
  );
  for (let round = 0; round < 3; round += 1) {
    await statuses(fleet, 6, { prompt: "[[error-status status=500]]" });
    expect(await statuses(fleet, 5, { key })).toEqual(all200(5));
  }
});

function openTargets(options: FleetOptions): Promise<Fleet> {
  return openFleet({ models: [MODEL], ...options });
}

async function otherOrganization(gateway: TestGateway): Promise<string> {
  await gateway.cli("orgs", "create", "--name", "other", "--id", "other");
  const created = await gateway.cli("keys", "create", "--org", "other", "--name", "other", "--json");
  return JSON.parse(created).secret;
}

function statuses(fleet: Fleet, count: number, request: ChatRequest = {}): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => statusOf(fleet, request)));
}

async function statusOf(fleet: Fleet, request: ChatRequest = {}): Promise<number> {
  const response = await fleet.chat({ model: MODEL, ...request });
  const text = await response.text();
  return response.status === 200 && request.isStream && !text.includes("[DONE]") ? 0 : response.status;
}

function all200(count: number): number[] {
  return Array.from({ length: count }, () => 200);
}

function repeat(vendor: Simulator, behaviour: Behaviour): void {
  vendor.next(...Array.from({ length: 1_000 }, () => behaviour));
}
