import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../support/gateway.ts";
import { CHAT, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";

/* Prices that depend on a request's length: lookup, hold and charge. */
const LONG = "long-chat";
let fixture: GatewayFixture;
beforeAll(async () => {
  fixture = await openGatewayFixture({
    yaml: `  ${LONG}:
    type: chat
    max_output_tokens: 1000
    price:
      per_million: { input: "1", output: "2" }
      long_context: { above: 6000, per_million: { input: "100", output: "200" } }
    route: { targets: [{ channel: ${CHAT}, upstream_model: gpt-5.4 }] }
`,
  });
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function chargeOf(text: string) {
  const id = `long-${Bun.randomUUIDv7()}`;
  const body = { model: LONG, max_tokens: 10, messages: [{ role: "user", content: text }] };
  const response = await fixture.gateway.call("/v1/chat/completions", {
    body,
    headers: { "x-request-id": id },
  });
  const { usage } = (await response.json()) as { usage: Record<string, number> };
  const [row] = await fixture.gateway.charged(id);
  return {
    amount: row!.amount,
    input: BigInt(usage["prompt_tokens"]!),
    output: BigInt(usage["completion_tokens"]!),
  };
}

test("the lookup shows what everything costs in long requests", async () => {
  const response = await fixture.gateway.call(`/v1/pricing/lookup?model=${LONG}`);
  expect(await response.json()).toMatchObject({
    prices: { input: "1.00", output: "2.00", cache_read: "1.00" },
    long_context: [{ above: 6000, prices: { input: "100.00", output: "200.00", cache_read: "100.00" } }],
  });
});

test("a short request costs the ordinary prices, a long one the dearer ones throughout", async () => {
  const short = await chargeOf("hi");
  expect(short.amount).toBe(short.input * 1_000n + short.output * 2_000n);
  const long = await chargeOf("word ".repeat(20_000));
  expect(long.input).toBeGreaterThan(6000n);
  expect(long.amount).toBe(long.input * 100_000n + long.output * 200_000n);
});

test("the hold of a request that may be long covers the dearer prices", async () => {
  const created = await fixture.gateway.cli("keys", "create", "--name", "poor", "--model", LONG, "--json");
  const { key, secret } = JSON.parse(created) as { key: { id: string }; secret: string };
  await fixture.gateway.cli("budgets", "create", "--key", key.id, "--amount", "0.5", "--period", "total");
  const call = (text: string) =>
    fixture.gateway.call("/v1/chat/completions", {
      body: { model: LONG, max_tokens: 10, messages: [{ role: "user", content: text }] },
      headers: { authorization: `Bearer ${secret}` },
    });
  await until("the key and its budget", async () => {
    const answer = await call("word ".repeat(1_600));
    return answer.status === 429 || undefined;
  });
  expect((await call("word ".repeat(200))).status).toBe(200);
  // The input of 8,000 bytes may cost 100 per million, which exceeds the remaining 0.5.
  const refused = await call("word ".repeat(1_600));
  expect([refused.status, (await refused.text()).includes("BILLING_BLOCKED")]).toEqual([429, true]);
});
