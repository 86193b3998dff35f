import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai-6";
import { scanObject } from "../../src/lib/json.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { COMPATIBLE_KEY, startCompatible } from "../upstreams/compatible.ts";
import { PERSONAS, type Persona } from "../upstreams/compatible/personas.table.ts";
import type { Simulator } from "../upstreams/simulator.ts";

/* Vendors of chat completions with responses from their documents, through the gateway and its clients. */
const VENDORS = Object.entries(PERSONAS);
const TOOL = {
  type: "function" as const,
  function: { name: "look_up", parameters: { type: "object", properties: { id: { type: "integer" } } } },
};

/** Cost in nano-units that some vendors report for a call. */
const VENDOR_COSTS: Readonly<Record<string, bigint>> = { xai: 123n, openrouter: 140_000n };

let vendor: Simulator;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  vendor = await startCompatible();
  gateway = await startTestGateway({
    yaml: Bun.YAML.stringify(configuration(vendor.url)),
    env: { VENDOR_KEY: COMPATIBLE_KEY },
  });
  client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await vendor.close();
});

const askOf = (name: string, text: string) => ({
  model: `house-${name}`,
  messages: [{ role: "user" as const, content: text }],
});

describe.each(VENDORS)("%s", (name, persona) => {
  const ask = (text: string) => askOf(name, text);

  test("answers whole, and its usage is billed by category", async () => {
    const id = `whole-${name}`;
    const reply = await client.chat.completions.create(ask("Say hello."), {
      headers: { "x-request-id": id },
    });
    expect(reply.model).toBe(`house-${name}`);
    expect(JSON.stringify(reply.choices[0]?.message.content)).toContain("Hello there.");
    expect(await billed(id)).toEqual(persona.tokens);
    const [row] = await gateway.charged(id);
    expect(row?.vendor_cost ?? null).toEqual(VENDOR_COSTS[name] ?? null);
    expect(JSON.stringify(reply)).not.toContain("DeepInfra");
    expect(JSON.stringify(reply)).not.toMatch(/"(?:cost|cost_in_usd_ticks|cost_details)"/);
  });

  test("streams, with usage once and at the end", async () => {
    const id = `stream-${name}`;
    const stream = await client.chat.completions.create(
      { ...ask("Say hello."), stream: true },
      {
        headers: { "x-request-id": id },
      },
    );
    const chunks = await Array.fromAsync(stream);
    expect(
      JSON.stringify(chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content))),
    ).toContain("Hello");
    const last = chunks.pop();
    expect(last).toMatchObject({ choices: [], model: `house-${name}` });
    expect(JSON.stringify(last)).not.toMatch(/"(?:cost|cost_in_usd_ticks|cost_details)"/);
    const { input = 0, cacheRead = 0, cacheWrite = 0 } = persona.tokens;
    expect(last?.usage?.prompt_tokens).toBe(input + cacheRead + cacheWrite);
    expect(JSON.stringify(chunks)).not.toContain("prompt_tokens");
    expect(new Set([...chunks, last].map((chunk) => chunk?.id)).size).toBe(1);
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(await billed(id)).toEqual(persona.tokens);
  });

  test("answers callers of the messages protocol, whole and streamed", async () => {
    const body = { ...ask("Say hello."), max_tokens: 100 };
    const whole = (await (await gateway.call("/v1/messages", { body })).json()) as MessagesReply;
    expect(joined(whole.content)).toEqual({ text: "Hello there.", ...thought(persona) });
    expect(whole).toMatchObject({
      stop_reason: "end_turn",
      usage: { input_tokens: persona.tokens["input"] },
    });
    const response = await gateway.call("/v1/messages", { body: { ...body, stream: true } });
    const events = (await response.text()).match(/(?<=^data: ).*/gm) ?? [];
    const deltas = events
      .map((event) => JSON.parse(event))
      .filter(({ type }) => type === "content_block_delta");
    expect(joined(deltas.map(({ delta }) => delta))).toEqual({ text: "Hello there.", ...thought(persona) });
    expect(events.at(-1)).toContain("message_stop");
  });

  test.each(Object.entries(persona.refusals))("%s is told as what it is", async (which, refusal) => {
    const calls = vendor.hits.length;
    const body = ask(`[[refuse ${which}]]`);
    const response = await gateway.call("/v1/chat/completions", {
      body: { ...body, model: `refused-${name}-${which}` },
    });
    const [status, code] = refusal.becomes ?? [0, ""];
    const { error } = (await response.json()) as { error: Record<string, unknown> };
    expect([response.status, error["code"]]).toEqual([status, code]);
    expect(String(error["message"])).not.toMatch(
      /deepinfra|openrouter|kimi|moonshot|balance|credits|16f2151a|sk\*/i,
    );
    expect(vendor.hits.length).toBe(calls + 1);
  });
});

test.each(VENDORS.filter(([, { failure }]) => failure))(
  "an error inside a stream of %s ends the caller's with an error",
  async (name) => {
    const body = { ...askOf(name, "[[fail]]"), stream: true };
    const text = await (await gateway.call("/v1/chat/completions", { body })).text();
    expect(text).not.toContain("[DONE]");
    expect(text).toContain('"error":{');
    expect(text).not.toContain('"usage":{');
  },
);

test.each(VENDORS.filter(([, { tool }]) => tool))("%s calls tools, whole and streamed", async (name) => {
  const body = { ...askOf(name, "Look up."), tools: [TOOL] };
  const whole = await client.chat.completions.create(body);
  expect(whole.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: "look_up" } }]);
  const { choices } = await client.chat.completions.stream(body).finalChatCompletion();
  const [call] = choices[0]?.message.tool_calls ?? [];
  expect(call).toMatchObject({ function: { name: "look_up", arguments: '{"id":12345678901234567890}' } });
});

test("what a vendor refuses by its name alone is said in its words", async () => {
  const body = {
    model: "house-mistral",
    messages: [
      { role: "developer", content: "Be kind." },
      { role: "user", content: "Say hello." },
    ],
    max_completion_tokens: 50,
    seed: 7,
    stream: true,
  };
  const response = await gateway.call("/v1/chat/completions", { body });
  expect(await response.text()).toContain("[DONE]");
  expect(vendor.hits.at(-1)?.json()).toEqual({
    model: "vendor-model",
    messages: [
      { role: "system", content: "Be kind." },
      { role: "user", content: "Say hello." },
    ],
    max_tokens: 50,
    random_seed: 7,
    stream: true,
  });
});

test("reasoning goes back to a vendor that demands it, by a caller of another protocol", async () => {
  const tools = [{ name: "look_up", input_schema: { type: "object", properties: {} } }];
  const first = {
    model: "house-deepseek",
    max_tokens: 100,
    tools,
    messages: [{ role: "user", content: "Look up." }],
  };
  const text = await (await gateway.call("/v1/messages", { body: first })).text();
  const answer: MessagesReply = JSON.parse(text);
  const call = answer.content.find(({ type }) => type === "tool_use");
  const result = { type: "tool_result", tool_use_id: call?.id, content: "found" };
  const messages = [
    ...first.messages,
    { role: "assistant", content: "CONTENT" },
    { role: "user", content: [result] },
  ];
  // Sends the reply's text back unchanged, like a client that preserves numbers in arguments.
  const span = scanObject(text, ["content"]).spans[0]!;
  const body = JSON.stringify({ ...first, messages }).replace('"CONTENT"', () =>
    text.slice(span.start, span.end),
  );
  const second = await gateway.call("/v1/messages", {
    body,
    headers: { "content-type": "application/json" },
  });
  expect(second.status).toBe(200);
  const sent = vendor.hits.at(-1)?.json()["messages"];
  expect(sent).toMatchObject([
    { role: "user" },
    {
      role: "assistant",
      reasoning_content: "I must look.",
      tool_calls: [{ function: { arguments: '{"id":12345678901234567890}' } }],
    },
    { role: "tool", content: "found" },
  ]);
});

test("an account error of a vendor reaches no caller while another target serves", async () => {
  const failing = VENDORS.flatMap(([name, { refusals }]) =>
    Object.entries(refusals).flatMap(([which, { failsOver }]) => (failsOver ? [[name, which] as const] : [])),
  );
  expect(failing.length).toBeGreaterThan(1);
  for (const [name, which] of failing) {
    const body = {
      model: `spared-${name}-${which}`,
      messages: [{ role: "user", content: `[[refuse ${which}]]` }],
    };
    expect((await gateway.call("/v1/chat/completions", { body })).status).toBe(200);
  }
});

/** Returns a channel and a model for each vendor and each refusal, so that an ejection affects one test only. */
function configuration(url: string): object {
  const channels: Record<string, object> = {};
  const models: Record<string, object> = {};
  const serve = (id: string, name: string, spare: readonly string[] = []) => {
    const { provider, path, isKeyless } = PERSONAS[name]!;
    const base = name === "dashscope" ? `${url}/api/v1` : `${url}/${name}${path}`;
    channels[id] = { provider, base_url: base, ...(!isKeyless && { credential: { env: "VENDOR_KEY" } }) };
    models[id] = {
      type: "chat",
      max_output_tokens: 1000,
      price: { per_million: { input: "1", output: "2" } },
      route: { targets: [id, ...spare].map((channel) => ({ channel, upstream_model: "vendor-model" })) },
    };
  };
  for (const [name, persona] of VENDORS) {
    serve(`house-${name}`, name);
    for (const [which, { failsOver }] of Object.entries(persona.refusals)) {
      serve(`refused-${name}-${which}`, name);
      // This vendor has no such refusal, so the vendor responds normally.
      if (failsOver) serve(`spared-${name}-${which}`, name, ["house-ollama"]);
    }
  }
  return { routing: { max_attempts: 2, retry_floor: 0, retry_ratio: 0 }, channels, models };
}

async function billed(id: string): Promise<Record<string, number>> {
  const [row] = await gateway.charged(id);
  expect(row?.flags).toEqual([]);
  return row?.consumed?.tokens ?? {};
}

function thought({ thinks, provider }: Persona): object {
  return thinks || provider === "minimax" ? { thinking: expect.stringContaining("A greeting.") } : {};
}

interface MessagesReply {
  content: { type: string; id?: string; text?: string; thinking?: string }[];
}

/** Returns the joined text and the joined thinking of blocks or deltas. */
function joined(pieces: readonly { text?: string; thinking?: string }[]): object {
  const text = pieces.map((piece) => piece.text ?? "").join("");
  const thinking = pieces.map((piece) => piece.thinking ?? "").join("");
  return { text, ...(thinking !== "" && { thinking }) };
}
