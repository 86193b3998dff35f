import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { SIMULATED_KEY, startAnthropic } from "./anthropic.ts";
import { signatureOf } from "./anthropic/signatures.ts";
import type { Simulator } from "./simulator.ts";

let vendor: Simulator;

beforeAll(async () => {
  vendor = await startAnthropic();
});
afterEach(() => vendor.reset());
afterAll(() => vendor.close());

const HEADERS = {
  "x-api-key": SIMULATED_KEY,
  "anthropic-version": "2023-06-01",
  "content-type": "application/json",
};
const user = (content: unknown) => ({ role: "user", content });
const assistant = (...content: object[]) => ({ role: "assistant", content });
const call = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
const result = { type: "tool_result", tool_use_id: "toolu_1", content: "ok" };
const tool = { name: "f", input_schema: { type: "object" } };
const thought = { type: "thinking", thinking: "Hm.", signature: signatureOf("Hm.") };

function post(body: object, headers: Record<string, string> = {}, path = "/v1/messages"): Promise<Response> {
  const whole = { model: "claude-haiku-4-5", max_tokens: 4_000, messages: [user("hi")], ...body };
  return fetch(vendor.url + path, {
    method: "POST",
    body: JSON.stringify(whole),
    headers: { ...HEADERS, ...headers },
  });
}

describe("the simulated vendor refuses", () => {
  const budget = { type: "enabled", budget_tokens: 2_000 };
  const rows: [string, object, Record<string, string>?][] = [
    ["a missing maximum", { max_tokens: undefined }],
    ["a maximum beyond the model's", { max_tokens: 64_001 }],
    ["an unknown field", { seed: 1 }],
    ["an unknown version", {}, { "anthropic-version": "2020-01-01" }],
    ["sampling by the newer version", { temperature: 1 }, { "anthropic-version": "2026-10-21" }],
    ["context management without its beta", { context_management: {} }],
    ["a temperature above 1", { temperature: 1.5 }],
    ["temperature and top_p", { temperature: 1, top_p: 1 }],
    ["sampling of a model that thinks by itself", { model: "claude-opus-5", temperature: 0.5 }],
    ["a budget for a model that thinks by itself", { model: "claude-opus-5", thinking: budget }],
    ["adaptive thinking of an older model", { thinking: { type: "adaptive" } }],
    ["too small a budget", { thinking: { type: "enabled", budget_tokens: 1_000 } }],
    ["a budget of the whole maximum", { thinking: { type: "enabled", budget_tokens: 4_000 } }],
    ["a forced tool beside thinking", { thinking: budget, tools: [tool], tool_choice: { type: "any" } }],
    ["a choice without tools", { tool_choice: { type: "auto" } }],
    ["an empty text", { messages: [user([{ type: "text", text: "" }])] }],
    ["an assistant at the beginning", { messages: [assistant({ type: "text", text: "a" }), user("b")] }],
    ["a call without its result", { messages: [user("a"), assistant(call), user("b")] }],
    [
      "a result that is not first",
      { messages: [user("a"), assistant(call), user([{ type: "text", text: "b" }, result])] },
    ],
    ["a result without its call", { messages: [user([result])] }],
    [
      "an id of other characters",
      { messages: [user("a"), assistant({ ...call, id: "f:0" }), user([result])] },
    ],
    [
      "a changed signature",
      { messages: [user("a"), assistant({ ...thought, thinking: "Ha." }, call), user([result])] },
    ],
    [
      "a call without its thinking",
      { thinking: budget, messages: [user("a"), assistant(call), user([result])] },
    ],
    [
      "an answer to continue that ends in space",
      { messages: [user("a"), assistant({ type: "text", text: "b " })] },
    ],
    [
      "five marks",
      {
        system: Array.from("12345", (text) => ({ type: "text", text, cache_control: { type: "ephemeral" } })),
      },
    ],
    ["a stop of white space", { stop_sequences: ["\n"] }],
  ];
  // Without a third value, the test runner would pass a callback.
  const cases = rows.map(([name, body, headers = {}]) => [name, body, headers] as const);
  test.each(cases)("%s", async (_, body, headers) => {
    const response = await post(body, headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  });

  test("a wrong key and an unknown model", async () => {
    expect((await post({}, { "x-api-key": "wrong" })).status).toBe(401);
    expect((await post({ model: "claude-none" })).status).toBe(404);
  });
});

interface Answer {
  stop_reason: string;
  usage: {
    cache_creation: Record<string, number>;
    cache_creation_input_tokens: number;
    cache_read_input_tokens: number;
  };
}
const read = async (response: Response) => (await response.json()) as Answer;

test("the simulated vendor takes a whole tool loop with thinking, and counts what it caches", async () => {
  const long = { type: "text", text: "a".repeat(4_000), cache_control: { type: "ephemeral", ttl: "1h" } };
  const thinking = { type: "enabled", budget_tokens: 2_000 };
  const first = { thinking, tools: [tool], system: [long], messages: [user("a")] };
  const { usage, stop_reason } = await read(await post(first));
  expect(stop_reason).toBe("tool_use");
  expect(usage.cache_creation.ephemeral_1h_input_tokens).toBe(usage.cache_creation_input_tokens);
  expect(usage.cache_creation_input_tokens).toBeGreaterThan(900);
  const second = { ...first, messages: [user("a"), assistant(thought, call), user([result])] };
  const answer = await read(await post(second));
  expect(answer.usage).toMatchObject({ cache_creation_input_tokens: 0 });
  expect(answer.usage.cache_read_input_tokens).toBe(usage.cache_creation_input_tokens);
  expect(vendor.totals.usages).toEqual([usage, answer.usage]);
});

test("the simulated vendor counts without a maximum", async () => {
  const response = await post({ max_tokens: undefined }, {}, "/v1/messages/count_tokens");
  expect(await response.json()).toEqual({ input_tokens: expect.any(Number) });
});
