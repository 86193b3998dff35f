import { afterEach, afterAll, beforeAll, expect, test } from "bun:test";
import { IMAGE_MODEL, IMAGE_NANOS, MODEL, openFleet, type Fleet } from "../support/fleet.ts";
import { reportAtMost, reportExact } from "../support/figure.ts";
import { until } from "../support/gateway.ts";
import { readError } from "../support/vendor.ts";

/* The called targets, their order, and the records in the log and the ledger. */
const FIRST_BYTE_MS = 1_500;
const FALLBACK_SECONDS = 1;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await openFleet({ vendors: 3, deadlines: { firstByteMs: FIRST_BYTE_MS } });
}, 30_000);
afterEach(() => {
  for (const vendor of fleet.vendors) vendor.reset();
});
afterAll(() => fleet[Symbol.asyncDispose]());

test("an ordered route calls its first target while it succeeds", async () => {
  for (let sent = 0; sent < 10; sent += 1) await statusOf();
  expect(hits()).toEqual([10, 0, 0]);
});

test("a failure moves on to the next target; log and ledger list every attempt", async () => {
  const [first, second] = fleet.vendors;
  first!.next({ fault: "error-status", status: 503 });
  second!.next("reset-before-headers");
  expect(await statusOf("listed")).toBe(200);
  const attempts = [
    { channel: `${MODEL}-1`, outcome: "overloaded", status: 503 },
    { channel: `${MODEL}-2`, outcome: "unreachable" },
    { channel: `${MODEL}-3`, outcome: "answered" },
  ];
  const [charge] = await fleet.gateways[0]!.charged("listed");
  expect(charge).toMatchObject({ channel: `${MODEL}-3`, upstream_model: "gpt-5.4", attempts });
  const line = await until("the log line", () =>
    fleet.gateways[0]!.logs().find((candidate) => candidate["request_id"] === "listed"),
  );
  expect(line).toMatchObject({ channel: `${MODEL}-3`, attempts });
});

test("a complete response may take longer than a stream's first byte", async () => {
  fleet.vendors[0]!.next({ delayMs: FIRST_BYTE_MS + 300 });
  expect(await statusOf()).toBe(200);
  expect(hits()).toEqual([1, 0, 0]);
});

test("any byte of a stream is its first byte, also without content", async () => {
  // The first frame arrives after two thirds of the timeout, the first content after four thirds.
  fleet.vendors[0]!.next({ frameDelayMs: (FIRST_BYTE_MS * 2) / 3, frames: 1 });
  const response = await fleet.chat({ isStream: true });
  expect(await response.text()).toContain("[DONE]");
  expect(hits()).toEqual([1, 0, 0]);
});

test("a request that the vendor rejects is not sent to another target", async () => {
  fleet.vendors[0]!.next({ fault: "error-status", status: 400 });
  expect(await statusOf()).toBe(400);
  expect(hits()).toEqual([1, 0, 0]);
});

test("an input that is too long for one vendor is sent to the next", async () => {
  fleet.vendors[0]!.next("context-length");
  expect(await statusOf()).toBe(200);
  expect(hits()).toEqual([1, 1, 0]);
});

test("an organization's own route replaces the configured one, with its weights", async () => {
  const [gateway] = fleet.gateways;
  const targets = [8, 1, 1].flatMap((weight, index) => [
    "--target",
    `${MODEL}-${index + 1}/gpt-5.4=${weight}`,
  ]);
  await gateway!.cli("routes", "set", MODEL, "--strategy", "weighted", ...targets);
  await until("requests to go elsewhere", async () => {
    await statusOf();
    return hits()[1]! + hits()[2]! > 0 ? true : undefined;
  });
  for (const vendor of fleet.vendors) vendor.reset();
  const requests = 400;
  for (let sent = 0; sent < requests; sent += 20)
    await Promise.all(Array.from({ length: 20 }, () => statusOf()));
  const [first = 0, ...others] = hits();
  // The bar of 32 is four standard deviations of 400 random choices at 0.8.
  const off = Math.abs(first - requests * 0.8);
  expect(others.every((count) => count > 0)).toBe(true);
  expect(reportAtMost("R1", `weight of 0.8 missed by, of ${requests}`, off, "requests", 32)).toBe(true);
}, 20_000);

test("a route to an unknown channel is refused", async () => {
  const [gateway] = fleet.gateways;
  const refused = gateway!.cli("routes", "set", MODEL, "--target", "nowhere/gpt-5.4");
  await expect(refused).rejects.toThrow(/nowhere/);
});

test("a timed out picture is requested again only with fallback", async () => {
  fleet.vendors[0]!.next("stall");
  const response = await generate("not-twice");
  expect(response.status).toBe(504);
  expect(await readError(response)).toMatchObject({ code: "upstream_timeout" });
  expect(hits()).toEqual([1, 0, 0]);
  expect((await fleet.gateways[0]!.ledger()).filter(({ request_id }) => request_id === "not-twice")).toEqual(
    [],
  );
});

test("'Cancel on timeout and use fallback' calls the next target in time, bills once and records the orphan cost", async () => {
  const [gateway] = fleet.gateways;
  await gateway!.cli("orgs", "set", "default", "--fallback-after", String(FALLBACK_SECONDS));
  // Repeats until a stalled picture fails over, because the setting takes effect after a delay.
  const { response, tookMs, id } = await until("the switch to be in force", async () => {
    for (const vendor of fleet.vendors) vendor.reset();
    fleet.vendors[0]!.next("stall");
    const id = crypto.randomUUID();
    const startedAt = performance.now();
    const response = await generate(id);
    const tookMs = performance.now() - startedAt;
    return response.status === 200 ? { response, tookMs, id } : undefined;
  });
  expect(Object(await response.json()).data).toHaveLength(1);
  expect(hits()).toEqual([1, 1, 0]);
  await fleet.vendors[0]!.waitForClose();
  const rows = await until("the charge", async () => {
    const found = await fleet.query(
      `SELECT amount, orphan_cost, channel FROM ledger WHERE request_id = '${id}'`,
    );
    return found.length > 0 ? found : undefined;
  });
  expect(rows).toEqual([{ amount: IMAGE_NANOS, orphan_cost: IMAGE_NANOS, channel: `${MODEL}-2` }]);
  expect(reportExact("P7", "pictures billed after a fallback", rows.length, "pictures", 1)).toBe(true);
  const most = FALLBACK_SECONDS * 1_000 + 1_000;
  expect(reportAtMost("P7", "fallback answered after", Math.round(tookMs), "ms", most)).toBe(true);
}, 20_000);

test("the fallback time does not bound the last target", async () => {
  const [first, second, third] = fleet.vendors;
  first!.next("stall");
  second!.next("stall");
  third!.next({ delayMs: FALLBACK_SECONDS * 1_000 + 200 });
  const response = await generate("last-target");
  expect(response.status).toBe(200);
  expect(hits()).toEqual([1, 1, 1]);
});

function hits(): number[] {
  return fleet.vendors.map((vendor) => vendor.hits.length);
}

async function statusOf(requestId?: string): Promise<number> {
  const response = await fleet.chat(requestId === undefined ? {} : { requestId });
  await response.text();
  return response.status;
}

function generate(requestId: string): Promise<Response> {
  return fleet.gateways[0]!.call("/v1/images/generations", {
    body: { model: IMAGE_MODEL, prompt: "a lighthouse", size: "1024x1024", response_format: "b64_json" },
    headers: { "x-request-id": requestId },
  });
}
