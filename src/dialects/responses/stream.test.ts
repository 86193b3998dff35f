import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import { readEvents } from "../../../test/support/responses-schema.ts";
import { observingPolicy, policyFor } from "../../../test/support/usage-policy.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { readReply } from "./forward.ts";
import { openStream } from "./stream.ts";

const RUNNING = {
  id: "resp_1",
  model: "vendor",
  store: true,
  status: "in_progress",
  output: [],
  usage: null,
};
const MESSAGE = {
  id: "msg_1",
  type: "message",
  content: [{ type: "output_text", text: "é🙂 one", annotations: [] }],
};
const USAGE = { input_tokens: 9, output_tokens: 4, total_tokens: 13, extra: "BIG" };

function events(usage: object | null = USAGE, end = "\n"): string[] {
  let number = 0;
  const write = (type: string, fields: object) => {
    const data = JSON.stringify({ type, sequence_number: number++, ...fields }).replace(
      '"BIG"',
      "12345678901234567890",
    );
    return `event: ${type}${end}data: ${data}${end}${end}`;
  };
  const position = { item_id: "msg_1", output_index: 0, content_index: 0 };
  return [
    write("response.created", { response: RUNNING }),
    write("response.in_progress", { response: RUNNING }),
    write("response.output_item.added", { output_index: 0, item: { ...MESSAGE, content: [] } }),
    write("response.output_text.delta", { ...position, delta: "é🙂", obfuscation: "x", big: 1.5 }),
    `: a comment${end}${end}`,
    write("response.new_kind.happened", { anything: { a: [1] } }),
    write("response.output_text.delta", { ...position, delta: " one" }),
    write("response.output_item.done", { output_index: 0, item: MESSAGE }),
    write("response.completed", {
      response: { ...RUNNING, status: "completed", output: [MESSAGE], usage },
    }),
  ];
}

function relay(chunks: Iterable<Uint8Array>): string {
  const stream = openStream("public", policyFor(10));
  const output = Array.from(chunks, (chunk) => Buffer.from(stream.push(chunk)));
  return Buffer.concat([...output, stream.end()]).toString();
}

/** Returns the last usage that the billing policy observes after some events. */
function observed(...sent: { type: string; [name: string]: unknown }[]) {
  const { policy, last } = observingPolicy();
  const stream = openStream("public", policy);
  try {
    for (const event of sent) stream.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
  }
  stream.usage();
  return last()!;
}

const LONG = "word ".repeat(80);
const LONG_MESSAGE = { ...MESSAGE, content: [{ type: "output_text", text: LONG, annotations: [] }] };

test.each([
  [
    "pieces",
    [
      { type: "response.output_text.delta", delta: LONG },
      { type: "response.output_item.done", item: MESSAGE },
    ],
  ],
  [
    "items",
    [
      { type: "response.output_text.delta", delta: "a" },
      { type: "response.output_item.done", item: LONG_MESSAGE },
    ],
  ],
  [
    "the name of a call",
    [{ type: "response.output_item.added", item: { type: "function_call", name: LONG } }],
  ],
])("the larger of what came in pieces and as a whole counts as delivered: %s", (_, sent) => {
  expect(observed(...sent).deliveredTokens).toBeGreaterThan(50);
});

test("the report of a response that failed is not of all that was delivered", () => {
  const response = {
    ...RUNNING,
    status: "failed",
    error: { code: "server_error", message: "m" },
    usage: USAGE,
  };
  const failed = observed(
    { type: "response.output_text.delta", delta: LONG },
    { type: "response.failed", response },
  );
  expect(failed).toMatchObject({ isReportFinal: false, report: { tokens: { input: 9, output: 4 } } });
});

/** Returns the caller's output for the text of a vendor's stream. */
const publicText = (text: string) =>
  text.replaceAll('"model":"vendor"', '"model":"public"').replaceAll('"store":true', '"store":false');

test("frames pass as the bytes they came in, but for the model's name and `store`", () => {
  const text = events().join("");
  expect(relay([Buffer.from(text)])).toBe(publicText(text));
});

test("the caller's events do not depend on the vendor's chunks", () => {
  const property = fc.property(
    fc.constantFrom("\n", "\r\n"),
    fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }),
    (end, sizes) => {
      const bytes = Buffer.from(events(USAGE, end).join(""));
      expect(readEvents(relay(cut(bytes, sizes)))).toEqual(readEvents(relay([bytes])));
    },
  );
  fc.assert(property, { numRuns: 100 });
  const bytes = Buffer.from(events().join(""));
  expect(relay(Array.from(bytes, (byte) => Buffer.of(byte)))).toBe(relay([bytes]));
});

function* cut(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

test("the last event waits for the end, and nothing after it is passed on", () => {
  const stream = openStream("public", policyFor(10));
  const sent = Buffer.from(
    stream.push(Buffer.from(events().join("") + "data: [DONE]\n\n: late\n\n")),
  ).toString();
  expect(sent).not.toContain("response.completed");
  expect(stream.isDone).toBe(true);
  const ending = Buffer.from(stream.end()).toString();
  expect(ending).toStartWith("event: response.completed\n");
  expect(ending).not.toContain("[DONE]");
  expect(stream.usage()).toMatchObject({ source: "upstream", tokens: { input: 9, output: 4 } });
});

test("a usage that is not what is billed is replaced, whole and streamed", () => {
  const wrong = { ...USAGE, input_tokens: -5 };
  const ending = JSON.parse(
    relay([Buffer.from(events(wrong).join(""))])
      .split("\n\n")
      .at(-2)!
      .split("data: ")[1]!,
  );
  expect(ending.response.usage).toMatchObject({ input_tokens: 10, output_tokens: 4, total_tokens: 14 });
  const text = JSON.stringify({ ...RUNNING, status: "completed", output: [MESSAGE], usage: null });
  const { text: corrected, usage } = readReply({ text }, "public", policyFor(10));
  expect(usage.source).toBe("estimated");
  expect(JSON.parse(corrected)).toMatchObject({ model: "public", store: false, usage: { input_tokens: 10 } });
});

test("a whole reply keeps every other character", () => {
  const text =
    '{ "id":"resp_1","model":"vendor" , "status":"completed","odd":1.0,"output":[{"type":"odd","x":12345678901234567890}],' +
    '"usage":{"input_tokens":3,"output_tokens":5,"total_tokens":8}}';
  expect(readReply({ text }, "public", policyFor(10)).text).toBe(text.replace("vendor", "public"));
});

describe("a failure", () => {
  const failed = (error: object, usage: object | null = null) =>
    `data: ${JSON.stringify({ type: "response.failed", sequence_number: 2, response: { ...RUNNING, status: "failed", error, usage } })}\n\n`;

  test.each([
    ["insufficient_quota", "account"],
    ["rate_limit_exceeded", "limited"],
    ["server_is_overloaded", "overloaded"],
    ["slow_down", "overloaded"],
    ["server_error", "overloaded"],
    ["context_length_exceeded", "too_long"],
    ["bio_policy", "refused"],
    ["invalid_encrypted_content", "broken"],
  ])("%s is %s, before any content", (code, kind) => {
    const head = Buffer.from(events().slice(0, 2).join(""));
    const error = { code, message: "Please try again in 12s." };
    const frames = [
      failed(error),
      `event: error\ndata: ${JSON.stringify({ type: "error", ...error })}\n\n`,
      `event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`,
    ];
    for (const frame of frames) {
      const stream = openStream("public", policyFor(10));
      stream.push(head);
      let thrown: unknown = null;
      try {
        stream.push(Buffer.from(frame));
      } catch (caught) {
        thrown = caught;
      }
      expect(thrown).toBeInstanceOf(UpstreamError);
      expect(thrown).toMatchObject({ kind });
    }
  });

  test("is billed what it reports, and no less than what was delivered", () => {
    const stream = openStream("public", policyFor(10));
    for (const text of [events().slice(0, 4).join(""), failed({ code: "server_error" }, USAGE)])
      stream.push(Buffer.from(text));
    expect(stream.usage()).toMatchObject({ source: "upstream", tokens: { input: 9, output: 4 } });
  });

  test("after content comes after what was delivered, and ends as the protocol does", () => {
    const stream = openStream("public", policyFor(10));
    stream.push(Buffer.from(events().slice(0, 4).join("")));
    const more = Buffer.from(stream.push(Buffer.from(events()[6]! + failed({ code: "server_error" }))));
    expect(more.toString()).toContain(" one");
    expect(() => stream.end()).toThrow("error inside the response");
    expect(stream.usage()).toMatchObject({ source: "estimated", tokens: { input: 10 } });
    const frames = Buffer.from(stream.errorFrame(new GatewayError("overloaded", "Busy."))).toString();
    const [first, second] = frames
      .trim()
      .split("\n\n")
      .map((frame) => JSON.parse(frame.split("data: ")[1]!));
    expect(first).toMatchObject({
      type: "response.failed",
      sequence_number: 6,
      response: {
        id: "resp_1",
        model: "public",
        store: false,
        status: "failed",
        error: { code: "server_error" },
      },
    });
    expect(second).toMatchObject({
      type: "error",
      sequence_number: 7,
      code: "overloaded",
      message: "Busy.",
      error: { type: "server_error", code: "overloaded", message: "Busy." },
    });
  });

  test.each([
    ["a stream without its ending", events().slice(0, 7).join("")],
    ["half an event", `${events().slice(0, 7).join("")}data: {"type":`],
  ])("%s is cut", (_, text) => {
    const stream = openStream("public", policyFor(10));
    stream.push(Buffer.from(text));
    expect(() => stream.end()).toThrow(UpstreamError);
  });

  test.each([
    { type: "response.completed" },
    { type: "response.completed", response: { ...RUNNING, output: [null] } },
    { type: "response.in_progress" },
    { type: "response.output_item.added", item: null },
    { type: "response.output_item.done" },
    { type: "response.content_part.added", part: "none" },
  ])("%o is broken, after what came before", (event) => {
    const stream = openStream("public", policyFor(10));
    expect(stream.push(Buffer.from(events().slice(0, 7).join("")))).not.toBeEmpty();
    const act = (): void => {
      stream.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
      stream.end();
    };
    expect(act).toThrow(expect.objectContaining({ kind: "broken" }));
  });
});
