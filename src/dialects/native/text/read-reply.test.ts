import { describe, expect, test } from "bun:test";
import { UpstreamError } from "../../../domain/upstream-error.ts";
import { collectReply, type Reply } from "../../conversation/reply.ts";
import { native, readRequest } from "./index.ts";
import { NativeReader } from "./read-reply.ts";

const payload = readRequest(Buffer.from('{"contents":[{"parts":[{"text":"hi"}]}]}'), {
  model: "m",
  isStream: true,
});
const part = (...parts: object[]) => ({ candidates: [{ content: { role: "model", parts }, index: 0 }] });
const ended = (finishReason: string) => ({ candidates: [{ finishReason, index: 0 }] });
const blocked = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } };

function readAll(...events: object[]): { reply: Reply; reader: NativeReader } {
  const reader = new NativeReader();
  const read = events.flatMap((event) => [...reader.read(JSON.stringify(event))]);
  return { reply: collectReply(read), reader };
}

describe("a vendor's stream", () => {
  test("that stops in a later event than its call ended for the call", () => {
    const { reply, reader } = readAll(part({ functionCall: { name: "f", args: { a: 1 } } }), ended("STOP"));
    expect(reader.isComplete).toBe(true);
    expect(reply.finish.reason).toBe("tool_calls");
    expect(reply.parts).toEqual([
      { type: "tool_call", id: "call_0", name: "f", kind: "function", arguments: '{"a":1}' },
    ]);
  });

  test.each([
    ["MAX_TOKENS", "length"],
    ["SAFETY", "refused"],
    ["RECITATION", "refused"],
    ["SPII", "refused"],
    ["LANGUAGE", "refused"],
    ["STOP", "stop"],
  ] as const)("that ends with %s ended as %s", (finish, reason) => {
    expect(readAll(part({ text: "a" }), ended(finish)).reply.finish.reason).toBe(reason);
  });

  test.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", "SOMETHING_NEW"])(
    "that ends with %s failed, and another target may do better",
    (finish) => {
      expect(() => readAll(ended(finish))).toThrow(UpstreamError);
    },
  );

  test("whose prompt was blocked is a refusal without content", () => {
    const { reply, reader } = readAll({ ...blocked, usageMetadata: { promptTokenCount: 4 } });
    expect(reader.isComplete).toBe(true);
    expect(reply).toMatchObject({
      parts: [],
      finish: { reason: "refused" },
      report: { tokens: { input: 4 } },
    });
  });

  test("gives the arguments of a call that comes in pieces once they are whole", () => {
    const piece = (functionCall: object) => part({ functionCall });
    const { reply } = readAll(
      piece({ name: "f", willContinue: true }),
      piece({
        partialArgs: [{ jsonPath: "$.to[0].name", stringValue: "Os", willContinue: true }],
        willContinue: true,
      }),
      piece({ partialArgs: [{ jsonPath: "$.to[0].name", stringValue: "lo" }], willContinue: true }),
      piece({
        partialArgs: [
          { jsonPath: "$.days", numberValue: 3 },
          { jsonPath: "$['is it']", boolValue: true },
        ],
        willContinue: true,
      }),
      piece({
        partialArgs: [
          { jsonPath: "$.__proto__.x", numberValue: 1 },
          { jsonPath: "$.none", nullValue: "NULL_VALUE" },
        ],
      }),
      ended("STOP"),
    );
    expect(reply.parts).toMatchObject([
      { arguments: '{"to":[{"name":"Oslo"}],"days":3,"is it":true,"none":null}' },
    ]);
  });

  test("reads the first candidate, and thoughts with their signature", () => {
    const thought = { text: "hm", thought: true, thoughtSignature: "c2ln" };
    const both = {
      candidates: [
        { content: { parts: [{ text: "b" }] }, index: 1 },
        ...part(thought, { text: "a" }).candidates,
      ],
    };
    expect(readAll(both, ended("STOP")).reply.parts).toEqual([
      { type: "reasoning", text: "hm", signature: { dialect: "native", value: "c2ln" } },
      { type: "text", text: "a" },
    ]);
  });

  test.each([
    ["RESOURCE_EXHAUSTED", "limited"],
    ["UNAUTHENTICATED", "account"],
    ["INTERNAL", "overloaded"],
  ])("with the error %s fails as %s", (status, kind) => {
    expect(() => readAll({ error: { code: 500, status, message: "secret words" } })).toThrow(
      expect.objectContaining({ kind, vendorMessage: "secret words" }),
    );
  });
});

describe("a reply to a caller", () => {
  const usage = { unit: "token" as const, tokens: { input: 1, output: 2 }, source: "upstream" as const };
  const call = (text: string, reason: Reply["finish"]["reason"]): Reply => ({
    id: "r",
    parts: [{ type: "tool_call", id: "c", name: "f", kind: "function", arguments: text }],
    finish: { reason, stopSequence: null },
    report: null,
  });
  const candidateOf = (reply: Reply) => JSON.parse(native.writeReply(reply, payload, usage)).candidates[0];

  test("has a call without arguments as an empty object", () => {
    expect(candidateOf(call("", "tool_calls")).content.parts).toEqual([
      { functionCall: { id: "c", name: "f", args: {} } },
    ]);
  });

  test("has arguments character for character", () => {
    const text = '{ "b":12345678901234567890, "a":1.0, "2":1,"1":2 }';
    expect(native.writeReply(call(text, "tool_calls"), payload, usage)).toContain(`"args":${text}`);
  });

  test("says that a call was cut, unless the maximum of tokens is why", () => {
    expect(candidateOf(call('{"a":', "tool_calls"))).toMatchObject({
      finishReason: "MALFORMED_FUNCTION_CALL",
    });
    expect(candidateOf(call('{"a":', "length"))).toMatchObject({
      content: { parts: [] },
      finishReason: "MAX_TOKENS",
    });
  });
});
