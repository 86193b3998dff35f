import type { TextDialectName } from "../../src/dialects/name.ts";

/** A vendor's reply in which one kind of item grows: a complete body, or the pieces of a stream. */
export type GrowingReply = (count: number) => Iterable<string>;

/** The content that all dialects have, written in one dialect. */
interface Words {
  /** Returns a complete reply with these numbers of texts and calls, and with the members of `more`. */
  whole(content: { texts?: number; calls?: number; text?: string; more?: object }): object;
  begin: string;
  text(text: string): string;
  reasoning(text: string): string;
  /** Returns a complete call. */
  call(index: number): string;
  /** The start of a call. Its arguments follow in pieces. */
  opening: string;
  piece(text: string): string;
  usage: string;
  end: string;
}

const each = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index));
const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string; [name: string]: unknown }) =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
const ARGUMENTS = '{"a":1.0}';

const chatUsage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
const chunk = (delta: object, finish: string | null = null, more = {}) =>
  data({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  });
const chatCall = (index: number, text: string) => ({
  index,
  id: `c${index}`,
  type: "function",
  function: { name: "f", arguments: text },
});

const chat: Words = {
  whole: ({ texts = 1, calls = 0, text = "x", more }) => ({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: each(texts, () => ({ type: "text", text })),
          ...(calls > 0 && { tool_calls: each(calls, (index) => chatCall(index, ARGUMENTS)) }),
        },
        finish_reason: calls > 0 ? "tool_calls" : "stop",
      },
    ],
    usage: chatUsage,
    ...more,
  }),
  begin: chunk({ role: "assistant", content: "" }),
  text: (content) => chunk({ content }),
  reasoning: (text) => chunk({ reasoning_details: [{ type: "reasoning.text", text }] }),
  call: (index) => chunk({ tool_calls: [chatCall(index, ARGUMENTS)] }),
  opening: chunk({ tool_calls: [chatCall(0, "")] }),
  piece: (text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
  usage: chunk({}, null, { usage: chatUsage }),
  end: `${chunk({}, "stop")}${data({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: chatUsage })}data: [DONE]\n\n`,
};

const messageUsage = { input_tokens: 5, output_tokens: 5 };
const blockOf = (index: number, content_block: object) =>
  event({ type: "content_block_start", index, content_block });
const blockDelta = (index: number, delta: object) => event({ type: "content_block_delta", index, delta });
const blockEnd = (index: number) => event({ type: "content_block_stop", index });
const message = (content: object[], stop_reason: string | null, more?: object) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content,
  stop_reason,
  stop_sequence: null,
  usage: messageUsage,
  ...more,
});

const messages: Words = {
  whole: ({ texts = 1, calls = 0, text = "x", more }) =>
    message(
      [
        ...each(texts, () => ({ type: "text", text })),
        ...each(calls, (index) => ({ type: "tool_use", id: `toolu_${index}`, name: "f", input: { a: 1 } })),
      ],
      calls > 0 ? "tool_use" : "end_turn",
      more,
    ),
  begin: event({ type: "message_start", message: message([], null) }),
  text: (text) =>
    blockOf(0, { type: "text", text: "" }) + blockDelta(0, { type: "text_delta", text }) + blockEnd(0),
  reasoning: (thinking) =>
    blockOf(0, { type: "thinking", thinking: "", signature: "" }) +
    blockDelta(0, { type: "thinking_delta", thinking }) +
    blockDelta(0, { type: "signature_delta", signature: "x" }) +
    blockEnd(0),
  call: (index) =>
    blockOf(index, { type: "tool_use", id: `toolu_${index}`, name: "f", input: {} }) +
    blockDelta(index, { type: "input_json_delta", partial_json: ARGUMENTS }) +
    blockEnd(index),
  opening: blockOf(0, { type: "tool_use", id: "toolu_0", name: "f", input: {} }),
  piece: (text) => blockDelta(0, { type: "input_json_delta", partial_json: text }),
  usage: event({ type: "message_delta", delta: {}, usage: messageUsage }),
  end:
    event({
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: messageUsage,
    }) + event({ type: "message_stop" }),
};

const responseUsage = { input_tokens: 5, output_tokens: 5, total_tokens: 10 };
const responseOf = (output: object[], more?: object) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "m",
  output,
  usage: responseUsage,
  ...more,
});
const said = (text: string) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
const functionCall = (index: number, text: string) => ({
  id: `fc_${index}`,
  type: "function_call",
  status: "completed",
  call_id: `c${index}`,
  name: "f",
  arguments: text,
});
const added = (output_index: number, item: object) =>
  event({ type: "response.output_item.added", output_index, item });
const done = (output_index: number, item: object) =>
  event({ type: "response.output_item.done", output_index, item });

const responses: Words = {
  whole: ({ texts = 1, calls = 0, text = "x", more }) =>
    responseOf(
      [...each(texts, () => said(text)), ...each(calls, (index) => functionCall(index, ARGUMENTS))],
      more,
    ),
  begin: event({ type: "response.created", response: responseOf([], { status: "in_progress" }) }),
  text: (delta) =>
    event({ type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "msg_1", delta }),
  reasoning: (delta) =>
    event({
      type: "response.reasoning_summary_text.delta",
      output_index: 1,
      summary_index: 0,
      item_id: "rs_1",
      delta,
    }),
  call: (index) =>
    added(index + 2, functionCall(index, "")) + done(index + 2, functionCall(index, ARGUMENTS)),
  opening: added(2, functionCall(0, "")),
  piece: (delta) =>
    event({ type: "response.function_call_arguments.delta", output_index: 2, item_id: "fc_0", delta }),
  usage: event({ type: "response.in_progress", response: responseOf([], { status: "in_progress" }) }),
  end: event({ type: "response.completed", response: responseOf([said("x")]) }),
};

const nativeUsage = { promptTokenCount: 5, candidatesTokenCount: 5, totalTokenCount: 10 };
const candidate = (parts: object[], finishReason?: string, more?: object) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: nativeUsage,
  modelVersion: "m",
  responseId: "r",
  ...more,
});
const nativeCall = (index: number) => ({ functionCall: { id: `c${index}`, name: "f", args: { a: 1.5 } } });

const native: Words = {
  whole: ({ texts = 1, calls = 0, text = "x", more }) =>
    candidate([...each(texts, () => ({ text })), ...each(calls, nativeCall)], "STOP", more),
  begin: "",
  text: (text) => data(candidate([{ text }])),
  reasoning: (text) => data(candidate([{ text, thought: true }])),
  call: (index) => data(candidate([nativeCall(index)])),
  opening: data(candidate([{ functionCall: { id: "c0", name: "f", willContinue: true } }])),
  piece: (text) =>
    data(
      candidate([
        { functionCall: { willContinue: true, partialArgs: [{ jsonPath: "$.a", stringValue: text }] } },
      ]),
    ),
  usage: data(candidate([{ text: "" }])),
  end: data(candidate([{ text: "x" }], "STOP")),
};

export const WORDS: Readonly<Record<TextDialectName, Words>> = { chat, messages, responses, native };

/** A kind of reply, with its maximum number of items. */
interface Kind {
  most: number;
  make(words: Words): GrowingReply;
}

const json = (make: (words: Words, count: number) => object) => (words: Words) =>
  function* (count: number) {
    yield JSON.stringify(make(words, count));
  };

export const WHOLE_REPLIES: Readonly<Record<string, Kind>> = {
  texts: { most: 20_000, make: json((words, count) => words.whole({ texts: count })) },
  calls: { most: 8_000, make: json((words, count) => words.whole({ calls: count })) },
  characters: { most: 30_000_000, make: json((words, count) => words.whole({ text: "x".repeat(count) })) },
  escapes: { most: 1_490_000, make: json((words, count) => words.whole({ text: "xxxx\n".repeat(count) })) },
  values: {
    most: 400_000,
    make: json((words, count) => words.whole({ more: { list: each(count, () => 1) } })),
  },
  names: {
    most: 45_000,
    make: json((words, count) =>
      words.whole({ more: { list: Object.fromEntries(each(count, (index) => [`n${index}`, 1])) } }),
    ),
  },
  levels: {
    most: 15_000_000,
    make: () =>
      function* (count) {
        yield `{"a":${"[".repeat(count)}${"]".repeat(count)}}`;
      },
  },
  "values beyond the bound": {
    most: 15_000_000,
    make: () =>
      function* (count) {
        yield `{"a":[${"0,".repeat(count)}0]}`;
      },
  },
  spaces: {
    most: 30_000_000,
    make: (words) =>
      function* (count) {
        yield " ".repeat(count) + JSON.stringify(words.whole({}));
      },
  },
};

const pieces = (item: (words: Words, index: number) => string) => (words: Words) =>
  function* (count: number) {
    yield words.begin;
    for (let index = 0; index < count; index += 1) yield item(words, index);
    yield words.end;
  };

export const STREAMED_REPLIES: Readonly<Record<string, Kind>> = {
  texts: { most: 40_000, make: pieces((words, index) => words.text(`x${index % 7}`)) },
  reasoning: { most: 10_000, make: pieces((words) => words.reasoning("x")) },
  calls: { most: 10_000, make: pieces((words, index) => words.call(index)) },
  "characters of many events": { most: 8_000, make: pieces((words) => words.text("x".repeat(1_000))) },
  "pieces of arguments": {
    most: 40_000,
    make: (words) =>
      function* (count) {
        yield words.begin + words.opening;
        for (let index = 0; index < count; index += 1) yield words.piece(index === 0 ? '{"a":"' : '"}');
        yield words.end;
      },
  },
  "spaces at the start": { most: 40_000, make: pieces((words) => words.text(" ")) },
  "reports of usage": { most: 40_000, make: pieces((words) => words.usage) },
  comments: { most: 2_000_000, make: pieces(() => ":\n\n") },
  "blank lines": { most: 6_000_000, make: pieces(() => "\n\n") },
  returns: { most: 12_000_000, make: pieces(() => "\r") },
  "fields without data": { most: 400_000, make: pieces(() => "id: 7\n\n") },
  "events without content": { most: 400_000, make: pieces(() => "data:\n\n") },
  "lines of one event": {
    most: 2_000_000,
    make: (words) =>
      function* (count) {
        yield words.begin;
        for (let index = 0; index < count; index += 1) yield "data:\n";
        yield `\n${words.end}`;
      },
  },
  "levels of one event": {
    most: 6_000_000,
    make: (words) =>
      function* (count) {
        yield `${words.begin}data: {"a":${"[".repeat(count)}${"]".repeat(count)}}\n\n${words.end}`;
      },
  },
  "characters of one event": {
    most: 8_000_000,
    make: (words) =>
      function* (count) {
        yield words.begin + words.text("x".repeat(count)) + words.end;
      },
  },
};
