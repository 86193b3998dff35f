import { describe, expect, test } from "bun:test";
import { watchResponse } from "./watch.ts";

/* Tests the check that runs in every test file: each response is valid until one field is missing. */
const TEXT = { type: "output_text", text: "hi", annotations: [] };
const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 1_790_000_000,
  status: "completed",
  model: "m",
  access_programs: null,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  output: [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content: [TEXT] }],
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  usage: {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  },
};
const COUNTS = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const CHAT = { id: "chatcmpl-1", object: "chat.completion", created: 1_790_000_000, model: "m" };
const CHUNK = { ...CHAT, object: "chat.completion.chunk" };
const USAGE = {
  input_tokens: 1,
  output_tokens: 1,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: null,
  inference_geo: null,
  speed: null,
};
const CALL = { type: "tool_use", id: "toolu_1", name: "f", input: {}, caller: { type: "direct" } };
const MESSAGE = { id: "msg_1", type: "message", role: "assistant", model: "m", container: null };
const STOP = { stop_reason: "tool_use", stop_sequence: null, stop_details: null };

const WHOLE: Readonly<Record<string, object>> = {
  "/v1/chat/completions": {
    ...CHAT,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "hi", refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: COUNTS,
  },
  "/v1/messages": { ...MESSAGE, diagnostics: null, content: [CALL], ...STOP, usage: USAGE },
  "/v1/messages/count_tokens": { input_tokens: 1 },
  "/v1/responses": RESPONSE,
  "/v1/embeddings": {
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: [1] }],
    model: "m",
    usage: { prompt_tokens: 1, total_tokens: 1 },
  },
  "/v1/images/edits": {
    created: 1_790_000_000,
    data: [{ url: "https://pictures.example/a.png" }],
    size: "1024x1024",
    output_format: "png",
  },
  "/v1beta/models/m:countTokens": { totalTokens: 1 },
  "/v1/models/m": { id: "m", object: "model", created: 0, owned_by: "o" },
};

const STREAMS: Readonly<Record<string, readonly object[]>> = {
  "/v1/chat/completions": [
    {
      ...CHUNK,
      choices: [{ index: 0, delta: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    },
    { ...CHUNK, choices: [], usage: COUNTS },
  ],
  "/v1/messages": [
    {
      type: "message_start",
      message: {
        ...MESSAGE,
        diagnostics: null,
        content: [],
        usage: USAGE,
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
      },
    },
    { type: "content_block_start", index: 0, content_block: CALL },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "{}" } },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { ...STOP, container: null },
      usage: {
        output_tokens: 1,
        input_tokens: 1,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens_details: null,
        server_tool_use: null,
      },
    },
    { type: "message_stop" },
  ],
  "/v1/responses": [
    {
      type: "response.created",
      sequence_number: 0,
      response: { ...RESPONSE, status: "in_progress", output: [], usage: undefined },
    },
    {
      type: "response.output_text.delta",
      sequence_number: 1,
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta: "hi",
      logprobs: [],
    },
    { type: "response.completed", sequence_number: 2, response: RESPONSE },
  ],
};

/** Fields that a chunk may omit. */
const OPTIONAL = new Set(["delta.content"]);

async function problemsOf(path: string, response: Response): Promise<string[]> {
  const problems: string[] = [];
  const watched = await watchResponse(path, response, (problem) => void problems.push(problem));
  await watched.text();
  return problems;
}

/** Yields copies of the value, each without one of its fields. */
function* lacking(value: object, path = ""): Generator<[name: string, rest: object]> {
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const here = path === "" || Array.isArray(value) ? name : `${path}.${name}`;
    if (!Array.isArray(value)) yield [here, { ...value, [name]: undefined }];
    if (typeof field !== "object" || field === null) continue;
    for (const [inner, rest] of lacking(field, Array.isArray(value) ? path : name)) {
      const copy = Array.isArray(value) ? value.with(Number(name), rest) : { ...value, [name]: rest };
      yield [inner, copy];
    }
  }
}

const whole = (body: object) => {
  const text = JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": String(text.length) };
  return new Response(text, { headers });
};
const stream = (path: string, events: readonly object[]) => {
  const name = (event: object) => ("type" in event ? `event: ${String(event.type)}\n` : "");
  const text = events.map((event) => `${name(event)}data: ${JSON.stringify(event)}\n\n`).join("");
  const end = path.endsWith("/completions") ? "data: [DONE]\n\n" : "";
  return new Response(text + end, { headers: { "content-type": "text/event-stream" } });
};

describe.each(Object.entries(WHOLE))("a whole answer of %s", (path, body) => {
  test("is lawful, and not without any of its fields", async () => {
    expect(await problemsOf(path, whole(body))).toEqual([]);
    for (const [name, rest] of lacking(body))
      expect([name, (await problemsOf(path, whole(rest))).length]).toEqual([name, 1]);
  });
});

describe.each(Object.entries(STREAMS))("a stream of %s", (path, events) => {
  test("is lawful, and not without any of its fields, events or its end", async () => {
    expect(await problemsOf(path, stream(path, events))).toEqual([]);
    for (const [name, rest] of lacking(events)) {
      const problems = await problemsOf(path, stream(path, rest as object[]));
      expect([name, problems.length]).toEqual([name, OPTIONAL.has(name) ? problems.length : 1]);
    }
    expect(await problemsOf(path, stream(path, events.slice(0, -1)))).toHaveLength(1);
    expect(await problemsOf(path, stream(path, events.slice(1)))).toHaveLength(1);
  });
});

test("a frame in pieces of one byte, with any line ends, is read as it is", async () => {
  const path = "/v1/messages";
  for (const end of ["\n", "\r\n", "\r"]) {
    const bytes = new TextEncoder().encode((await stream(path, STREAMS[path]!).text()).replaceAll("\n", end));
    let at = 0;
    const body = new ReadableStream({
      pull: (controller) =>
        at < bytes.length ? controller.enqueue(bytes.slice(at, ++at)) : controller.close(),
    });
    const response = new Response(body, { headers: { "content-type": "text/event-stream" } });
    expect(await problemsOf(path, response)).toEqual([]);
  }
});
