import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SIMULATED_KEY as GEMINI_KEY, startGemini } from "../upstreams/gemini.ts";
import { SIMULATED_KEY as OPENAI_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { nanosOf } from "../support/native-text.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

/* Vendors of two protocols serve one model. Callers of either protocol get one response and pay once. */
let gateway: TestGateway;
let gemini: Simulator;
let openai: Simulator;

const CASES: [string, Behaviour][] = [
  ["throttled", { fault: "rate-limited" }],
  ["closed", { fault: "close-before-headers" }],
  ["failing", { fault: "error-frame-first" }],
  ["without-account", { fault: "unauthorized" }],
];

beforeAll(async () => {
  [gemini, openai] = await Promise.all([startGemini(), startOpenAi()]);
  const other = { provider: "openai", base_url: `${openai.url}/v1`, credential: { env: "OPENAI" } };
  const own = { provider: "gemini", base_url: gemini.url, credential: { env: "GEMINI" } };
  const names = [...CASES.map(([name]) => name), "both"];
  const model = (name: string) => ({
    type: "chat",
    max_output_tokens: 65_536,
    reasoning: "level",
    price: { currency: "USD", per_million: { input: "1", output: "2" } },
    route: {
      targets: [
        { channel: `${name}-own`, upstream_model: "gemini-3.8-flash" },
        { channel: "other", upstream_model: "gpt-4.1" },
      ],
    },
  });
  gateway = await startTestGateway({
    yaml: Bun.YAML.stringify({
      channels: { other, ...Object.fromEntries(names.map((name) => [`${name}-own`, own])) },
      models: Object.fromEntries(names.map((name) => [name, model(name)])),
      routing: { max_attempts: 2, retry_floor: 1000 },
    }),
    env: { GEMINI: GEMINI_KEY, OPENAI: OPENAI_KEY },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await Promise.all([gemini.close(), openai.close()]);
});
beforeEach(() => {
  gemini.reset();
  openai.reset();
});

const BODY = { contents: [{ role: "user", parts: [{ text: "a harbour" }] }] };
const call = (model: string, requestId: string, body: object = BODY) =>
  gateway.call(`/v1beta/models/${model}:streamGenerateContent`, {
    body,
    headers: { "x-request-id": requestId },
  });

describe.each(CASES)("when the vendor of the protocol is %s", (model, behaviour) => {
  test("a native stream comes from the other, and is billed once", async () => {
    gemini.next(behaviour);
    const response = await call(model, `failover-${model}`);
    const events = (await response.json()) as { modelVersion: string; usageMetadata?: object }[];
    expect([gemini.hits.length, openai.hits.length]).toEqual([1, 1]);
    expect(new Set(events.map(({ modelVersion }) => modelVersion))).toEqual(new Set([model]));
    const [row, ...others] = await gateway.charged(`failover-${model}`);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ channel: "other", flags: [] });
    expect(row!.amount).toBe(nanosOf(events.at(-1)!.usageMetadata!));
  });
});

test("a chat stream comes from the first target, though the other speaks its protocol", async () => {
  const response = await gateway.call("/v1/chat/completions", {
    body: { model: "both", stream: true, messages: [{ role: "user", content: "a harbour" }] },
    headers: { "x-request-id": "book-chat" },
  });
  expect(await response.text()).toContain("data: [DONE]");
  expect([gemini.hits.length, openai.hits.length]).toEqual([1, 0]);
});

test("what only the protocol itself can say goes to its vendor, and nowhere else when that fails", async () => {
  const body = { ...BODY, generationConfig: { candidateCount: 2 } };
  expect((await call("both", "two-candidates", body)).status).toBe(200);
  expect(gemini.hits.length).toBe(1);
  gemini.next({ fault: "error-status", text: "UNAVAILABLE" });
  const refused = await call("both", "no-candidates", body);
  expect([refused.status, openai.hits.length]).toEqual([503, 0]);
});

test("the vendor's own book and the ledger agree", async () => {
  const ids = ["book-whole", "book-stream", "book-call"];
  const tools = [{ functionDeclarations: [{ name: "look" }] }];
  await (await call("both", "book-stream")).text();
  for (const [id, body] of [
    ["book-whole", BODY],
    ["book-call", { ...BODY, tools }],
  ] as const)
    await gateway.call("/v1/models/both:generateContent", { body, headers: { "x-request-id": id } });
  const rows = (await Promise.all(ids.map((id) => gateway.charged(id)))).flat();
  const owed = gemini.totals.usages.reduce((sum: bigint, usage) => sum + nanosOf(usage as object), 0n);
  expect(rows.reduce((sum, { amount }) => sum + amount, 0n)).toBe(owed);
  expect([gemini.totals.delivered, rows.length]).toEqual([3, 3]);
});
