import { describe, expect, test } from "bun:test";
import { readRequest as readChat } from "../../src/dialects/chat/index.ts";
import { collectReply } from "../../src/dialects/conversation/reply.ts";
import type { Turn } from "../../src/dialects/conversation/request.ts";
import { TranslatedStream } from "../../src/dialects/conversation/translated-stream.ts";
import type { VendorTerms } from "../../src/dialects/dialect.ts";
import { textDialect } from "../../src/dialects/text.ts";
import { CALLERS, type CallerName } from "../support/text-matrix.ts";
import { policyFor } from "../support/usage-policy.ts";

/* Chat content outside of the published form, from callers and vendors, translated to other protocols. */
const TERMS: VendorTerms = {
  upstreamModel: "vendor-model",
  traits: {},
  coveredTokens: null,
  model: { id: "public-model", maxOutputTokens: 9_000, reasoning: "effort" },
};
const OTHERS = ["messages", "responses", "native"] as const;
const USER = { role: "user", content: "hi" };

/** Returns the request that a vendor gets for these messages. */
function written(vendor: CallerName, messages: readonly object[], tools: readonly object[] = []): string {
  const body = { model: "public-model", messages, ...(tools.length > 0 && { tools }) };
  const payload = readChat(Buffer.from(JSON.stringify(body)));
  return textDialect(vendor).writeConversation(textDialect("chat").readConversation(payload), TERMS);
}

describe.each(OTHERS)("a history of chat for a vendor of %s", (vendor) => {
  const session = (args: unknown, content: unknown, id = "call_1") =>
    written(
      vendor,
      [
        USER,
        { role: "assistant", content: null, tool_calls: [{ id, function: { name: "f", arguments: args } }] },
        { role: "tool", tool_call_id: id, content },
      ],
      [{ type: "function", function: { name: "f" } }],
    );

  test("may have arguments that are an object, or empty", () => {
    expect(session({ a: 1 }, "x")).toBe(session('{"a":1}', "x"));
    expect(session("", "x")).toBe(session("{}", "x"));
  });

  test("keeps big integers, fractions and the order of arguments", () => {
    const args = '{"z":12345678901234567890,"a":1.0}';
    const sent = session(args, "x");
    expect(sent.includes(args) || sent.includes(JSON.stringify(args))).toBe(true);
  });

  test("may have a result in parts, or none", () => {
    const parts = [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ];
    expect(session("{}", parts)).toMatch(/one.*two/);
    expect(session("{}", null)).toBe(session("{}", ""));
  });

  test("may have an answer without content, which is left out", () => {
    const answered = written(vendor, [USER, { role: "assistant", content: null }, USER]);
    expect(answered).toBe(written(vendor, [USER, USER]));
  });

  test("may have ids that the vendor refuses: call and result stay together", () => {
    const ids = session("{}", "x", "functions.f:0").match(
      /(?<="(?:id|call_id|tool_use_id)":")(?!rs_|fc_)[^"]+/g,
    )!;
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
    if (vendor === "messages") expect(ids[0]).toMatch(/^[a-zA-Z0-9_-]+$/);
  });

  test("keeps half of a surrogate pair as it is", () => {
    expect(written(vendor, [{ role: "user", content: "a\ud83cb" }])).toContain("a\\ud83cb");
  });
});

test.each(OTHERS)("a character that a vendor cuts in two reaches a caller of %s", (caller) => {
  const { body, payload } = CALLERS[caller];
  const writer = textDialect(caller).replyWriter(payload(body("public-model", "text", true), "public-model"));
  const stream = new TranslatedStream(textDialect("chat").replyReader(), writer, policyFor(3));
  const chunk = (content: string, reason: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: reason }] })}\n\n`;
  const sent = ["\ud83c", "\udf0a", "."].map((half, at) =>
    stream.push(Buffer.from(chunk(half, at === 2 ? "stop" : null))),
  );
  const text = Buffer.concat([...sent, stream.end()]).toString();
  expect(text).not.toContain("\uFFFD");
  expect(JSON.stringify(assembledTexts(text))).toContain("🌊.");
});

test.each(OTHERS)("an event of a million characters reaches a caller of %s", (caller) => {
  const { body, payload } = CALLERS[caller];
  const writer = textDialect(caller).replyWriter(payload(body("public-model", "text", true), "public-model"));
  const stream = new TranslatedStream(textDialect("chat").replyReader(), writer, policyFor(3));
  const content = "é".repeat(1_000_000);
  const choice = { index: 0, delta: { content }, finish_reason: "stop" };
  const bytes = Buffer.from(`data: ${JSON.stringify({ choices: [choice] })}\n\n`);
  const sent: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += 65_537)
    sent.push(stream.push(bytes.subarray(from, from + 65_537)));
  expect(Buffer.concat([...sent, stream.end()]).toString()).toContain(content);
});

test("thinking of which a vendor shows the signature alone comes back to it so", () => {
  const start = {
    type: "content_block_start",
    index: 0,
    content_block: { type: "thinking", thinking: "", signature: "" },
  };
  const signed = {
    type: "content_block_delta",
    index: 0,
    delta: { type: "signature_delta", signature: "c2ln" },
  };
  const reader = textDialect("messages").replyReader();
  const events = [start, signed, { type: "content_block_stop", index: 0 }].flatMap((event) => [
    ...reader.read(JSON.stringify(event)),
  ]);
  const { parts } = collectReply(events);
  expect(parts).toEqual([{ type: "reasoning", text: "", signature: { dialect: "messages", value: "c2ln" } }]);
  const asked = readChat(Buffer.from(JSON.stringify({ model: "m", messages: [USER] })));
  const conversation = textDialect("chat").readConversation(asked);
  const [turn] = conversation.turns;
  const turns: Turn[] = [turn!, { role: "assistant", parts }, turn!];
  const written = textDialect("messages").writeConversation({ ...conversation, turns }, TERMS);
  expect(JSON.parse(written).messages[1].content).toEqual([
    { type: "thinking", thinking: "", signature: "c2ln" },
  ]);
});

/** Returns every text in a stream's events. Deltas are joined. */
function assembledTexts(stream: string): string {
  return [...stream.matchAll(/"(?:text|delta)":("(?:[^"\\]|\\.)*")/g)]
    .map(([, text = '""']): string => JSON.parse(text))
    .join("");
}

test("reasoning between text and calls keeps its place", () => {
  const content = [
    { type: "text", text: "First." },
    { type: "thinking", thinking: "Hm.", signature: "c2ln" },
    { type: "tool_use", id: "toolu_1", name: "f", input: { n: 1 }, caller: { type: "direct" } },
    { type: "thinking", thinking: "So.", signature: "c2lo" },
    { type: "tool_use", id: "toolu_2", name: "f", input: {}, caller: { type: "direct" } },
  ];
  const usage = { input_tokens: 1, output_tokens: 2 };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    content,
    stop_reason: "tool_use",
    usage,
  };
  const { body, payload } = CALLERS.messages;
  const reply = textDialect("messages").parseReply({ text: JSON.stringify(message) });
  const again = textDialect("messages").writeReply(reply, payload(body("m", "text", false), "m"), {
    unit: "token",
    tokens: {},
    source: "upstream",
  });
  expect(reply.parts.map(({ type }) => type)).toEqual([
    "text",
    "reasoning",
    "tool_call",
    "reasoning",
    "tool_call",
  ]);
  expect(JSON.parse(again).content).toEqual(content);
});
