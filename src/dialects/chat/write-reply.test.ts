import { expect, test } from "bun:test";
import type { ReplyEvent } from "../conversation/reply.ts";
import { readConversation } from "./read-request.ts";
import { readRequest } from "./request.ts";
import { ChatReplyWriter } from "./write-reply.ts";

const ASK = { model: "public-model", messages: [{ role: "user", content: "hi" }] };
const USAGE = { unit: "token", tokens: { input: 3, output: 2 }, source: "upstream" } as const;
const EVENTS: readonly ReplyEvent[] = [
  { type: "start", id: "msg_1" },
  { type: "reasoning", text: "First " },
  { type: "reasoning", text: "thought." },
  { type: "signature", signature: { dialect: "messages", value: "s1" } },
  { type: "signature", signature: { dialect: "messages", value: "s2" }, isRedacted: true },
  { type: "text", text: "Hi." },
  {
    type: "call",
    call: 0,
    id: "toolu_1",
    name: "f",
    kind: "function",
    signature: { dialect: "native", value: "s3" },
  },
  { type: "arguments", call: 0, text: '{"a":' },
  { type: "arguments", call: 0, text: "1}" },
  { type: "finish", finish: { reason: "tool_calls", stopSequence: null } },
];

test("a stream has one id, the public model, the role first and its usage last", () => {
  const chunks = write(EVENTS);
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  expect(chunks[0]).toMatchObject({
    id: expect.stringMatching(/^chatcmpl-/),
    object: "chat.completion.chunk",
  });
  expect(chunks[0]).toMatchObject({ model: "public-model", choices: [{ delta: { role: "assistant" } }] });
  expect(Math.abs(Number(chunks[0]?.["created"]) - Date.now() / 1000)).toBeLessThan(10);
  expect(chunks.at(-2)).toMatchObject({ choices: [{ delta: {}, finish_reason: "tool_calls" }] });
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 3, total_tokens: 5 } });
  expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
});

test("each piece of reasoning has its own index", () => {
  const details = write(EVENTS).flatMap((chunk) => deltaOf(chunk)["reasoning_details"] ?? []);
  expect(Object(details).map(({ index }: { index: number }) => index)).toEqual([0, 1]);
});

test.each([
  ["joined", (all: readonly Details[]) => join(all)],
  ["as it came", (all: readonly Details[]) => all],
])("a client that returns reasoning and signatures %s returns all of them", (_, arrange) => {
  const deltas = write(EVENTS).map(deltaOf);
  const details = deltas.flatMap((delta): Details[] => Object(delta["reasoning_details"] ?? []));
  const call = deltas.flatMap((delta) => Object(delta["tool_calls"] ?? []))[0];
  const assistant = {
    role: "assistant",
    content: "Hi.",
    reasoning_content: "First thought.",
    reasoning_details: arrange(details),
    tool_calls: [{ ...call, function: { name: "f", arguments: '{"a":1}' } }],
  };
  const next = {
    ...ASK,
    messages: [...ASK.messages, assistant, { role: "tool", tool_call_id: "toolu_1", content: "ok" }],
  };
  const { turns } = readConversation(readRequest(Buffer.from(JSON.stringify(next))));
  expect(turns[1]).toEqual({
    role: "assistant",
    parts: [
      { type: "reasoning", text: "First thought.", signature: { dialect: "messages", value: "s1" } },
      { type: "reasoning", text: "", signature: { dialect: "messages", value: "s2" }, isRedacted: true },
      { type: "text", text: "Hi." },
      {
        type: "tool_call",
        id: "toolu_1",
        name: "f",
        kind: "function",
        arguments: '{"a":1}',
        signature: { dialect: "native", value: "s3" },
      },
    ],
  });
});

test("signatures that a client has made up are taken for the vendor's own, whatever they are", () => {
  const details = [
    { type: "reasoning.text", text: "x", signature: "detail:{" },
    { type: "reasoning.encrypted", data: 7 },
    "?",
  ];
  const assistant = { role: "assistant", content: "Hi.", reasoning_details: details };
  const { turns } = readConversation(
    readRequest(Buffer.from(JSON.stringify({ ...ASK, messages: [assistant] }))),
  );
  expect(turns[0]?.parts[0]).toMatchObject({ text: "x", signature: { dialect: "chat", value: "detail:{" } });
});

interface Details {
  type: string;
  text?: string;
  signature?: string;
  index: number;
}

/** Joins the pieces with the same index, as clients do. */
function join(details: readonly Details[]): Details[] {
  const joined = new Map<number, Details>();
  for (const { text = "", ...rest } of details) {
    const last = joined.get(rest.index);
    joined.set(rest.index, {
      ...last,
      ...rest,
      ...(rest.type === "reasoning.text" && { text: (last?.text ?? "") + text }),
    });
  }
  return [...joined.values()];
}

function write(events: readonly ReplyEvent[]): Record<string, unknown>[] {
  const writer = new ChatReplyWriter(readRequest(Buffer.from(JSON.stringify(ASK))));
  const text = events.map((event) => writer.write(event)).join("") + writer.end(USAGE);
  expect(text).toEndWith("data: [DONE]\n\n");
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
}

function deltaOf({ choices }: Record<string, unknown>): Record<string, unknown> {
  return Object(Object(choices)[0]).delta ?? {};
}
