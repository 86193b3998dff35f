import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import {
  BUDGET,
  CLAUDE,
  messagesNanos,
  openMessagesGateway,
  ROUTED,
  type MessagesGateway,
} from "../support/messages-gateway.ts";
import { until } from "../support/gateway.ts";
import { jsonText } from "../support/json-texts.ts";
import { SIMULATED_KEY } from "../upstreams/anthropic.ts";
import type { Simulator } from "../upstreams/simulator.ts";

/* A coding agent like Claude Code: long loops with tools, thinking and a cached prompt, in streams. */
let fixture: MessagesGateway;

beforeAll(async () => {
  fixture = await openMessagesGateway();
});
afterEach(() => vendors().forEach((vendor) => vendor.reset()));
afterAll(() => fixture[Symbol.asyncDispose]());

const vendors = (): Simulator[] => [fixture.vendor, fixture.spare, fixture.chat];
const mark = { cache_control: { type: "ephemeral", ttl: "1h" } };
const TURNS = 20;
const BETAS = "interleaved-thinking-2025-05-14,context-management-2025-06-27";

const COMMON = {
  model: ROUTED,
  max_tokens: 32_000,
  stream: true,
  thinking: { type: "enabled", budget_tokens: 10_000 },
  system: [
    { type: "text", text: "x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli" },
    { type: "text", text: "You are a careful agent. ".repeat(200), ...mark },
  ],
  tools: [
    { name: "Read", description: "Reads a file", input_schema: { type: "object", properties: {} } },
    {
      name: "Write",
      description: "Writes a file",
      input_schema: { type: "object", properties: {} },
      ...mark,
    },
  ],
  metadata: { user_id: "user_0123_account_4567_session_89ab" },
  context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
};

interface Block {
  type: string;
  [name: string]: unknown;
}

/** Returns the parts of a stream that the agent keeps: blocks, the raw text of calls' inputs, and usage. */
async function readBlocks(response: Response): Promise<{ blocks: Block[]; inputs: string[]; usage: never }> {
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text.trimEnd()).toEndWith('data: {"type":"message_stop"}');
  const blocks: Block[] = [];
  const inputs: string[] = [];
  let usage = {};
  for (const line of text.split("\n")) {
    if (!line.startsWith("data: ")) continue;
    const { type, index, delta, content_block: block, message, usage: more } = JSON.parse(line.slice(6));
    if (type === "message_start") usage = message.usage;
    if (type === "message_delta")
      usage = { ...usage, ...Object.fromEntries(Object.entries(more).filter(([, value]) => value !== null)) };
    if (type === "content_block_start") {
      blocks[index] = block;
      inputs[index] = "";
    }
    if (type !== "content_block_delta") continue;
    const open = blocks[index]!;
    for (const name of ["text", "thinking", "signature"])
      if (delta[name] !== undefined) open[name] = `${open[name]}${delta[name]}`;
    inputs[index] += delta.partial_json ?? "";
  }
  return { blocks, inputs, usage: usage as never };
}

function call(body: string, requestId: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${fixture.gateway.url}/v1/messages?beta=true`, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${fixture.gateway.key}`,
      "x-api-key": "a key of another place",
      "anthropic-version": "2023-06-01",
      "anthropic-beta": BETAS,
      "x-app": "cli",
      "x-request-id": requestId,
      ...headers,
    },
  });
}

test("a request without a version gets the oldest, and a caller's newer one decides what is refused", async () => {
  const body = JSON.stringify({
    model: BUDGET,
    max_tokens: 9,
    temperature: 1,
    messages: [{ role: "user", content: "a" }],
  });
  const older = await fixture.gateway.call("/v1/messages", {
    body,
    headers: { "content-type": "application/json" },
  });
  expect(older.status).toBe(200);
  expect(fixture.vendor.hits[0]!.headers["anthropic-version"]).toBe("2023-06-01");
  const newer = await call(body, "version", { "anthropic-version": "2026-10-21" });
  expect(newer.status).toBe(400);
  expect(await newer.text()).toContain("temperature: Extra inputs are not permitted");
});

test("a session of twenty turns keeps its thinking, its cache and its bytes, and one vendor's end in the middle", async () => {
  const messages: string[] = [
    JSON.stringify({ role: "user", content: [{ type: "text", text: "Fix it", ...mark }] }),
  ];
  const costs: bigint[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    if (turn === 10) fixture.vendor.respondBy(() => ({ fault: "error-status", status: 529 }));
    const body = `${JSON.stringify(COMMON).slice(0, -1)},"messages":[${messages.join(",")}]}`;
    const id = `session-${turn}`;
    const { blocks, inputs, usage } = await readBlocks(await call(body, id));
    const served = turn < 10 ? fixture.vendor : fixture.spare;
    const hit = served.hits.at(-1)!;
    expect(hit.body.toString()).toBe(body.replace(`"${ROUTED}"`, '"claude-haiku-4-5"'));
    expect(hit.headers).toMatchObject({
      "anthropic-version": "2023-06-01",
      "anthropic-beta": BETAS,
      "x-api-key": SIMULATED_KEY,
    });
    expect(hit.headers["authorization"]).toBeUndefined();
    expect(hit.headers["x-app"]).toBeUndefined();
    expect(blocks.map(({ type }) => type)).toEqual(
      turn % 2 === 0 ? ["thinking", "tool_use", "tool_use"] : ["thinking", "text"],
    );
    costs.push(messagesNanos(usage));
    messages.push(answered(blocks, inputs), nextQuestion(blocks, turn));
  }
  for (const [turn, cost] of costs.entries()) {
    const [row] = await fixture.gateway.charged(`session-${turn}`);
    expect(row).toMatchObject({ amount: cost, flags: [] });
  }
  const reads = [...fixture.vendor.totals.usages, ...fixture.spare.totals.usages].filter(
    (usage) => Object(usage).cache_read_input_tokens > 0,
  );
  expect(reads.length).toBeGreaterThan(TURNS - 4);
  fixture.vendor.respondBy(() => undefined);
}, 30_000);

/** Returns the assistant's message. Inputs of calls keep their original text. */
function answered(blocks: readonly Block[], inputs: readonly string[]): string {
  const texts = blocks.map((block, index) =>
    block.type === "tool_use"
      ? JSON.stringify({ ...block, input: 0 }).replace('"input":0', `"input":${inputs[index]}`)
      : JSON.stringify(block),
  );
  return `{"role":"assistant","content":[${texts.join(",")}]}`;
}

function nextQuestion(blocks: readonly Block[], turn: number): string {
  const results = blocks
    .filter(({ type }) => type === "tool_use")
    .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: `Line ${turn}` }));
  const content = results.length > 0 ? results : [{ type: "text", text: `And now ${turn}?` }];
  return JSON.stringify({ role: "user", content });
}

test("the conversation goes on at a vendor of another protocol when both of its own are down", async () => {
  const first = await readBlocks(
    await call(JSON.stringify({ ...COMMON, messages: [{ role: "user", content: "Fix it" }] }), "other-1"),
  );
  fixture.vendor.next({ fault: "error-status", status: 529 });
  fixture.spare.next({ fault: "error-status", status: 529 });
  const history = `{"role":"user","content":"Fix it"},${answered(first.blocks, first.inputs)},${nextQuestion(first.blocks, 1)}`;
  const body = `${JSON.stringify(COMMON).slice(0, -1)},"messages":[${history}]}`;
  const { blocks } = await readBlocks(await call(body, "other-2"));
  expect(blocks.map(({ type }) => type)).toEqual(["text"]);
  const sent = fixture.chat.hits[0]!.json();
  expect(JSON.stringify(sent["messages"])).not.toContain("billing-header");
  expect(fixture.chat.hits[0]!.body.toString()).toContain('\\"id\\": 12345678901234567890');
  expect(fixture.chat.hits[0]!.headers["anthropic-beta"]).toBeUndefined();
});

test("a call that a vendor of another protocol made is answered at a vendor of this one", async () => {
  for (const vendor of [fixture.vendor, fixture.spare]) vendor.next({ fault: "error-status", status: 529 });
  const question = { role: "user", content: "Fix it" };
  const first = await readBlocks(
    await call(JSON.stringify({ ...COMMON, messages: [question] }), "elsewhere-1"),
  );
  expect(fixture.chat.hits).toHaveLength(1);
  expect(first.blocks.map(({ type }) => type)).toContain("tool_use");
  const history = `${JSON.stringify(question)},${answered(first.blocks, first.inputs)},${nextQuestion(first.blocks, 1)}`;
  const body = `${JSON.stringify(COMMON).slice(0, -1)},"messages":[${history}]}`;
  const second = await until("a vendor of the protocol", async () => {
    const blocks = await readBlocks(await call(body, crypto.randomUUID()));
    return fixture.vendor.hits.length > 1 ? blocks : undefined;
  });
  expect(second.blocks.map(({ type }) => type)).toEqual(["text"]);
  // This vendor refuses a thinking budget when a call in the history has no thinking. So the budget is removed.
  expect(fixture.vendor.hits.at(-1)!.body.toString()).toBe(
    body
      .replace(/"thinking":\{[^}]*\},/, "")
      .replace(ROUTED, String(fixture.vendor.hits.at(-1)!.json()["model"])),
  );
});

test("bodies of any spelling arrive unchanged but for the model name", async () => {
  // The simulated vendor reads `[[word]]` as an order to misbehave.
  const unmarked = jsonText.filter((text) => !/\[\[[a-z]/.test(text));
  const property = fc.asyncProperty(unmarked, unmarked, async (value, input) => {
    const text = (model: string) =>
      `{ "metadata" : {"user_id":"a","x":${value}},"max_tokens":9,"model" : "${model}", "tools":[{"name":"f","input_schema":{"type":"object","default":${input}}}],"messages":[{"role":"user","content":"q"}] }`;
    fixture.vendor.reset();
    const response = await call(text(CLAUDE), "bytes");
    expect(response.status).toBe(200);
    expect(fixture.vendor.hits[0]!.body.toString()).toBe(text("claude-opus-5"));
    expect(await response.text()).toContain('"input":{"id": 12345678901234567890, "n": 1.0}');
  });
  await fc.assert(property, { numRuns: 200 });
});
