import { expect, test } from "bun:test";
import { MODEL, openFleet, untilBudgetInForce, type Fleet } from "../support/fleet.ts";
import { until } from "../support/gateway.ts";

const MIN_COVERED_TOKENS = 256;

/** Sends a request. It has a maximum of output tokens only if `fields` has one. */
function chat(fleet: Fleet, fields: object = {}, prompt = "[[reply tokens=8]]"): Promise<Response> {
  const body = { model: MODEL, messages: [{ role: "user", content: prompt }], ...fields };
  return fleet.gateways[0]!.call("/v1/chat/completions", { body });
}

/** Creates a budget for this number of output tokens. The model's own maximum is a thousand million tokens. */
async function withBudget(fleet: Fleet, tokens: number): Promise<string> {
  const amount = (tokens / 1e6 + 1e-9).toFixed(9);
  const created = await fleet.gateways[0]!.cli("budgets", "create", "--amount", amount, "--json");
  await untilBudgetInForce(fleet);
  return JSON.parse(created).id;
}

test("a request without a maximum is sent with one that the budget covers", async () => {
  await using fleet = await openFleet();
  const free = await chat(fleet);
  expect([free.status, free.headers.get("x-gateway-max-tokens")]).toEqual([200, null]);
  await free.text();
  await withBudget(fleet, 500);
  const maxima: unknown[] = [];
  for (const fields of [{}, { stream: true }, { max_tokens: null, n: 1 }]) {
    const response = await chat(fleet, fields);
    await response.text();
    expect(response.status).toBe(200);
    const body = JSON.parse(fleet.vendors[0]!.hits.at(-1)!.body.toString());
    expect(response.headers.get("x-gateway-max-tokens")).toBe(String(body.max_tokens));
    maxima.push(body.max_tokens);
  }
  expect(maxima).toEqual([500, 492, 484]);
}, 30_000);

test("fewer than 256 covered tokens are refused, and a requested maximum stays", async () => {
  await using fleet = await openFleet();
  await withBudget(fleet, MIN_COVERED_TOKENS - 1);
  const refused = await chat(fleet);
  expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([429, "false"]);
  expect(JSON.parse(await refused.text()).error.code).toBe("BILLING_BLOCKED");
  expect((await chat(fleet, { max_tokens: 1_000 })).status).toBe(429);
  const small = await chat(fleet, { max_tokens: 8 });
  expect([small.status, small.headers.get("x-gateway-max-tokens")]).toEqual([200, null]);
}, 30_000);

test("held money is refused with Retry-After, and available after release", async () => {
  await using fleet = await openFleet();
  await withBudget(fleet, 500);
  const running = await chat(fleet, { stream: true }, "[[reply tokens=40 frameDelayMs=50]]");
  const held = await chat(fleet);
  expect(held.status).toBe(429);
  expect([held.headers.get("retry-after"), held.headers.get("x-should-retry")]).toEqual(["1", null]);
  const { error } = JSON.parse(await held.text());
  expect(error.code).toBe("BILLING_BLOCKED");
  expect(error.message).toContain("Running requests hold");
  await running.text();
  const after = await until("money to be free again", async () => {
    const response = await chat(fleet);
    await response.text();
    return response.status === 200 ? response : undefined;
  });
  expect(after.headers.get("x-gateway-max-tokens")).toBe("460");
}, 30_000);
