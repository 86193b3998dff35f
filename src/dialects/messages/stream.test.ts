import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { observingPolicy, policyFor } from "../../../test/support/usage-policy.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { messages } from "./index.ts";
import { openStream } from "./stream.ts";

/** Marks an event without usage. */
const NONE = "none";
type Event = { type: string; [name: string]: unknown };

const USAGE = {
  input_tokens: 100,
  cache_creation_input_tokens: 30,
  cache_read_input_tokens: 50,
  cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
  output_tokens: 1,
};
const start = (usage: unknown = USAGE): Event => ({
  type: "message_start",
  message: { id: "msg_1", type: "message", role: "assistant", model: "vendor-model", content: [], usage },
});
const ping: Event = { type: "ping" };
const open = (block: object, index = 0): Event => ({
  type: "content_block_start",
  index,
  content_block: block,
});
const delta = (piece: object, index = 0): Event => ({ type: "content_block_delta", index, delta: piece });
const text = (piece: string, index = 0) => delta({ type: "text_delta", text: piece }, index);
const close = (index = 0): Event => ({ type: "content_block_stop", index });
const ending = (usage: unknown = { output_tokens: 9 }, stop_reason: string | null = "end_turn"): Event => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null },
  ...(usage !== NONE && { usage }),
});
const stop: Event = { type: "message_stop" };
const said = [open({ type: "text", text: "" }), text("Hello "), text("there"), close()];

const frame = (event: Event, end = "\n") =>
  `event: ${event.type}${end}data: ${JSON.stringify(event)}${end}${end}`;
const frames = (events: readonly Event[], end = "\n") => events.map((event) => frame(event, end)).join("");
const newStream = (estimatedInput = 70) => openStream("public", policyFor(estimatedInput));

function relay(chunks: Iterable<Uint8Array | string>, stream = newStream()): string {
  const output = Array.from(chunks, (chunk) => Buffer.from(stream.push(Buffer.from(chunk))));
  return Buffer.concat([...output, stream.end()]).toString();
}

test("a report is final once the message has ended, and an unusable one replaces none", () => {
  const { policy, last } = observingPolicy();
  const stream = openStream("public", policy);
  const observe = (...events: Event[]) => {
    stream.push(Buffer.from(frames(events)));
    stream.usage();
    return [last()!.isReportFinal, last()!.report?.hasInput];
  };
  expect(observe(start())).toEqual([false, true]);
  expect(observe(...said, ending({ input_tokens: "x", output_tokens: -1 }, null))).toEqual([false, true]);
  expect(observe(ending())).toEqual([true, true]);
});

describe("a stream of the same protocol", () => {
  const block = fc.oneof(
    fc.array(fc.string({ unit: "grapheme", maxLength: 9 }), { maxLength: 5 }).map((pieces) => ({
      block: { type: "text", text: "" },
      deltas: pieces.map((piece) => ({ type: "text_delta", text: piece })),
    })),
    fc.array(fc.string({ maxLength: 9 }), { maxLength: 5 }).map((pieces) => ({
      block: { type: "tool_use", id: "toolu_1", name: "f", input: {} },
      deltas: pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    })),
    fc.string({ unit: "grapheme", maxLength: 9 }).map((thought) => ({
      block: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        { type: "thinking_delta", thinking: thought },
        { type: "signature_delta", signature: "sig+/==" },
      ],
    })),
    fc.constant({ block: { type: "redacted_thinking", data: "abc" }, deltas: [] }),
    fc.constant({
      block: { type: "hologram", beam: { model: "x" } },
      deltas: [{ type: "beam_delta", n: 1 }],
    }),
  );
  const middle = fc
    .array(block, { minLength: 1, maxLength: 4 })
    .map((blocks) =>
      blocks.flatMap(({ block, deltas }, index) => [
        open(block, index),
        ...deltas.map((each) => delta(each, index)),
        ping,
        { type: "progress_note", index },
        close(index),
      ]),
    );
  const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 });

  test("passes every byte but the model's name, however it is cut", () => {
    const property = fc.property(middle, lineEnd, sizes, fc.boolean(), (events, end, cuts, isTwice) => {
      const endings = isTwice ? [ending(NONE, null), ping, ending()] : [ending()];
      const sent = frames([start(), ping, ...events, ...endings, stop], end);
      const expected = sent.replace('"vendor-model"', '"public"');
      const isWithUsage = !isTwice;
      const [whole, pieces, bytes] = [
        relay([sent]),
        relay(cut(Buffer.from(sent), cuts)),
        relay(Array.from(Buffer.from(sent), (byte) => Buffer.of(byte))),
        // The last line break may be missing, because nothing is read after the end mark.
      ].map((output) => output.trimEnd());
      expect(pieces).toBe(whole);
      expect(bytes).toBe(whole);
      if (isWithUsage) expect(whole).toBe(expected.trimEnd());
    });
    fc.assert(property, { numRuns: 200 });
  });

  test("is complete without a blank line at its end", () => {
    const sent = frames([start(), ...said, ending(), stop]);
    expect(relay([sent.slice(0, -2)]).trimEnd()).toBe(relay([sent]).trimEnd());
  });

  test("gets names of events that a vendor leaves to the data, and no other protocol's end mark", () => {
    const sent = frames([start(), ...said, ending(), stop]).replaceAll(/event: \w+\n/g, "");
    expect(relay([`${sent}data: [DONE]\n\n`])).toBe(relay([frames([start(), ...said, ending(), stop])]));
  });

  test("goes out up to the ending, which waits for the upstream's own", () => {
    const stream = newStream();
    const before = stream
      .push(Buffer.from(frames([start(), ...said, ending(), ping, stop, ping])))
      .toString();
    expect(Buffer.from(before).length).toBeGreaterThan(0);
    const last = Buffer.from(stream.end()).toString();
    expect(last).toBe(frames([ending(), ping, stop]));
    expect(stream.isDone).toBe(true);
  });

  test("is ended where the vendor forgets to", () => {
    expect(relay([frames([start(), ...said, ending()])])).toEndWith(frames([ending(), stop]));
    const own = relay([frames([start(), ...said, stop])]);
    expect(own).toContain(
      '"delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"container":null},"usage":{"input_tokens":100',
    );
    expect(own).toEndWith(frames([stop]));
  });

  test("that is cut has no ending", () => {
    const stream = newStream();
    stream.push(Buffer.from(frames([start(), ...said])));
    expect(() => stream.end()).toThrow("cut");
    const error = new GatewayError("upstream_error", "The model gave no usable answer.");
    const event = {
      type: "error",
      error: { type: "api_error", message: "The model gave no usable answer." },
    };
    expect(Buffer.from(stream.errorFrame(error)).toString()).toBe(frame(event));
  });
});

describe("a failure inside a stream", () => {
  const failed = (type: string): Event => ({ type: "error", error: { type, message: "No" } });

  test.each([
    ["overloaded_error", "overloaded"],
    ["api_error", "overloaded"],
    ["rate_limit_error", "limited"],
    ["authentication_error", "account"],
    ["invalid_request_error", "rejected"],
    ["new_error", "overloaded"],
  ])("of type %s before any content is thrown at once", (type, kind) => {
    const act = () => newStream().push(Buffer.from(frames([start(), ping, failed(type)])));
    expect(act).toThrow(expect.objectContaining({ kind }));
  });

  test("after content comes behind that content", () => {
    const stream = newStream();
    stream.push(Buffer.from(frames([start(), ...said.slice(0, 2)])));
    const output = Buffer.from(
      stream.push(Buffer.from(frames([text("more"), failed("api_error"), text("x")]))),
    );
    expect(output.toString()).toBe(frames([text("more")]));
    expect(stream.isDone).toBe(true);
    expect(() => stream.end()).toThrow("api_error");
    expect(stream.usage()).toMatchObject({ source: "estimated" });
  });

  test.each([
    ["not JSON", "data: nonsense\n\n"],
    ["not an object", "data: 1\n\n"],
    ["the end without content", frames([start(), stop])],
  ])("that is %s is one of the upstream", (_, sent) => {
    expect(() => newStream().push(Buffer.from(sent))).toThrow(expect.objectContaining({ kind: "broken" }));
  });

  test.each([
    ["a block", { type: "content_block_start", index: 0, content_block: null }],
    ["a delta", { type: "content_block_delta", index: 0, delta: null }],
    [
      "a call's id",
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", name: "f" } },
    ],
    [
      "a call's name",
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "a" } },
    ],
  ])("that lacks %s is one of the upstream, forwarded or translated", (_, event) => {
    const data = JSON.stringify(event);
    const broken = expect.objectContaining({ kind: "broken" });
    expect(() => newStream().push(Buffer.from(`data: ${data}\n\n`))).toThrow(broken);
    expect(() => [...messages.replyReader().read(data)]).toThrow(broken);
  });
});

describe("the content of a stream", () => {
  test.each<[string, Event[], boolean]>([
    ["a start", [start(), ping], false],
    ["an empty block", [start(), open({ type: "text", text: "" })], false],
    ["a piece of text", [start(), open({ type: "text", text: "" }), text("a")], true],
    ["a signature alone", [start(), delta({ type: "signature_delta", signature: "s" })], true],
    ["a call", [start(), open({ type: "tool_use", id: "a", name: "f", input: {} })], true],
    ["hidden thinking", [start(), open({ type: "redacted_thinking", data: "a" })], true],
    ["an ending alone", [start(), ending()], false],
    ["an ending by a limit", [start(), ending({ output_tokens: 9 }, "max_tokens")], true],
  ])("with %s", (_, events, hasContent) => {
    const stream = newStream();
    stream.push(Buffer.from(frames(events)));
    expect(stream.hasContent).toBe(hasContent);
  });
});

describe("the usage of a stream", () => {
  test("has the searches whose results were delivered, cut or whole, or more where the vendor counts more", () => {
    const searched = (content: unknown) =>
      open({ type: "web_search_tool_result", tool_use_id: "s", content });
    const events = [
      start(),
      searched([{ type: "web_search_result", url: "https://example.com" }]),
      close(),
      searched([]),
      close(),
      searched({ type: "web_search_tool_result_error", error_code: "unavailable" }),
      close(),
      ...said,
    ];
    const stream = openStream("public", policyFor(70, { web_search: 5 }));
    stream.push(Buffer.from(frames(events)));
    expect(stream.usage().uses).toEqual({ web_search: 2 });
    const counted = (web_search_requests: number) =>
      frames([ending({ output_tokens: 9, server_tool_use: { web_search_requests } })]);
    stream.push(Buffer.from(counted(3)));
    expect(stream.usage().uses).toEqual({ web_search: 3 });
    stream.push(Buffer.from(counted(1) + frames([stop])));
    expect(stream.usage()).toMatchObject({ uses: { web_search: 2 }, anomalous: true });
    expect(stream.end().toString()).toContain('"web_search_requests":2');
  });

  const usageOf = (...events: Event[]) => {
    const stream = newStream();
    const output = relay([frames(events)], stream);
    return { usage: stream.usage(), output };
  };

  test("joins the start's categories with the ending's, once each", () => {
    const { usage, output } = usageOf(
      start(),
      ...said,
      ending({ output_tokens: 9, cache_read_input_tokens: null }),
      stop,
    );
    expect(usage).toEqual({
      unit: "token",
      source: "upstream",
      tokens: { input: 100, cacheRead: 50, cacheWrite: 10, cacheWrite1h: 20, output: 9 },
    });
    expect(output).toContain('"cache_read_input_tokens":null');
  });

  test("is shown to a client that takes the ending's zeros in place of what the start has told", () => {
    const zeros = { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    const { usage, output } = usageOf(start(), ...said, ending({ ...zeros, output_tokens: 9 }), stop);
    expect(usage).toMatchObject({ source: "upstream", tokens: { input: 100, cacheRead: 50, output: 9 } });
    expect(output).toContain(
      '"usage":{"input_tokens":100,"cache_read_input_tokens":50,"cache_creation_input_tokens":30,"output_tokens":9}',
    );
  });

  test("is shown at the end where the start could not tell the input yet", () => {
    const caches = { cache_read_input_tokens: 250, cache_creation_input_tokens: 5 };
    const { usage, output } = usageOf(
      start(caches),
      ...said,
      ending({ input_tokens: 3, output_tokens: 9 }),
      stop,
    );
    expect(usage.tokens).toEqual({ input: 3, cacheRead: 250, cacheWrite: 5, output: 9 });
    expect(output).toContain(
      '"usage":{"cache_creation_input_tokens":5,"cache_read_input_tokens":250,"input_tokens":3,"output_tokens":9}',
    );
  });

  test("is told once more where content followed the ending", () => {
    const cut = ending({ output_tokens: 1 }, "max_tokens");
    const { usage, output } = usageOf(start(), cut, ...said, stop);
    expect(usage).toMatchObject({ source: "estimated", tokens: { output: 3 } });
    const last = output.split("\n\n").filter((event) => event.includes("message_delta"));
    expect(last).toHaveLength(2);
    expect(last[1]).toMatch(/"stop_reason":"max_tokens".*"output_tokens":3,/);
  });

  test("is the last of several endings, which are cumulative", () => {
    const first = ending({ output_tokens: 5 }, null);
    const last = ending({
      input_tokens: 140,
      output_tokens: 12,
      output_tokens_details: { thinking_tokens: 4 },
    });
    const { usage } = usageOf(start(), ...said, first, last, stop);
    expect(usage.tokens).toMatchObject({ input: 140, output: 8, reasoning: 4 });
  });

  test("is the billed one in each of several endings where the vendor's cannot be billed", () => {
    const wrong = { output_tokens: 1_000_000_000 };
    const { usage, output } = usageOf(start(), ...said, ending(wrong, null), ending(wrong), stop);
    expect(usage).toMatchObject({ anomalous: true, tokens: { output: 1_000_000 } });
    expect(output.match(/"output_tokens":\d+/g)?.slice(-2)).toEqual(Array(2).fill('"output_tokens":1000000'));
  });

  test("sums iterations, which the total does not", () => {
    const iterations = [
      { type: "compaction", input_tokens: 1_000, output_tokens: 200 },
      { type: "message", input_tokens: 100, output_tokens: 9, cache_read_input_tokens: 5 },
    ];
    const { usage } = usageOf(start(), ...said, ending({ output_tokens: 9, iterations }), stop);
    expect(usage.tokens).toMatchObject({ input: 1_100, output: 209, cacheRead: 5 });
  });

  test.each<Event[]>([
    [stop],
    [ending(), stop],
    [ending({ output_tokens: 0, iterations: null }), stop],
    [ending({ output_tokens: 9 }), ending({ output_tokens: 0 }, null), stop],
  ])("takes back the iterations of the start where they are not what is billed", (...end) => {
    const iterations = [{ type: "unknown", input_tokens: 304, output_tokens: 0 }];
    const { usage, output } = usageOf(
      start({ input_tokens: 304, output_tokens: 0, iterations }),
      ...said,
      ...end,
    );
    expect(usage.tokens.output).toBeGreaterThan(0);
    expect(output.slice(output.indexOf("message_delta"))).toContain('"iterations":[]');
  });

  test.each<[string, unknown, unknown]>([
    ["is missing", NONE, NONE],
    ["is null", null, null],
    ["is text", { input_tokens: "100", output_tokens: "9" }, { output_tokens: "9" }],
    ["is negative", { input_tokens: -100, output_tokens: -1 }, { output_tokens: -9 }],
    ["is zero", { input_tokens: 0, output_tokens: 0 }, { output_tokens: 0 }],
  ])("that %s is estimated, and shown as it is billed", (_, first, last) => {
    const started = {
      ...start(),
      message: { model: "vendor-model", content: [], ...(first !== NONE && { usage: first }) },
    };
    const { usage, output } = usageOf(started, ...said, ending(last), stop);
    expect(usage).toMatchObject({ source: "estimated", tokens: { input: 70, output: 3 } });
    const shown = [...output.matchAll(/"input_tokens":(\d+)/g)].map(([, count]) => Number(count));
    expect(shown).toEqual([70, 70]);
    expect(output).toContain('"output_tokens":3');
    expect(output).not.toContain("-9");
  });

  test("of a vendor that tells the input at the end only is the vendor's", () => {
    const { usage } = usageOf(
      start({ input_tokens: 0, output_tokens: 0 }),
      ...said,
      ending({ input_tokens: 41, output_tokens: 9 }),
      stop,
    );
    expect(usage).toMatchObject({ source: "upstream", tokens: { input: 41, output: 9 } });
  });
});

function* cut(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
