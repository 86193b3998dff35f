import { translatable } from "../conversation/untranslatable.ts";
import { describe, expect, test } from "bun:test";
import { expectLawfulEvents, readEvents, responseSchema } from "../../../test/support/responses-schema.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import { collectReply, type Finish, type ReplyEvent } from "../conversation/reply.ts";
import { readRequest, responses } from "./index.ts";

const USAGE: TokenUsage = {
  unit: "token",
  source: "upstream",
  tokens: { input: 5, output: 6, reasoning: 1 },
};
const STOP: Finish = { reason: "stop", stopSequence: null };

const payloadOf = (fields: object = {}) =>
  readRequest(Buffer.from(JSON.stringify({ model: "public", input: "hi", ...fields })));

function write(events: readonly ReplyEvent[], fields: object = {}): string {
  const writer = responses.replyWriter(payloadOf(fields));
  return events.map((event) => writer.write(event)).join("") + writer.end(USAGE);
}

const call = (number: number, name = "f", kind: "function" | "custom" = "function"): ReplyEvent => ({
  type: "call",
  call: number,
  id: `call_${number}`,
  name,
  kind,
});
const args = (number: number, text: string): ReplyEvent => ({ type: "arguments", call: number, text });

const EVERYTHING: ReplyEvent[] = [
  { type: "start", id: "chatcmpl-1" },
  { type: "reasoning", text: "Let me " },
  { type: "reasoning", text: "think." },
  { type: "signature", signature: { dialect: "messages", value: "sig" } },
  { type: "signature", signature: { dialect: "messages", value: "hidden" }, isRedacted: true },
  { type: "text", text: "I look" },
  { type: "text", text: " it up." },
  call(0),
  args(0, '{"a":'),
  args(0, "1}"),
  call(1, "patch", "custom"),
  args(1, "free {text"),
  { type: "text", text: "Late." },
  { type: "refusal", text: "No." },
  { type: "finish", finish: { reason: "tool_calls", stopSequence: null } },
];

test("a stream has all events in their order, and a whole reply the same output", () => {
  const events = readEvents(write(EVERYTHING));
  expectLawfulEvents(events);
  const { output } = events.at(-1)!["response"];
  expect(output.map(({ type }: { type: string }) => type)).toEqual([
    "reasoning",
    "reasoning",
    "message",
    "function_call",
    "custom_tool_call",
    "message",
  ]);
  expect(output[5].content).toMatchObject([
    { type: "output_text", text: "Late." },
    { type: "refusal", refusal: "No." },
  ]);
  const whole = JSON.parse(responses.writeReply(collectReply(EVERYTHING), payloadOf(), USAGE));
  responseSchema.parse(whole);
  const bare = (items: object[]) => items.map((item) => ({ ...item, id: "" }));
  expect(bare(whole.output)).toEqual(bare(output));
  expect(whole.usage).toEqual({
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 12,
  });
});

test("arguments of several calls may interleave", () => {
  const events = readEvents(
    write([
      call(0),
      args(0, '{"a"'),
      call(1),
      args(1, '{"b"'),
      args(0, ":1}"),
      args(1, ":2}"),
      { type: "finish", finish: STOP },
    ]),
  );
  expectLawfulEvents(events);
  expect(events.at(-1)!["response"].output).toMatchObject([
    { arguments: '{"a":1}' },
    { arguments: '{"b":2}' },
  ]);
});

test("a call without arguments has an empty object of them", () => {
  const events = readEvents(write([call(0), { type: "finish", finish: STOP }]));
  expectLawfulEvents(events);
  expect(events.at(-1)!["response"].output).toMatchObject([{ arguments: "{}", status: "completed" }]);
});

test.each([
  ["length", "max_output_tokens"],
  ["refused", "content_filter"],
] as const)("an end by %s is incomplete", (reason, told) => {
  const events = readEvents(
    write([call(0), args(0, '{"a"'), { type: "finish", finish: { reason, stopSequence: null } }]),
  );
  expect(events.at(-1)).toMatchObject({
    type: "response.incomplete",
    response: {
      status: "incomplete",
      incomplete_details: { reason: told },
      output: [{ status: "incomplete" }],
    },
  });
});

test("a stream that is cut closes no call, and fails", () => {
  const writer = responses.replyWriter(payloadOf());
  const begun = EVERYTHING.slice(0, 9)
    .map((event) => writer.write(event))
    .join("");
  const events = readEvents(begun + writer.fail(new GatewayError("upstream_error", "It broke.")));
  expectLawfulEvents(events);
  const types = events.map(({ type }) => type);
  expect(types.slice(-2)).toEqual(["response.failed", "error"]);
  expect(types).not.toContain("response.function_call_arguments.done");
  expect(events.at(-2)!["response"].output.map(({ type }: { type: string }) => type)).toEqual([
    "reasoning",
    "reasoning",
    "message",
  ]);
});

test.each([
  [undefined, "server_error"],
  [false, "invalid_prompt"],
] as const)(
  "a stream that fails before its first event begins, and says by its code if to retry",
  (shouldRetry, code) => {
    const error = new GatewayError(
      "upstream_auth_failed",
      "Not now.",
      shouldRetry === false ? { shouldRetry } : {},
    );
    const events = readEvents(responses.replyWriter(payloadOf()).fail(error));
    expectLawfulEvents(events);
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.failed",
      "error",
    ]);
    expect(events[2]!["response"].error).toEqual({ code, message: "Not now." });
    expect(events[3]).toMatchObject({ code: "upstream_auth_failed", message: "Not now." });
  },
);

describe("tools of a namespace", () => {
  const long = "a_tool_with_a_rather_long_name_that_fits_alone_but_not_with_more";
  const tools = [
    {
      type: "namespace",
      name: "browser",
      description: "Opens pages.",
      tools: [
        { type: "function", name: "open", parameters: { type: "object" } },
        { type: "function", name: long, description: "Long." },
      ],
    },
    { type: "function", name: "browser__x" },
  ];
  const input = [
    { role: "user", content: "hi" },
    { type: "function_call", call_id: "c", namespace: "browser", name: "open", arguments: "{}" },
    { type: "function_call_output", call_id: "c", output: "ok" },
  ];

  test("are flat for vendors without them, and the caller's own again in calls", () => {
    const conversation = responses.readConversation(payloadOf({ tools, input }));
    const names = conversation.tools.map(({ name }) => name);
    expect(names[0]).toBe("browser__open");
    expect(conversation.tools[0]!.description).toBe("Opens pages.");
    expect(names[1]!.length).toBe(64);
    expect(conversation.turns[1]!.parts[0]).toMatchObject({ name: "browser__open" });
    const events = readEvents(
      write([...names.map((name, index) => call(index, name)), { type: "finish", finish: STOP }], { tools }),
    );
    expectLawfulEvents(events);
    expect(events.at(-1)!["response"].output).toMatchObject([
      { namespace: "browser", name: "open" },
      { namespace: "browser", name: long },
      { name: "browser__x" },
    ]);
    expect(events.at(-1)!["response"].output[2]).not.toHaveProperty("namespace");
  });
});

test("what vendors sign comes back as they signed it", () => {
  const signed: ReplyEvent[] = [
    { type: "reasoning", text: "shown" },
    { type: "signature", signature: { dialect: "messages", value: "one" } },
    { type: "signature", signature: { dialect: "messages", value: "two" }, isRedacted: true },
    {
      type: "call",
      call: 0,
      id: "c",
      name: "f",
      kind: "function",
      signature: { dialect: "native", value: "three" },
    },
    args(0, "{}"),
    { type: "finish", finish: STOP },
  ];
  const { output } = readEvents(write(signed)).at(-1)!["response"];
  const input = [...output, { type: "function_call_output", call_id: "c", output: "ok" }];
  const { turns } = responses.readConversation(payloadOf({ input }));
  expect(turns[0]!.parts).toEqual(collectReply(signed).parts as never);
});

test("a result stands first after its call, wherever the caller put it", () => {
  const input = [
    { role: "user", content: "hi" },
    { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
    { type: "function_call", call_id: "c2", name: "f", arguments: "{}" },
    { role: "developer", content: "Be quick." },
    { role: "user", content: "and?" },
    { type: "function_call_output", call_id: "c1", output: "one" },
    {
      type: "function_call_output",
      call_id: "c2",
      output: [{ type: "input_image", image_url: "data:image/png;base64,AA==" }],
    },
  ];
  const { turns } = responses.readConversation(payloadOf({ input }));
  expect(turns.map(({ role }) => role)).toEqual(["user", "assistant", "user", "system", "user"]);
  expect(turns[2]!.parts).toMatchObject([
    { type: "tool_result", callId: "c1" },
    { type: "tool_result", callId: "c2", parts: [{ type: "image" }] },
  ]);
});

describe("what has no translation is named", () => {
  test.each([
    ["some_new_field", { some_new_field: 1 }],
    ["tools[0].type", { tools: [{ type: "web_search" }] }],
    ["input[0].type", { input: [{ type: "compaction", encrypted_content: "x" }] }],
    ["tool_choice.type", { tool_choice: { type: "file_search" } }],
    ["reasoning.effort", { reasoning: { effort: "odd" } }],
    ["input[0].content[0].type", { input: [{ role: "user", content: [{ type: "input_hologram" }] }] }],
  ])("%s", (param, fields) => {
    expect(() => translatable(responses.readConversation(payloadOf(fields)))).toThrow(
      expect.objectContaining({ kind: "rejected", isUnsent: true, param }),
    );
  });

  test("hints are not refused", () => {
    const hints = {
      store: true,
      metadata: { a: "b" },
      prompt_cache_key: "k",
      client_metadata: { x: "y" },
      include: ["reasoning.encrypted_content"],
      truncation: "auto",
      service_tier: "auto",
      stream_options: { include_obfuscation: false },
    };
    expect(responses.readConversation(payloadOf(hints)).turns).toHaveLength(1);
  });
});
