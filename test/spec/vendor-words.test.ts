import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

/* Responses must not name the vendor. The log has the vendor's error codes, and its words at the debug level only. */
const PATH = "/v1/chat/completions";
const BODY = { model: "house", messages: [{ role: "user", content: "hi" }] };

let gateway: TestGateway;
let verbose: TestGateway;
let vendor: Bun.Server<undefined>;
let respond: () => Response;

beforeAll(async () => {
  vendor = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => respond() });
  const price = { per_million: { input: "1", output: "1" } };
  const start = (level: string) =>
    startTestGateway({
      yaml: Bun.YAML.stringify({
        log_level: level,
        channels: {
          relay: { provider: "openai", base_url: `${vendor.url.href}v1`, credential: { env: "VENDOR_KEY" } },
        },
        models: {
          house: { type: "chat", max_output_tokens: 100, price, route: { targets: [{ channel: "relay" }] } },
        },
      }),
      env: { VENDOR_KEY: "vendor-key" },
    });
  [gateway, verbose] = await Promise.all([start("info"), start("debug")]);
});
afterAll(async () => {
  await Promise.all([gateway[Symbol.asyncDispose](), verbose[Symbol.asyncDispose]()]);
  await vendor.stop(true);
});

const stream = (text: string) => () =>
  new Response(text, { headers: { "content-type": "text/event-stream" } });

test("a complete response loses only the fields that name its vendor", async () => {
  const head = `"object":"chat.completion","created":1790000000`;
  const rest = `${head},"choices":[{"index":0,"message":{"role":"assistant","content":"by OpenRouter","refusal":null},"logprobs":null,"finish_reason":"stop"}],  "usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}`;
  const sent: [string, string][] = [
    [
      `{"id":"x", "provider":"DeepInfra" ,"model":"house","system_fingerprint":"fp_a1b2", ${rest}}`,
      `{"id":"x", "model":"house","system_fingerprint":"fp_a1b2", ${rest}}`,
    ],
    [
      `{"id":"y","system_fingerprint":"vllm-0.9",${rest},"model":"house" , "provider":null }`,
      `{"id":"y",${rest},"model":"house"  }`,
    ],
    [
      `{"id":"z","model":"house",${rest},"provider":"a","system_fingerprint":"fp_openai_1"}`,
      `{"id":"z","model":"house",${rest}}`,
    ],
  ];
  for (const [text, wanted] of sent) {
    respond = () => new Response(text, { headers: { "content-type": "application/json" } });
    expect(await (await gateway.call(PATH, { body: BODY })).text()).toBe(wanted);
  }
});

test("a stream has no vendor name in fields and comments, one comment of several, and is otherwise unchanged", async () => {
  const head = `"id":"x","object":"chat.completion.chunk","created":1790000000`;
  const chunk = (content: string, more: string, last = "null") =>
    `data: {${head},${more}"model":"house","choices":[{"index":0,"delta":{"role":"assistant","content":"${content}"},"finish_reason":${last}}]}\n\n`;
  const usage = (more: string) =>
    `data: {${head},${more}"model":"house","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":3,"total_tokens":4}}\n\n`;
  const named = `"provider":"DeepInfra","system_fingerprint":"vllm-0.9",`;
  respond = stream(
    `: OPENROUTER PROCESSING\n\n: plain\n\nid: 7\n: by Groq\n${chunk("a", named)}${chunk("b", named)}` +
      `${chunk("c", named)}${chunk("", named, '"stop"')}${usage(named)}data: [DONE]\n\n`,
  );
  const body = { ...BODY, stream: true };
  const text = await (await gateway.call(PATH, { body })).text();
  expect(text).toBe(
    `: keep-alive\n\nid: 7\n: keep-alive\n${chunk("a", "")}${chunk("b", "")}${chunk("c", "")}` +
      `${chunk("", "", '"stop"')}${usage("")}data: [DONE]\n\n`,
  );
});

test("a vendor's code is logged at every level, its words at the debug level only", async () => {
  const error = { message: "cannot do: my secret prompt", type: "server_error", code: "engine_broken" };
  const cases: [() => Response, string][] = [
    [() => Response.json({ error }, { status: 500 }), "server_error/engine_broken"],
    [
      () => Response.json({ error: { ...error, type: "invalid_request_error" } }, { status: 400 }),
      "invalid_request_error/engine_broken",
    ],
    [stream(`data: ${JSON.stringify({ error })}\n\n`), "server_error engine_broken"],
  ];
  for (const [answer, code] of cases) {
    respond = answer;
    for (const [one, hasWords] of [
      [gateway, false],
      [verbose, true],
    ] as const) {
      const id = crypto.randomUUID();
      const body = { ...BODY, stream: answer === cases[2]?.[0] };
      await (await one.call(PATH, { body, headers: { "x-request-id": id } })).text();
      const line = await until("the log line", async () =>
        one.logs().find((each) => each["request_id"] === id),
      );
      expect(line["cause"]).toContain(code);
      expect(String(line["cause"]).includes("my secret prompt")).toBe(hasWords);
    }
  }
});
