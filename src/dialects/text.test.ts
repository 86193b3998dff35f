import { describe, expect, test } from "bun:test";
import { policyFor } from "../../test/support/usage-policy.ts";
import { UpstreamError } from "../domain/upstream-error.ts";
import { sumTokens } from "../domain/usage.ts";
import { readRequest as readChat } from "./chat/index.ts";
import { CALLERS } from "../../test/support/text-matrix.ts";
import { TranslatedStream } from "./conversation/translated-stream.ts";
import type { TextPayload } from "./dialect.ts";
import type { TextDialectName } from "./name.ts";
import { forward, TEXT_DIALECTS, textDialect, translate } from "./text.ts";

const events = (...all: object[]) => all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

test.each([
  [
    "chat",
    events(
      { choices: [{ index: 0, delta: { role: "assistant", content: "ja" } }] },
      { choices: [{ delta: { content: "ne" } }] },
      { choices: [], usage: {} },
    ) + "data: [DONE]\n\n",
  ],
  [
    "messages",
    `event: content_block_delta\n${events({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }, { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ja" } }, { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ne" } })}`,
  ],
  [
    "responses",
    events(
      { type: "response.output_text.delta", delta: "ja" },
      { type: "response.output_text.delta", delta: "ne" },
      { type: "response.output_text.done", text: "jane" },
    ),
  ],
  [
    "native",
    events(
      { candidates: [{ content: { role: "model", parts: [{ text: "ja" }] }, finishReason: "STOP" }] },
      { candidates: [{ content: { parts: [{ text: "ne" }] } }] },
    ),
  ],
] as const)("the text of a stream of %s is joined", (name, stream) => {
  const forwarded = textDialect(name).openStream(payloadOf(name), "m", policyFor(3));
  forwarded.push(Buffer.from(stream));
  expect(forwarded.text).toBe("jane");
  const writer = textDialect("chat").replyWriter(payloadOf("chat"));
  const translated = new TranslatedStream(textDialect(name).replyReader(), writer, policyFor(3));
  translated.push(Buffer.from(stream));
  expect(translated.text).toBe("jane");
});

const item = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [] };
const response = { id: "resp_1", object: "response", model: "v", status: "completed", output: [item] };
const message = { id: "msg_1", type: "message", role: "assistant", model: "v", content: [] };
const ended = { stop_reason: "end_turn", stop_sequence: null };
const usage = { input_tokens: 3, output_tokens: 0 };

const PICTURE = { type: "image_generation_call", id: "ig_1", status: "completed", result: "iVBORw0KGgo=" };
const EXECUTED = { executableCode: { language: "PYTHON", code: "1 + 1" } };

/** Replies that end normally without any content, as a stream and as a whole. */
const EMPTY: Record<TextDialectName, { stream: string; whole: object }> = {
  chat: {
    stream:
      events(
        { id: "c", choices: [{ index: 0, delta: { role: "assistant", content: "" } }] },
        { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
        { id: "c", choices: [], usage: { prompt_tokens: 3, completion_tokens: 0 } },
      ) + "data: [DONE]\n\n",
    whole: {
      id: "c",
      choices: [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "stop" }],
    },
  },
  messages: {
    stream: events(
      { type: "message_start", message: { ...message, usage } },
      { type: "message_delta", delta: ended, usage },
      { type: "message_stop" },
    ),
    whole: { ...message, ...ended, usage },
  },
  responses: {
    stream: events(
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.completed", response: { ...response, output: [] } },
    ),
    whole: response,
  },
  native: {
    stream: events({
      candidates: [{ content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP" }],
    }),
    whole: { candidates: [{ content: { role: "model", parts: [] }, finishReason: "STOP" }] },
  },
};

const terms = {
  upstreamModel: "v",
  traits: {},
  coveredTokens: null,
  model: { id: "m", maxOutputTokens: 99 },
};
const passageOf = (caller: TextDialectName, vendor: TextDialectName) => {
  const ends = { caller: textDialect(caller), vendor: textDialect(vendor) };
  if (caller === vendor) return forward(ends.caller, payloadOf(caller), terms, policyFor(3));
  return translate(ends, payloadOf(caller), terms, policyFor(3));
};
const pairs = TEXT_DIALECTS.flatMap((caller) => TEXT_DIALECTS.map((vendor) => [caller, vendor] as const));

describe.each(pairs)("a reply without anything to a caller of %s from a vendor of %s", (caller, vendor) => {
  test("is known as such, streamed and whole", () => {
    const stream = passageOf(caller, vendor).openStream();
    stream.push(Buffer.from(EMPTY[vendor].stream));
    expect([stream.hasContent, stream.lack]).toEqual([false, "empty"]);
    const reply = { text: JSON.stringify(EMPTY[vendor].whole) };
    expect(passageOf(caller, vendor).readReply(reply).isEmpty).toBe(true);
    const replayed = passageOf(caller, vendor).replayReply(reply);
    replayed.push(Buffer.of());
    expect([replayed.hasContent, replayed.lack]).toEqual([false, "empty"]);
  });

  test("is no empty reply when it was cut", () => {
    const stream = passageOf(caller, vendor).openStream();
    const [first = ""] = EMPTY[vendor].stream.split("\n\n");
    if (vendor !== "native") stream.push(Buffer.from(`${first}\n\n`));
    expect([stream.hasContent, stream.lack]).toEqual([false, "cut"]);
  });
});

/** Short replies whose content has no neutral form, as a stream and as a whole. Each has fewer than sixteen tokens. */
const OTHER: Record<TextDialectName, { stream: string; whole: object }> = {
  chat: {
    stream:
      events(
        { id: "c", choices: [{ index: 0, delta: { role: "assistant", audio: { data: "UklGRg==" } } }] },
        { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      ) + "data: [DONE]\n\n",
    whole: {
      id: "c",
      choices: [{ index: 0, message: { content: null, audio: { data: "UklGRg==" } }, finish_reason: "stop" }],
    },
  },
  messages: {
    stream: events(
      { type: "message_start", message: { ...message, ...ended, usage } },
      { type: "content_block_start", index: 0, content_block: { type: "hologram", id: "h" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: ended, usage },
      { type: "message_stop" },
    ),
    whole: { ...message, ...ended, usage, content: [{ type: "hologram", id: "h" }] },
  },
  responses: {
    stream: events(
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: PICTURE },
      { type: "response.output_item.done", output_index: 0, item: PICTURE },
      { type: "response.completed", response: { ...response, output: [PICTURE] } },
    ),
    whole: { ...response, output: [PICTURE] },
  },
  native: {
    stream: events({
      candidates: [{ content: { role: "model", parts: [EXECUTED] }, finishReason: "STOP" }],
    }),
    whole: { candidates: [{ content: { role: "model", parts: [EXECUTED] }, finishReason: "STOP" }] },
  },
};

describe.each(pairs)("a reply of other content to a caller of %s from a vendor of %s", (caller, vendor) => {
  test("is no empty reply, streamed and whole", () => {
    const stream = passageOf(caller, vendor).openStream();
    stream.push(Buffer.from(OTHER[vendor].stream));
    expect(stream.lack).toBe(null);
    const reply = { text: JSON.stringify(OTHER[vendor].whole) };
    expect(passageOf(caller, vendor).readReply(reply).isEmpty).toBe(false);
  });
});

const call = (text: unknown) => ({
  id: "call_1",
  type: "function",
  function: { name: "f", arguments: text },
});
const calling = (text: unknown, finish_reason = "tool_calls") => {
  const message = { role: "assistant", content: null, tool_calls: [call(text)] };
  return { text: JSON.stringify({ id: "c", choices: [{ index: 0, message, finish_reason }] }) };
};

describe.each(TEXT_DIALECTS)("the arguments of a call in a whole reply to a caller of %s", (caller) => {
  const read = (text: unknown, finish?: string) => passageOf(caller, "chat").readReply(calling(text, finish));

  test.each(["{bad", "[]", '"x"', "1"])("that are %s fail the attempt", (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ kind: "broken" }));
  });

  test.each(["", "null", "{}"])("that are %p are an empty object", (text) => {
    const written = read(text).text;
    if (caller === "chat") return;
    expect(written).toMatch(/"(?:input|args)":\{\}|"arguments":"\{\}"/);
  });

  test("that the maximum of tokens cut are delivered as cut", () => {
    expect(() => read('{"a":', "length")).not.toThrow();
  });
});

test("a client of Mistral gets calls whole, and usage in the last chunk with a choice", () => {
  const body = { model: "m", stream: true, messages: [{ role: "user", content: "hi" }] };
  const payload = readChat(Buffer.from(JSON.stringify(body)), true);
  const stream = forward(textDialect("chat"), payload, terms, policyFor(3)).openStream();
  const delta = (fields: object, finish_reason: string | null = null) =>
    events({ id: "c", choices: [{ index: 0, delta: fields, finish_reason }], usage: null });
  const input =
    delta({ role: "assistant", content: "Hm." }) +
    delta({ tool_calls: [{ index: 0, ...call('{"a"') }] }) +
    delta({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }, "tool_calls") +
    events({ id: "c", choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } });
  const output = [stream.push(Buffer.from(`${input}data: [DONE]\n\n`)), stream.end()];
  const data = Buffer.concat(output).toString().split("\n\n").filter(Boolean);
  expect(data.pop()).toBe("data: [DONE]");
  const chunks = data.map((each) => JSON.parse(each.slice("data: ".length)));
  expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true);
  expect(chunks.flatMap(({ choices }) => choices[0].delta.tool_calls ?? [])).toEqual([
    { index: 0, ...call('{"a":1}') },
  ]);
  expect(chunks.filter((chunk) => "usage" in chunk)).toEqual([
    expect.objectContaining({
      choices: [expect.objectContaining({ finish_reason: "tool_calls" })],
      usage: expect.objectContaining({ total_tokens: 7 }),
    }),
  ]);
});

test("a whole reply in place of a stream of several choices is the vendor's failure", () => {
  const body = { model: "m", stream: true, n: 2, messages: [{ role: "user", content: "hi" }] };
  const asked = readChat(Buffer.from(JSON.stringify(body)));
  const choices = [0, 1].map((index) => ({ index, message: { content: "hi" }, finish_reason: "stop" }));
  const passage = forward(textDialect("chat"), asked, terms, policyFor(3));
  expect(() => passage.replayReply({ text: JSON.stringify({ choices }) })).toThrow(UpstreamError);
});

test("a stream of several choices is refused to a client of Mistral, which would get one and pay for all", () => {
  const body = { model: "m", stream: true, n: 2, messages: [{ role: "user", content: "hi" }] };
  const open = (isMistralClient: boolean) =>
    forward(
      textDialect("chat"),
      readChat(Buffer.from(JSON.stringify(body)), isMistralClient),
      terms,
      policyFor(3),
    ).openStream();
  expect(() => open(true)).toThrow(expect.objectContaining({ kind: "rejected", param: "n" }));
  expect(() => open(false)).not.toThrow();
});

/** A caller of the native protocol gets a tool call only when it is complete. */
test("pieces that are held back do not close the window of failover", () => {
  const stream = passageOf("native", "chat").openStream();
  const begun = { tool_calls: [{ index: 0, ...call('{"a"') }] };
  stream.push(Buffer.from(events({ id: "c", choices: [{ index: 0, delta: begun }] })));
  expect(stream.hasContent).toBe(false);
  const rest = { tool_calls: [{ index: 0, function: { arguments: ":1}" } }] };
  stream.push(
    Buffer.from(events({ id: "c", choices: [{ index: 0, delta: rest, finish_reason: "tool_calls" }] })),
  );
  expect([stream.hasContent, stream.lack]).toEqual([true, null]);
});

function payloadOf(name: TextDialectName): TextPayload {
  const { payload, body } = CALLERS[name];
  return payload(body("m", "text", true), "m");
}

test("text that has gone out as reasoning before is counted once", () => {
  const countedFor = (...contents: string[]) => {
    const writer = textDialect("messages").replyWriter(payloadOf("messages"));
    const stream = new TranslatedStream(textDialect("chat").replyReader(), writer, policyFor(3));
    const pieces = contents.map((content) => ({ id: "c", choices: [{ index: 0, delta: { content } }] }));
    stream.push(Buffer.from(`${events(...pieces)}data: [DONE]\n\n`));
    return stream.usage();
  };
  const words = "an answer that goes on and on ".repeat(40);
  const closed = countedFor("<think>", words, "</think>");
  const unclosed = countedFor("<think>", words);
  expect(unclosed.source).toBe("estimated");
  expect(sumTokens(unclosed.tokens)).toBe(sumTokens(closed.tokens));
  expect(sumTokens(countedFor("<think>").tokens)).toBeGreaterThan(3);
});

test.each([
  ["of an unknown kind", [{ type: "computer_call", id: "c", call_id: "c" }]],
  ["that only its tokens show", []],
])("a reply of content %s is not empty", (_, output) => {
  const spent = { input_tokens: 3, output_tokens: 40, total_tokens: 43 };
  const whole = { ...response, output, usage: spent };
  const passage = forward(textDialect("responses"), payloadOf("responses"), terms, policyFor(3));
  expect(passage.readReply({ text: JSON.stringify(whole), parsed: whole }).isEmpty).toBe(false);
  const stream = passage.openStream();
  stream.push(Buffer.from(events({ type: "response.completed", response: whole })));
  expect(stream.lack).not.toBe("empty");
});

test("searches in a reply without usage are billed when a custom tool was converted", () => {
  const tools = [{ type: "custom", custom: { name: "apply_patch" } }];
  const messages = [{ role: "user", content: "hi" }];
  const payload = readChat(Buffer.from(JSON.stringify({ model: "m", messages, tools })));
  const ends = { caller: textDialect("chat"), vendor: textDialect("messages") };
  const passage = translate(ends, payload, terms, policyFor(3, { web_search: 5 }));
  const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
  const whole = { ...message, ...ended, content: [found, { type: "text", text: "Found." }] };
  const { usage: billed } = passage.readReply({ text: JSON.stringify(whole), parsed: whole });
  expect(billed.uses).toEqual({ web_search: 1 });
});
