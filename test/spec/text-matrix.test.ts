import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import OpenAI from "openai-6";
import { collectReply, type Reply } from "../../src/dialects/conversation/reply.ts";
import { TranslatedStream } from "../../src/dialects/conversation/translated-stream.ts";
import type { TextPayload } from "../../src/dialects/dialect.ts";
import { textDialect } from "../../src/dialects/text.ts";
import { frameData, FrameSplitter } from "../../src/lib/sse.ts";
import { signIn } from "../support/administration.ts";
import { until } from "../support/gateway.ts";
import {
  CALLERS,
  DIALECTS,
  openMatrix,
  QUESTIONS,
  VENDORS,
  type MatrixFixture,
  type CallerName,
  type Question,
  type VendorName,
} from "../support/text-matrix.ts";
import { policyFor } from "../support/usage-policy.ts";

/* Callers and vendors of every protocol. Replies have the published form, complete and streamed. */
let fixture: MatrixFixture;
beforeAll(async () => {
  fixture = await openMatrix();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const MODELS = [...VENDORS, "sandbox-chat"] as const;
const CELLS = (Object.keys(CALLERS) as CallerName[]).flatMap((caller) =>
  MODELS.flatMap((model) => QUESTIONS.map((question) => ({ caller, model, question }))),
);

describe.each(CELLS)("$caller of $model: $question", ({ caller, model, question }) => {
  const { path, body, expectReply, expectStream } = CALLERS[caller];
  const ask = async (isStream: boolean) => {
    const init = { body: body(model, question, isStream) };
    const response = await fixture.gateway.call(path(model, isStream), init);
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.any(String)]);
    return text;
  };

  test("has the published form, and is the same whole and streamed", async () => {
    const whole = await ask(false);
    const stream = await ask(true);
    // This vendor's replies differ from the published form in ways that are forwarded: another shape of id, and
    // additional fields of usage.
    if (caller !== "chat" || model !== "over-thinking") {
      expectReply(JSON.parse(whole));
      expectStream(stream);
    }
    const reply = plain(textDialect(caller).parseReply({ text: whole }));
    expect(plain(assembled(caller, stream))).toEqual(reply);
    expect(reply.finish).toBe(question === "tools" ? "tool_calls" : "stop");
    const last = reply.parts.at(-1)!;
    if (question === "tools") expect(last).toMatchObject({ type: "tool_call", name: "look_up" });
    else expect(last).toMatchObject({ type: "text", text: expect.stringMatching(/\w{5}/) });
    if (showsReasoning(caller, model, question))
      expect(reply.parts[0]).toMatchObject({ type: "reasoning", text: expect.stringMatching(/\w{2}/) });
  });
});

describe.each(MODELS)("completions of %s", (model) => {
  const client = () =>
    new OpenAI({
      apiKey: fixture.gateway.key,
      baseURL: `${fixture.gateway.url}/v1`,
      maxRetries: 0,
    });
  test("are the same whole and streamed, and charged once", async () => {
    const requestId = `completion-${model}`;
    const headers = { "x-request-id": requestId };
    const body = { model, prompt: ["Say hello."], max_tokens: 2_000, echo: false, best_of: 1, suffix: null };
    const whole = await client().completions.create(body, { headers });
    expect(whole).toMatchObject({
      object: "text_completion",
      model,
      choices: [{ index: 0, logprobs: null }],
    });
    expect(whole.id).toMatch(/^(?!chatcmpl-)./);
    const { text, finish_reason: end } = whole.choices[0]!;
    expect([text.length > 4, end]).toEqual([true, "stop"]);
    const [row, ...others] = await fixture.gateway.charged(requestId);
    expect(others).toEqual([]);
    const billed = Object.values(row!.consumed!.tokens!).reduce((sum, count) => sum + count, 0);
    expect(whole.usage!.total_tokens).toBe(billed);

    let streamed = "";
    let last: string | null = null;
    for await (const chunk of await client().completions.create({ ...body, stream: true })) {
      expect(chunk).toMatchObject({ object: "text_completion", model, choices: [{ index: 0 }] });
      streamed += chunk.choices[0]!.text;
      last = chunk.choices[0]!.finish_reason;
    }
    expect([streamed, last]).toEqual([text, "stop"]);
    const counted = { ...body, stream: true as const, stream_options: { include_usage: true } };
    const chunks = await Array.fromAsync(await client().completions.create(counted));
    const { completion_tokens } = whole.usage!;
    expect(chunks.filter(({ usage }) => usage)).toMatchObject([
      { choices: [], usage: { completion_tokens } },
    ]);
  });
});

describe.each(Object.keys(CALLERS) as CallerName[])("a field that nobody knows, on %s,", (caller) => {
  const { path, body } = CALLERS[caller];
  test.each(["sandbox-chat", "sandbox-messages"])("is ignored by %s", async (model) => {
    const unknown = { zz: 1, mcp: [] };
    const init = { body: { ...body(model, "text", false), ...unknown } };
    expect((await fixture.gateway.call(path(model, false), init)).status).toBe(200);
  });
});

describe.each(Object.keys(CALLERS) as CallerName[])(
  "the sandbox calls a function without parameters, on %s,",
  (caller) => {
    const { path, body } = CALLERS[caller];
    const toolsOf: Readonly<Record<CallerName, (schema: object) => object[]>> = {
      chat: (parameters) => [{ type: "function", function: { name: "now", parameters } }],
      messages: (schema) => [{ name: "now", input_schema: { type: "object", ...schema } }],
      responses: (parameters) => [{ type: "function", name: "now", parameters, strict: false }],
      native: (parameters) => [{ functionDeclarations: [{ name: "now", parameters }] }],
    };
    test.each([{}, { properties: {} }])("with an empty object: %j", async (schema) => {
      for (const isStream of [false, true]) {
        const init = { body: { ...body("sandbox-chat", "tools", isStream), tools: toolsOf[caller](schema) } };
        const text = await (await fixture.gateway.call(path("sandbox-chat", isStream), init)).text();
        const reply = isStream ? assembled(caller, text) : textDialect(caller).parseReply({ text });
        const [call] = plain(reply).parts;
        expect(call).toMatchObject({ type: "tool_call", name: "now", arguments: "{}" });
      }
    });
  },
);

test.each<[string, object]>([
  ["chat/completions", { messages: [] }],
  ["messages", { messages: [], max_tokens: 5 }],
  ["responses", { input: [] }],
  ["responses", { input: "" }],
  ["completions", { prompt: "" }],
  ["embeddings", { input: "" }],
  ["models/sandbox-chat:generateContent", { contents: [] }],
  ["models/sandbox-chat:generateContent", { contents: [{ role: "user", parts: [] }] }],
])("%s with nothing to answer is refused: %j", async (path, body) => {
  const model = path === "embeddings" ? "sandbox-embedding" : "sandbox-chat";
  const response = await fixture.gateway.call(`/v1/${path}`, {
    body: path.startsWith("models/") ? body : { model, ...body },
  });
  expect([response.status, await response.text()]).toEqual([
    400,
    expect.stringContaining(Object.keys(body)[0]!),
  ]);
});

test.each<[string, object]>([
  ["suffix", { suffix: "end" }],
  ["echo", { echo: true }],
  ["best_of", { best_of: 2 }],
  ["logprobs", { logprobs: 0 }],
  ["tools", { tools: [] }],
  ["prompt", { prompt: ["a", "b"] }],
  ["prompt", { prompt: [1, 2] }],
  ["prompt", { prompt: [[1, 2]] }],
  ["prompt", { prompt: "" }],
  ["prompt", { prompt: 7 }],
  ["max_tokens", { max_tokens: 0 }],
])("a completion with another %s than a chat can say is refused: %j", async (param, field) => {
  const body = { model: "over-chat", prompt: "Say hello.", ...field };
  const response = await fixture.gateway.call("/v1/completions", { body });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }]);
});

test("a completion that is repeated with other options of its stream is another request", async () => {
  const call = async (stream_options: object) => {
    const body = { model: "sandbox-chat", prompt: "Say hello.", stream: true, stream_options };
    const headers = { "idempotency-key": "completion-options" };
    const response = await fixture.gateway.call("/v1/completions", { body, headers });
    await response.text();
    return response.status;
  };
  expect(await call({ include_usage: true })).toBe(200);
  expect(await call({ include_usage: false })).toBe(409);
});

test("a completion may have a thousand fields, and no more", async () => {
  const call = async (count: number) => {
    const names = Array.from({ length: count - 3 }, (_, index) => [`field_${index}`, 1]);
    const fields = {
      model: "sandbox-chat",
      prompt: "Say hello.",
      max_tokens: 5,
      ...Object.fromEntries(names),
    };
    const response = await fixture.gateway.call("/v1/completions", { body: fields });
    return [response.status, await response.json()] as const;
  };
  expect((await call(1_000))[0]).toBe(200);
  expect(await call(1_001)).toMatchObject([400, { error: { code: "invalid_request_body" } }]);
});

describe.each(Object.keys(CALLERS) as CallerName[])("the order of a route's targets, for %s", (caller) => {
  const { path, body } = CALLERS[caller];
  const paths = ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1beta/models/"];
  const vendors = () => new Set(Object.values(fixture.vendors));

  /** Returns how many of `count` requests each target got, in the route's order. */
  const callsOf = async (model: string, count: number): Promise<number[]> => {
    for (const vendor of vendors()) vendor.reset();
    const init = () => ({ body: body(model, "text", false) });
    for (let sent = 0; sent < count; sent += 1)
      await (await fixture.gateway.call(path(model, false), init())).text();
    const hits = [...vendors()].flatMap((vendor) => vendor.hits.map((hit) => hit.path));
    return paths.map((beginning) => hits.filter((hit) => hit.startsWith(beginning)).length);
  };
  const explained = async (model: string) =>
    JSON.parse(await fixture.gateway.cli("routes", "explain", "--model", model, "--json")) as {
      targets: { channel: string; share: number }[];
    };

  test("is as listed, and as explained", async () => {
    expect(await callsOf("all-ordered", 4)).toEqual([4, 0, 0, 0]);
    const { targets } = await explained("all-ordered");
    expect(targets.map(({ channel, share }) => [channel, share])).toEqual([
      ["chat", 1],
      ["messages", 0],
      ["responses", 0],
      ["native", 0],
    ]);
  });

  test("is by weight alone, and as explained", async () => {
    const calls = await callsOf("all-weighted", 60);
    // Each target gets a quarter. In thirteen of a hundred million runs, some target gets no call.
    expect(Math.min(...calls)).toBeGreaterThan(0);
    const { targets } = await explained("all-weighted");
    expect(targets.map(({ share }) => share)).toEqual([0.25, 0.25, 0.25, 0.25]);
  });
});

/** True when reasoning is shown: always by `over-thinking`, never by `over-chat`. Chat callers cannot request it. */
function showsReasoning(caller: CallerName, model: (typeof MODELS)[number], question: Question): boolean {
  if (model === "over-thinking") return true;
  return question === "reasoning" && model !== "over-chat" && caller !== "chat";
}

describe.each(CELLS.filter(({ model }) => model !== "sandbox-chat"))(
  "$caller of $model: $question",
  ({ caller, model, question }) => {
    test("does not depend on how the vendor's bytes are cut, nor on their style", async () => {
      const vendor = model as VendorName;
      const { path, body, payload } = CALLERS[caller];
      await (await fixture.gateway.call(path(model, true), { body: body(model, question, true) })).text();
      // Only replies without tool calls get this text, because arguments must not change.
      const text = question === "tools" ? undefined : 'Ünï \u{1F30A} 語 "quotes"\n\\u00e9';
      const bytes = await fixture.repeatLast(vendor, text);
      const asked = payload(body(model, question, true), model);
      const read = (chunks: Iterable<Uint8Array>) => eventsFor(caller, DIALECTS[vendor], asked, chunks);
      const expected = read([bytes]);
      expect(expected.join("")).toMatch(question === "tools" ? /look_up/ : /語|Hello/);
      const pieces = fc.infiniteStream(fc.integer({ min: 1, max: 90 }));
      const sizes = fc.sample(pieces, { numRuns: STYLES.length, seed: 7 });
      expect(read(cut(bytes, []))).toEqual(expected);
      for (const [index, write] of STYLES.entries())
        expect(read(cut(Buffer.from(write(bytes.toString())), sizes[index]!))).toEqual(expected);
    });
  },
);

describe("log probabilities", () => {
  const client = () =>
    new OpenAI({ apiKey: fixture.gateway.key, baseURL: `${fixture.gateway.url}/v1`, maxRetries: 0 });
  type Tokens = { token: string; top_logprobs: { token: string }[] }[];
  const expectAll = (tokens: Tokens, text: string) => {
    expect(tokens.map(({ token }) => token).join("")).toBe(text);
    for (const { top_logprobs: others } of tokens)
      expect(others.map(({ token }) => token)).toEqual(["other0", "other1"]);
  };

  test.each(["over-chat", "over-responses"])(
    "come from %s by responses, whole and streamed",
    async (model) => {
      const include: ["message.output_text.logprobs"] = ["message.output_text.logprobs"];
      const asked = { model, input: "Say hello.", include, top_logprobs: 2 };
      const whole = await client().responses.create(asked);
      const message = whole.output.find(({ type }) => type === "message");
      const [part] = message?.type === "message" ? message.content : [];
      if (part?.type !== "output_text") throw new Error("no text");
      expectAll(part.logprobs ?? [], whole.output_text);
      const pieces: Tokens = [];
      let text = "";
      for await (const event of await client().responses.create({ ...asked, stream: true })) {
        if (event.type === "response.output_text.delta") pieces.push(...(event.logprobs as Tokens));
        if (event.type === "response.output_text.done")
          expectAll(event.logprobs as Tokens, (text = event.text));
      }
      expectAll(pieces, text);
    },
  );

  test.each(["over-chat", "over-responses"])("come from %s by chat, whole and streamed", async (model) => {
    const messages = [{ role: "user" as const, content: "Say hello." }];
    const asked = { model, messages, logprobs: true, top_logprobs: 2 };
    const [choice] = (await client().chat.completions.create(asked)).choices;
    expectAll(choice?.logprobs?.content ?? [], choice?.message.content ?? "");
    const stream = client().chat.completions.stream(asked);
    const [streamed] = (await stream.finalChatCompletion()).choices;
    expectAll(streamed?.logprobs?.content ?? [], streamed?.message.content ?? "");
  });

  test.each<[CallerName, object, string]>([
    ["chat", { logprobs: true }, "logprobs"],
    ["responses", { include: ["message.output_text.logprobs"] }, "include"],
    ["responses", { top_logprobs: 1 }, "top_logprobs"],
  ])("are refused by name where a vendor has none: %s %j", async (caller, fields, param) => {
    for (const model of ["over-messages", "over-native"]) {
      const body = { ...CALLERS[caller].body(model, "text", false), ...fields };
      const response = await fixture.gateway.call(CALLERS[caller].path(model, false), { body });
      expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }]);
    }
  });
});

describe("hints that a vendor cannot be told", () => {
  const GEMINI_CLI = { temperature: 1, topP: 0.95, topK: 64 };
  const native = { ...CALLERS.native.body("", "text", true), generationConfig: GEMINI_CLI };
  const named = "generationConfig.topP, generationConfig.topK";
  const send = (isStream: boolean, headers: Record<string, string> = {}) =>
    fixture.gateway.call(CALLERS.native.path("over-messages", isStream), { body: native, headers });
  const statusOf = async (headers: Record<string, string> = {}) => {
    const response = await send(false, headers);
    await response.text();
    return response.status;
  };

  test.each([false, true])(
    "are named in the header and in the request's record (stream: %p)",
    async (isStream) => {
      const requestId = `hints-${isStream}`;
      const response = await send(isStream, { "x-request-id": requestId });
      await response.text();
      expect([response.status, response.headers.get("x-gateway-ignored-params")]).toEqual([200, named]);
      const ignored = named.split(", ");
      const line = await until("the log line", async () =>
        fixture.gateway.logs().find((each) => each["request_id"] === requestId),
      );
      expect(line["attempts"]).toMatchObject([{ outcome: "answered", ignored_params: ignored }]);
      await fixture.gateway.charged(requestId);
      const owner = await signIn(fixture.gateway);
      const { body } = await owner.send("GET", `/requests/${requestId}`);
      expect(body.attempts).toMatchObject([{ ignoredParams: ignored }]);
    },
  );

  test("are refused by name where a header, the key or the organization says so", async () => {
    const strict = await send(false, { "x-gateway-strict": "true" });
    expect(strict.status).toBe(400);
    expect(await strict.text()).toContain("`generationConfig.topP`");
    expect(await statusOf({ "x-gateway-strict": "false" })).toBe(200);
    const owner = await signIn(fixture.gateway);
    const { body: page } = await owner.send("GET", "/keys");
    for (const [path, on, off] of [
      [`/keys/${page.data[0].id}`, { refuseIgnored: true }, { refuseIgnored: false }],
      [
        "/organizations/default",
        { settings: { refuseIgnored: true } },
        { settings: { refuseIgnored: false } },
      ],
    ] as const) {
      await owner.act("PATCH", path, on);
      await until("the refusal", async () => (await statusOf()) === 400 || undefined);
      await owner.act("PATCH", path, off);
      await until("the answer", async () => (await statusOf()) === 200 || undefined);
    }
  });

  test.each<[string, VendorName, object, string | null]>([
    ["claude-over-native", "over-native", { thinkingConfig: { includeThoughts: true } }, null],
    ["untold-over-chat", "over-chat", {}, "thinking"],
  ])("reasoning belongs to the target: %s", async (model, vendor, wanted, ignored) => {
    const body = CALLERS.messages.body(model, "reasoning", false);
    const response = await fixture.gateway.call(CALLERS.messages.path(model, false), { body });
    expect([response.status, response.headers.get("x-gateway-ignored-params")]).toEqual([200, ignored]);
    await response.text();
    const sent = fixture.vendors[vendor].hits.at(-1)!.json();
    const config = { ...Object(sent["generationConfig"]) };
    delete config.maxOutputTokens;
    expect(config).toEqual(wanted);
    expect(Object.keys(sent)).not.toContain("reasoning_effort");
  });

  test("are sent as they are to a vendor of the caller's protocol", async () => {
    const response = await fixture.gateway.call(CALLERS.native.path("over-native", false), { body: native });
    await response.text();
    expect([response.status, response.headers.get("x-gateway-ignored-params")]).toEqual([200, null]);
    expect(fixture.vendors["over-native"].hits.at(-1)!.json()["generationConfig"]).toEqual(GEMINI_CLI);
  });
});

/** Spellings of the same events (WHATWG HTML, "Server-sent events"). */
const STYLES: readonly ((stream: string) => string)[] = [
  (stream) => stream,
  (stream) => stream.replaceAll(/\r?\n/g, "\r\n"),
  (stream) => stream.replaceAll(/\r?\n/g, "\r"),
  (stream) => stream.replaceAll("data: ", "data:"),
  (stream) => stream.replaceAll("data: {", "data: {\ndata:  "),
  (stream) => stream.replaceAll("data: ", ": still here\nid: 7\ndata: "),
  (stream) => `\uFEFF${stream}`,
];

/** Returns the caller's events for a vendor's bytes, as the data of each event without ids and times. */
function eventsFor(
  caller: CallerName,
  vendor: CallerName,
  payload: TextPayload,
  chunks: Iterable<Uint8Array>,
): string[] {
  const [reading, writing] = [textDialect(vendor), textDialect(caller)];
  const stream =
    caller === vendor
      ? writing.openStream(payload, "public-model", policyFor(10))
      : new TranslatedStream(reading.replyReader(), writing.replyWriter(payload), policyFor(10));
  const sent = Array.from(chunks, (chunk) => Buffer.from(stream.push(chunk)));
  return new FrameSplitter()
    .push(Buffer.concat([...sent, stream.end()]))
    .map((frame) => frameData(frame) ?? "")
    .filter((data) => data !== "")
    .map((data) =>
      (data === "[DONE]" ? data : JSON.stringify(JSON.parse(data)))
        .replaceAll(/"(?:id|item_id|call_id|responseId)":"[^"]*"/g, '"id":""')
        .replaceAll(/"(?:created|created_at|completed_at)":\d+/g, '"created":0'),
    );
}

/** Yields pieces of these sizes, then single bytes. */
function* cut(bytes: Uint8Array, sizes: Iterable<number>): Generator<Uint8Array> {
  const size = sizes[Symbol.iterator]();
  for (let start = 0; start < bytes.length;) {
    const end = start + Number(size.next().value ?? 1);
    yield bytes.slice(start, end);
    start = end;
  }
}

/** Returns the reply that the events of a stream form. */
function assembled(caller: CallerName, text: string): Reply {
  const reader = textDialect(caller).replyReader();
  const datas = new FrameSplitter().push(Buffer.from(text)).map((frame) => frameData(frame) ?? "");
  const reply = collectReply(datas.filter((data) => data !== "").flatMap((data) => [...reader.read(data)]));
  expect(reader.isComplete).toBe(true);
  return reply;
}

/** Removes values that differ between replies: ids and signatures. */
function plain({ parts, finish }: Reply) {
  return {
    finish: finish.reason,
    parts: parts.map((part) => {
      const { id: _, signature, ...rest } = { id: "", signature: null, ...part };
      return { ...rest, isSigned: signature != null };
    }),
  };
}
