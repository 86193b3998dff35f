import { describe, expect, test } from "bun:test";
import { policyFor } from "../../../test/support/usage-policy.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { collectReply } from "../conversation/reply.ts";
import { responses } from "./index.ts";

const MESSAGE = { id: "msg_1", type: "message", content: [{ type: "output_text", text: "one two" }] };
const CALL = { id: "fc_1", type: "function_call", call_id: "c1", name: "f", arguments: '{"a":1}' };
const THOUGHT = {
  id: "rs_1",
  type: "reasoning",
  summary: [
    { type: "summary_text", text: "First." },
    { type: "summary_text", text: "Second." },
  ],
  content: [{ type: "reasoning_text", text: "All of it." }],
  encrypted_content: "enc",
};
const USAGE = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
  output_tokens: 6,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 15,
};
const REPLY = {
  id: "resp_1",
  parts: [
    {
      type: "reasoning",
      text: "First.\n\nSecond.",
      signature: { dialect: "responses", value: "enc" },
    },
    { type: "text", text: "one two" },
    { type: "tool_call", id: "c1", name: "f", kind: "function", arguments: '{"a":1}' },
  ],
  finish: { reason: "tool_calls", stopSequence: null },
  report: {
    tokens: { input: 3, output: 1, cacheRead: 4, cacheWrite: 2, reasoning: 5 },
    hasInput: true,
    hasOutput: true,
    isAnomalous: false,
  },
};
const completed = (output: unknown[] | undefined) => ({
  type: "response.completed",
  response: { id: "resp_1", status: "completed", output, usage: USAGE },
});
const delta = (type: string, index: number, text: string, more: object = {}) => ({
  type: `response.${type}.delta`,
  output_index: index,
  delta: text,
  ...more,
});
const added = (index: number, item: object) => ({
  type: "response.output_item.added",
  output_index: index,
  item,
});
const done = (index: number, item: object) => ({
  type: "response.output_item.done",
  output_index: index,
  item,
});

function read(events: readonly object[]) {
  const reader = responses.replyReader();
  const read = events.flatMap((event) => [...reader.read(JSON.stringify(event))]);
  return { reader, reply: collectReply(read) };
}

const { id, parts, finish, report } = REPLY;
const expected = { id, parts, finish, report };

describe("a reply is the same", () => {
  test.each([
    [
      "in pieces",
      [
        { type: "response.created", response: { id: "resp_1" } },
        added(0, { type: "reasoning", summary: [] }),
        delta("reasoning_summary_text", 0, "Fir", { summary_index: 0 }),
        delta("reasoning_summary_text", 0, "st.", { summary_index: 0 }),
        delta("reasoning_summary_text", 0, "Second.", { summary_index: 1 }),
        done(0, THOUGHT),
        { type: "response.never.heard.of", output_index: 7, delta: "x", item: 3 },
        added(1, { type: "message", content: [] }),
        delta("output_text", 1, "one ", { content_index: 0 }),
        delta("output_text", 1, "two", { content_index: 0 }),
        done(1, MESSAGE),
        added(2, { ...CALL, arguments: "" }),
        delta("function_call_arguments", 2, '{"a"'),
        delta("function_call_arguments", 2, ":1}"),
        done(2, CALL),
        completed([THOUGHT, MESSAGE, CALL]),
      ],
    ],
    ["in whole items", [done(0, THOUGHT), done(1, MESSAGE), done(2, CALL), completed(undefined)]],
    [
      "in pieces without their items",
      [
        delta("reasoning_summary_text", 0, "First.", { summary_index: 0 }),
        done(0, THOUGHT),
        delta("output_text", 1, "one ", { content_index: 0 }),
        delta("function_call_arguments", 2, '{"a"'),
        completed([THOUGHT, MESSAGE, CALL]),
      ],
    ],
    ["in the last event alone", [completed([THOUGHT, MESSAGE, CALL])]],
    [
      "in pieces that stop early",
      [
        added(0, { type: "reasoning" }),
        delta("reasoning_summary_text", 0, "First", { summary_index: 0 }),
        done(0, THOUGHT),
        delta("output_text", 1, "one", { content_index: 0 }),
        done(1, MESSAGE),
        added(2, CALL),
        done(2, CALL),
        completed([]),
      ],
    ],
    [
      "beside items of other kinds",
      [completed([THOUGHT, { type: "web_search_call" }, MESSAGE, { type: "odd" }, CALL])],
    ],
  ])("%s", (_, events) => {
    const { reader, reply } = read(events);
    expect({ ...reply }).toMatchObject(expected as never);
    expect(reader.isComplete).toBe(true);
    expect(reader.isDone).toBe(true);
  });

  test("as a whole response", () => {
    const text = JSON.stringify(completed([THOUGHT, MESSAGE, CALL]).response);
    expect({ ...responses.parseReply({ text }) }).toMatchObject(expected as never);
  });
});

test("reasoning that is not summarized is read as it is", () => {
  const { summary: _, ...bare } = THOUGHT;
  expect(read([completed([{ ...bare, summary: [] }])]).reply.parts).toMatchObject([{ text: "All of it." }]);
  const hidden = { type: "reasoning", summary: [], encrypted_content: "enc" };
  expect(read([completed([hidden])]).reply.parts).toMatchObject([{ text: "", isRedacted: true }]);
});

test.each([
  [{ reason: "max_output_tokens" }, "length"],
  [{ reason: "content_filter" }, "refused"],
  [null, "length"],
])("an incomplete response for %o ended by %s", (details, reason) => {
  const response = { id: "r", output: [MESSAGE], incomplete_details: details };
  expect(read([{ type: "response.incomplete", response }]).reply.finish.reason).toBe(reason as never);
  const text = JSON.stringify({ ...response, status: "incomplete" });
  expect(responses.parseReply({ text }).finish.reason).toBe(reason as never);
});

test("a stream that is not at its end is not complete", () => {
  expect(read([done(1, MESSAGE)]).reader.isComplete).toBe(false);
});

test.each([
  ["no JSON", "words"],
  ["no object", "[]"],
  ["an error", '{"type":"error","code":"server_error"}'],
  ["an ending without a response", '{"type":"response.completed"}'],
  ["a failure", '{"type":"response.failed","response":{"error":{"code":"server_error"}}}'],
])("%s is a failure of the vendor", (_, data) => {
  expect(() => [...responses.replyReader().read(data)]).toThrow(UpstreamError);
});

test("a failure tells its usage first", () => {
  const response = { error: { code: "server_error" }, usage: { input_tokens: 9, output_tokens: 4 } };
  const seen: unknown[] = [];
  const readAll = () => {
    const data = JSON.stringify({ type: "response.failed", response });
    for (const event of responses.replyReader().read(data)) seen.push(event);
  };
  expect(readAll).toThrow(UpstreamError);
  expect(seen).toMatchObject([{ type: "usage", report: { tokens: { input: 9, output: 4 } } }]);
});

test.each([
  ["a failed response", { status: "failed", error: { code: "rate_limit_exceeded" } }, "limited"],
  ["a response that runs", { status: "in_progress", output: [] }, "broken"],
  ["one without output", { status: "completed" }, "broken"],
  ["one with no item", { output: [null] }, "broken"],
  ["one whose item has no type", { output: [{}] }, "broken"],
  ["one whose message has no content", { output: [{ type: "message" }] }, "broken"],
  ["one whose message has no part", { output: [{ type: "message", content: [null] }] }, "broken"],
])("%s is no reply", (_, body, kind) => {
  const text = JSON.stringify(body);
  const expected = expect.objectContaining({ kind });
  expect(() => responses.parseReply({ text })).toThrow(expected);
  expect(() => responses.readReply({ text }, "public", policyFor(10))).toThrow(expected);
});
