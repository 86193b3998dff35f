import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../domain/gateway-error.ts";
import { frameData, FrameSplitter } from "../../lib/sse.ts";
import { collectReply, type ReplyEvent } from "../conversation/reply.ts";
import { messages, readRequest } from "./index.ts";

const BODY = { model: "public", max_tokens: 9, messages: [{ role: "user", content: "hello" }] };
const payload = readRequest(Buffer.from(JSON.stringify(BODY)), new Headers());
const USAGE = { unit: "token", source: "upstream", tokens: { input: 4, output: 2 } } as const;
const FINISH: ReplyEvent = { type: "finish", finish: { reason: "tool_calls", stopSequence: null } };

const call = (number: number, id = `id_${number}`): ReplyEvent => {
  return { type: "call", call: number, id, name: `f${number}`, kind: "function" };
};
const args = (number: number, text: string): ReplyEvent => ({ type: "arguments", call: number, text });

interface Written {
  type: string;
  index: number;
  delta?: { type: string };
  content_block?: { id: string };
}

/** Returns the protocol's events that the writer makes from these events. */
function write(...events: ReplyEvent[]): Written[] {
  const writer = messages.replyWriter(payload);
  const text = events.map((event) => writer.write(event)).join("") + writer.end(USAGE);
  return new FrameSplitter().push(Buffer.from(text)).map((frame) => {
    const data = JSON.parse(frameData(frame)!);
    expect(frame.toString()).toStartWith(`event: ${data.type}\n`);
    return data;
  });
}

function readBack(...events: ReplyEvent[]) {
  const reader = messages.replyReader();
  return collectReply(write(...events).flatMap((data) => [...reader.read(JSON.stringify(data))]));
}

describe("a stream for a caller of messages", () => {
  test("keeps white space inside of a call for the text after it", () => {
    const { parts } = readBack(
      call(0),
      args(0, '{"a":'),
      { type: "text", text: "\n" },
      args(0, "1}"),
      { type: "text", text: "Done" },
      FINISH,
    );
    expect(parts).toMatchObject([
      { type: "tool_call", arguments: '{"a":1}' },
      { type: "text", text: "\nDone" },
    ]);
  });

  test.each(["null", "[1]", ' "a"'])("has no input where the arguments are %p", (text) => {
    const written = write(
      call(0),
      args(0, text.slice(0, 1)),
      args(0, text.slice(1)),
      call(1),
      args(1, text),
      FINISH,
    );
    expect(written.filter(({ type }) => type === "content_block_delta")).toEqual([]);
  });

  test("has its blocks one after the other, where several calls grow at once", () => {
    const written = write(
      call(0),
      args(0, '{"a":'),
      call(1),
      args(1, '{"b":'),
      args(0, "1}"),
      call(2),
      args(1, "2}"),
      args(2, "{}"),
      FINISH,
    );
    const blocks: number[] = [];
    for (const { type, index } of written) {
      if (type === "content_block_start") blocks.push(index);
      if (type === "content_block_delta") expect(index).toBe(blocks.at(-1)!);
    }
    expect(blocks).toEqual([0, 1, 2]);
    expect(
      readBack(call(0), args(0, '{"a":'), call(1), args(1, '{"b":2}'), args(0, "1}"), FINISH).parts,
    ).toEqual([
      { type: "tool_call", id: "id_0", name: "f0", kind: "function", arguments: '{"a":1}' },
      { type: "tool_call", id: "id_1", name: "f1", kind: "function", arguments: '{"b":2}' },
    ]);
  });

  test("sends the first call as it comes, and the others behind it", () => {
    const writer = messages.replyWriter(payload);
    writer.write(call(0));
    expect(writer.write(args(0, "{"))).toContain('"partial_json":"{"');
    expect(writer.write(call(1)) + writer.write(args(1, "{}"))).toBe("");
    expect(writer.write({ type: "text", text: "so" })).toContain('"name":"f1"');
  });

  test("is broken where arguments come after the text that ended their call", () => {
    const writer = messages.replyWriter(payload);
    for (const event of [call(0), args(0, "{"), { type: "text", text: "a" } as const]) writer.write(event);
    expect(() => writer.write(args(0, "}"))).toThrow(expect.objectContaining({ kind: "broken" }));
  });

  test("shows the estimate of the input at its start, and what is billed at its end", () => {
    const written = write({ type: "text", text: "a" });
    expect(written[0]).toMatchObject({
      type: "message_start",
      message: { model: "public", usage: { input_tokens: payload.parsed.estimatedInput } },
    });
    expect(written.at(-2)).toMatchObject({
      delta: { stop_reason: "end_turn" },
      usage: { input_tokens: 4, output_tokens: 2 },
    });
    expect(written.at(-1)).toMatchObject({ type: "message_stop" });
  });

  test("says tool_use where calls end with another word", () => {
    const stop: ReplyEvent = { type: "finish", finish: { reason: "stop", stopSequence: null } };
    expect(write(call(0), stop).at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" } });
  });

  test("has ids that the protocol takes, and reads them back", () => {
    const [, start] = write(call(0, "functions.f:0"));
    expect(start!.content_block!.id).toMatch(/^[a-zA-Z0-9_-]+$/);
    expect(readBack(call(0, "functions.f:0")).parts).toMatchObject([{ id: "functions.f:0" }]);
    expect(readBack(call(0, "gw_id_x")).parts).toMatchObject([{ id: "gw_id_x" }]);
  });

  test("marks thinking that nobody signed, so that it comes back as such", () => {
    const events: ReplyEvent[] = [
      { type: "reasoning", text: "Hm" },
      { type: "text", text: "a" },
    ];
    const deltas = write(...events).flatMap(({ delta }) => (delta?.type ? [delta.type] : []));
    expect(deltas).toEqual(["thinking_delta", "signature_delta", "text_delta"]);
    expect(readBack(...events).parts[0]).toEqual({ type: "reasoning", text: "Hm", signature: null });
  });

  test("carries the signature of a call to the caller and back", () => {
    const signature = { dialect: "native", value: "abc+/=" } as const;
    const events: ReplyEvent[] = [{ ...call(0), signature } as ReplyEvent, FINISH];
    expect(write(...events)[1]).toMatchObject({ content_block: { type: "redacted_thinking" } });
    expect(readBack(...events).parts).toMatchObject([{ type: "tool_call", signature }]);
  });

  test("that fails has an error in place of its ending", () => {
    const writer = messages.replyWriter(payload);
    const error = new GatewayError("overloaded", "The model is overloaded at the moment. Retry later.");
    expect(writer.fail(error)).toBe(
      `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"${error.message}"}}\n\n`,
    );
  });
});

test("silence is filled with a ping", () => {
  expect(Buffer.from(messages.keepAliveFrame).toString()).toBe('event: ping\ndata: {"type":"ping"}\n\n');
});
