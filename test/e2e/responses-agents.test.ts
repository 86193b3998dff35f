import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { expectLawfulEvents, readEvents } from "../support/responses-schema.ts";
import {
  FALLBACK,
  NATIVE,
  openResponsesFixture,
  OTHER_ACCOUNT,
  OVER_CHAT,
  OVER_MESSAGES,
  OVER_NATIVE,
  type ResponsesFixture,
} from "../support/responses-gateway.ts";

/*
 * Sessions of a coding agent like Codex. Every request is compressed, and contains the whole history with its encrypted
 * reasoning. The tools are functions, a custom tool with a grammar, and tools of a namespace.
 */
let fixture: ResponsesFixture;
beforeAll(async () => {
  fixture = await openResponsesFixture();
});
afterEach(() => {
  for (const each of [fixture.vendor, fixture.other, fixture.messages, fixture.generate]) each.reset();
});
afterAll(() => fixture[Symbol.asyncDispose]());

type Item = Record<string, unknown>;

const TOOLS = [
  {
    type: "function",
    name: "shell",
    description: "Runs a command.",
    strict: false,
    parameters: {
      type: "object",
      properties: { command: { type: "string" }, timeout_ms: { type: "integer", minimum: 1 } },
      required: ["command"],
      additionalProperties: false,
    },
  },
  {
    type: "custom",
    name: "apply_patch",
    description: "Edits files. This is a FREEFORM tool.",
    format: {
      type: "grammar",
      syntax: "lark",
      definition: 'start: begin hunk+ end\nbegin: "*** Begin Patch" LF',
    },
  },
  {
    type: "namespace",
    name: "notes",
    description: "Keeps notes.",
    tools: [
      {
        type: "function",
        name: "add",
        parameters: { type: "object", properties: { text: { type: "string" } } },
      },
    ],
  },
];

const requestOf = (model: string, input: readonly Item[], turn = 0) => ({
  model,
  instructions: "You are a coding agent. ".repeat(50),
  input,
  // Simulated models call the first tool.
  tools: [...TOOLS.slice(turn % 3), ...TOOLS.slice(0, turn % 3)],
  tool_choice: "auto",
  // The native protocol cannot forbid several calls in one reply.
  parallel_tool_calls: model === OVER_NATIVE,
  reasoning: { effort: "medium", summary: "auto" },
  store: false,
  stream: true,
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "0193-session",
  client_metadata: { "x-codex-installation-id": "1" },
});

/** Sends a request like Codex and returns the output items. */
async function ask(model: string, input: readonly Item[], turn = 0): Promise<Item[]> {
  const response = await fixture.gateway.call("/v1/responses", {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "zstd", accept: "text/event-stream" },
    body: Bun.zstdCompressSync(JSON.stringify(requestOf(model, input, turn))),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  const events = readEvents(text);
  expectLawfulEvents(events);
  expect(events.at(-1)).toMatchObject({
    type: "response.completed",
    response: { id: expect.any(String), model },
  });
  // Codex uses each item when the item ends, and drops the item's id.
  return events
    .filter(({ type }) => type === "response.output_item.done")
    .map(({ item }) => Object.fromEntries(Object.entries(item as Item).filter(([name]) => name !== "id")));
}

function resultOf({ type, call_id: id }: Item): Item {
  return {
    type: type === "custom_tool_call" ? `${type}_output` : "function_call_output",
    call_id: id,
    output: "Exit code: 0",
  };
}

const isCall = ({ type }: Item) => type === "function_call" || type === "custom_tool_call";
const userSays = (text: string): Item => {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
};

describe.each([NATIVE, OVER_CHAT, OVER_MESSAGES, OVER_NATIVE])("on %s", (model) => {
  test("twenty turns with calls of every kind of tool", async () => {
    const history: Item[] = [
      { type: "message", role: "developer", content: [{ type: "input_text", text: "Sandboxed." }] },
    ];
    const called = new Set<string>();
    for (let turn = 0; turn < 20; turn += 1) {
      history.push(userSays(`Step ${turn}: change the file é.`));
      const first = await ask(model, history, turn);
      const calls = first.filter(isCall);
      expect(calls.length).toBeGreaterThan(0);
      for (const { type, namespace = "", name } of calls) called.add(`${type}/${namespace}/${name}`);
      history.push(...first, ...calls.map(resultOf));
      const second = await ask(model, history, turn);
      expect(second.filter(isCall)).toEqual([]);
      expect(second.at(-1)).toMatchObject({ type: "message", role: "assistant" });
      history.push(...second);
    }
    expect([...called].sort()).toEqual([
      "custom_tool_call//apply_patch",
      "function_call//shell",
      "function_call/notes/add",
    ]);
  });
});

test("an input over the context is refused with the code that agents know", async () => {
  fixture.vendor.next("context-length", { fault: "failed-frame-first", code: "context_length_exceeded" });
  for (const _ of ["a refusal", "a stream that fails at once"]) {
    const response = await fixture.gateway.call("/v1/responses", {
      body: requestOf(NATIVE, [userSays("hi")]),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "context_length_exceeded", type: "invalid_request_error" },
    });
  }
});

describe("reasoning that another account encrypted", () => {
  test("does not stop a session that moves to another account", async () => {
    const history = [userSays("Begin.")];
    const first = await ask(NATIVE, history);
    expect(first[0]!["encrypted_content"]).toMatch(/^enc-one-/);
    history.push(...(first as never[]), ...(first.filter(isCall).map(resultOf) as never[]));
    const second = await ask(OTHER_ACCOUNT, history);
    expect(second[0]!["encrypted_content"]).toMatch(/^enc-two-/);
    expect(fixture.other.hits.map(({ status }) => status)).toEqual([400, 200]);
    const sent = fixture.other.hits[1]!.json()["input"] as Item[];
    expect(sent.map(({ type }) => type)).toEqual(["message", "function_call", "function_call_output"]);
  });

  test("inside of a stream, lets the next target answer", async () => {
    fixture.other.next({ fault: "failed-frame-first", code: "invalid_encrypted_content" });
    expect((await ask(FALLBACK, [userSays("Begin.")])).length).toBeGreaterThan(0);
    expect(fixture.other.hits).toHaveLength(1);
    expect(fixture.vendor.hits).toHaveLength(1);
  });
});

test("reasoning that is named by an id alone, as clients with a store send it, stops no session", async () => {
  const reasoning = { type: "reasoning", id: "rs_0123456789", summary: [] };
  expect((await ask(NATIVE, [userSays("Begin."), reasoning, userSays("Go on.")])).length).toBeGreaterThan(0);
  expect(fixture.vendor.hits.map(({ status }) => status)).toEqual([404, 200]);
});

test("signed reasoning of a vendor of another protocol comes back to it through the caller", async () => {
  const history = [userSays("Begin.")];
  const first = await ask(OVER_MESSAGES, history);
  expect(first[0]!["encrypted_content"]).toMatch(/^gw-messages-/);
  history.push(...(first as never[]), ...(first.filter(isCall).map(resultOf) as never[]));
  await ask(OVER_MESSAGES, history);
  // This vendor refuses thinking with another vendor's signature.
  const { messages } = fixture.messages.hits[1]!.json() as { messages: { content: Item[] }[] };
  expect(messages[1]!.content[0]).toMatchObject({ type: "thinking", signature: expect.any(String) });
  // A vendor of the responses protocol must not receive reasoning that it cannot decrypt.
  await ask(NATIVE, history);
  const { input } = fixture.vendor.hits[0]!.json() as { input: Item[] };
  expect(input.some(({ type }) => type === "reasoning")).toBe(false);
});

test.each(["gzip", "br", "deflate", "zstd"] as const)("a body encoded with %s is read", async (encoding) => {
  const bytes = Buffer.from(JSON.stringify({ model: NATIVE, input: "hi" }));
  const { gzipSync, brotliCompressSync, deflateSync, zstdCompressSync } = await import("node:zlib");
  const encode = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, zstd: zstdCompressSync };
  const send = (body: Uint8Array) =>
    fixture.gateway.call("/v1/responses", {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": encoding },
      body: new Uint8Array(body),
    });
  expect((await send(encode[encoding](bytes))).status).toBe(200);
  const bomb = encode[encoding](Buffer.alloc(33 * 1024 * 1024, 0x20));
  const refused = await send(bomb);
  expect(refused.status).toBe(413);
  expect(await refused.json()).toMatchObject({ error: { code: "payload_too_large" } });
});

// This test is last, because a failing account is not called for some time.
test("a session of twenty turns goes on at another account when its own ends in the middle", async () => {
  const history: Item[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    if (turn === 10) fixture.other.respondBy(() => ({ fault: "error-status", status: 503 }));
    const served = turn < 10 ? fixture.other : fixture.vendor;
    history.push(userSays(`Step ${turn}: change the file é.`));
    const first = await ask(FALLBACK, history, turn);
    expect(served.hits.at(-1)!.status).toBe(200);
    const calls = first.filter(isCall);
    expect(calls.length).toBeGreaterThan(0);
    history.push(...first, ...calls.map(resultOf));
    const second = await ask(FALLBACK, history, turn);
    expect(second.at(-1)).toMatchObject({ type: "message", role: "assistant" });
    history.push(...second);
  }
  fixture.other.respondBy(() => undefined);
  // The second account cannot decrypt the first account's reasoning. Everything else must be sent.
  const sent = fixture.vendor.hits.at(-1)!.json()["input"] as Item[];
  expect(sent.filter(({ role }) => role === "user")).toHaveLength(20);
  const foreign = sent.filter(({ encrypted_content: text }) => String(text).startsWith("enc-two-"));
  expect(foreign).toEqual([]);
});
