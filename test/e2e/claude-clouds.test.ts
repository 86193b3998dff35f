import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { SIMULATED_KEY, startAnthropic } from "../upstreams/anthropic.ts";
import { signatureOf } from "../upstreams/anthropic/signatures.ts";
import { SIMULATED_ACCESS_KEY, startBedrock } from "../upstreams/bedrock.ts";
import { startTokenServer, type TokenServer } from "../upstreams/google-tokens.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { startVertexClaude } from "../upstreams/vertex-claude.ts";

/* The official client with one model, which its own vendor and two clouds offer. */
const MODEL = "house-claude";
const NANOS = { input: 1_000n, output: 5_000n };
let gateway: TestGateway;
let tokens: TokenServer;
let vendors: { anthropic: Simulator; bedrock: Simulator; vertex: Simulator };
let client: Anthropic;

beforeAll(async () => {
  tokens = await startTokenServer();
  const [anthropic, bedrock, vertex] = await Promise.all([
    startAnthropic(),
    startBedrock(),
    startVertexClaude({ accepts: (token) => tokens.granted.includes(token) }),
  ]);
  vendors = { anthropic, bedrock, vertex };
  const { accessKeyId, secretAccessKey, sessionToken } = SIMULATED_ACCESS_KEY;
  gateway = await startTestGateway({
    yaml: Bun.YAML.stringify({
      routing: { max_attempts: 3, retry_floor: 1000 },
      channels: {
        anthropic: { provider: "anthropic", base_url: anthropic.url, credential: { env: "ANTHROPIC_KEY" } },
        bedrock: {
          provider: "bedrock",
          base_url: bedrock.url,
          region: "eu-central-1",
          settings: {
            access_key_id: accessKeyId,
            secret_access_key: { env: "AWS_SECRET" },
            session_token: { env: "AWS_SESSION" },
          },
        },
        vertex: { provider: "vertex", base_url: vertex.url, credential: { env: "GOOGLE_ACCOUNT" } },
      },
      models: {
        [MODEL]: {
          type: "messages",
          max_output_tokens: 60_000,
          reasoning: "adaptive",
          price: { currency: "USD", per_million: { input: "1", output: "5" } },
          route: {
            targets: [
              { channel: "anthropic", upstream_model: "claude-opus-5" },
              { channel: "bedrock", upstream_model: "global.anthropic.claude-opus-5" },
              { channel: "vertex", upstream_model: "claude-opus-5" },
            ],
          },
        },
      },
    }),
    env: {
      ANTHROPIC_KEY: SIMULATED_KEY,
      AWS_SECRET: secretAccessKey,
      AWS_SESSION: sessionToken!,
      GOOGLE_ACCOUNT: tokens.accountKey,
    },
  });
  client = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await Promise.all([...Object.values(vendors), tokens].map((each) => each.close()));
});

const TOOL = { name: "look_up", input_schema: { type: "object" as const } };
const DOWN = { fault: "error-status", status: 529 } as const;

/** Runs a streamed turn. Returns its message, and the channel of its only row in the ledger. */
async function turn(messages: Anthropic.MessageParam[]) {
  const stream = client.messages.stream({
    model: MODEL,
    max_tokens: 4_000,
    thinking: { type: "adaptive" },
    tools: [TOOL],
    messages,
  });
  const message = await stream.finalMessage();
  const rows = await gateway.charged(stream.response!.headers.get("x-request-id")!);
  expect(rows).toHaveLength(1);
  const { input_tokens: input, output_tokens: output } = message.usage;
  expect(rows[0]!.amount).toBe(BigInt(input) * NANOS.input + BigInt(output) * NANOS.output);
  return { message, channel: rows[0]!.channel };
}

test("a conversation with thinking and tools goes on in another cloud, and each turn is billed once", async () => {
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "What makes a harbour quiet?" }];
  const channels: (string | null)[] = [];
  for (const failing of [[], ["anthropic"], ["anthropic", "bedrock"]] as const) {
    for (const name of failing)
      vendors[name].next(name === "bedrock" ? { fault: "error-frame-first" } : DOWN);
    const { message, channel } = await turn(messages);
    channels.push(channel);
    expect(message).toMatchObject({ model: MODEL, stop_reason: "tool_use" });
    const [thought, call] = message.content;
    expect(thought).toMatchObject({ type: "thinking", signature: signatureOf("Let me think about this.") });
    if (call?.type !== "tool_use") throw new Error("no call");
    messages.push({ role: "assistant", content: message.content });
    messages.push({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: call.id, content: "Walls." }],
    });
    messages.push({ role: "assistant", content: [{ type: "text", text: "Walls do." }] });
    messages.push({ role: "user", content: "And what else?" });
  }
  expect(channels).toEqual(["anthropic", "bedrock", "vertex"]);
  const delivered = Object.values(vendors).map(({ totals }) => totals.usages.length);
  expect(delivered).toEqual([1, 1, 1]);
});

test("a stream that a cloud breaks off ends with the error, charged once for what was delivered", async () => {
  vendors.anthropic.next(DOWN);
  vendors.bedrock.next({ fault: "error-frame-later", after: 4, code: "throttlingException" });
  const response = await gateway.call("/v1/messages", {
    body: { model: MODEL, max_tokens: 100, stream: true, messages: [{ role: "user", content: "Hi" }] },
  });
  const text = await response.text();
  expect(text).toContain("event: error\n");
  expect(text).not.toContain("message_stop");
  expect(text).not.toMatch(/throttling|bedrock|amazon/i);
  const rows = await gateway.charged(response.headers.get("x-request-id")!);
  expect(rows.map(({ channel, flags }) => [channel, flags])).toEqual([["bedrock", ["partial", "estimated"]]]);
});

test("a link goes to the target that fetches it, and is refused where there is none", async () => {
  const source = { type: "url" as const, url: "https://pictures.example/fox.png" };
  const ask = () =>
    client.messages.create({
      model: MODEL,
      max_tokens: 100,
      messages: [{ role: "user", content: [{ type: "image", source }] }],
    });
  const sent = Object.values(vendors).map(({ hits }) => hits.length);
  expect(await ask()).toMatchObject({ type: "message" });
  vendors.anthropic.next(DOWN);
  const refused = await ask().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Anthropic.APIError);
  const after = Object.values(vendors).map(({ hits }, index) => hits.length - sent[index]!);
  expect(after).toEqual([2, 0, 0]);
});

test("tokens are counted by the targets that count", async () => {
  vendors.anthropic.next(DOWN);
  const count = await client.messages.countTokens({
    model: MODEL,
    messages: [{ role: "user", content: "Hi" }],
  });
  expect(count.input_tokens).toBeGreaterThan(0);
  expect(vendors.vertex.hits.at(-1)!.path).toEndWith("count-tokens:rawPredict");
});

test.each([false, true])(
  "a caller of chat completions gets an answer of a cloud (streamed: %p)",
  async (stream) => {
    vendors.anthropic.next(DOWN);
    const messages = [{ role: "user", content: "Hi" }];
    const response = await gateway.call("/v1/chat/completions", { body: { model: MODEL, stream, messages } });
    expect(await response.text()).toContain("word0");
    const rows = await gateway.charged(response.headers.get("x-request-id")!);
    expect(rows.map(({ channel, consumed, flags }) => [channel, consumed?.source, flags])).toEqual([
      ["bedrock", "upstream", []],
    ]);
  },
);
