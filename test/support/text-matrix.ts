import { expect } from "bun:test";
import { readRequest as readChat } from "../../src/dialects/chat/index.ts";
import type { TextPayload } from "../../src/dialects/dialect.ts";
import { readRequest as readMessages } from "../../src/dialects/messages/index.ts";
import type { TextDialectName } from "../../src/dialects/name.ts";
import { readRequest as readNative } from "../../src/dialects/native/text/index.ts";
import { readRequest as readResponses } from "../../src/dialects/responses/index.ts";
import { startAnthropic, SIMULATED_KEY as MESSAGES_KEY } from "../upstreams/anthropic.ts";
import { COMPATIBLE_KEY, startCompatible } from "../upstreams/compatible.ts";
import { SIMULATED_KEY as NATIVE_KEY, startGemini } from "../upstreams/gemini.ts";
import { SIMULATED_KEY as OPENAI_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { chatReply, expectLawfulChunks } from "./chat-schema.ts";
import { startTestGateway, type TestGateway } from "./gateway.ts";
import { expectLawfulMessageEvents, messageReply } from "./messages-schema.ts";
import { nativeReply } from "./native-schema.ts";
import { expectLawfulEvents, readEvents, responseSchema } from "./responses-schema.ts";

/** Models of the fixture, named by their vendor's protocol. `over-thinking` has a chat vendor that shows reasoning. */
export const VENDORS = [
  "over-chat",
  "over-thinking",
  "over-messages",
  "over-responses",
  "over-native",
] as const;
export type VendorName = (typeof VENDORS)[number];

export const DIALECTS: Readonly<Record<VendorName, TextDialectName>> = {
  "over-chat": "chat",
  "over-thinking": "chat",
  "over-messages": "messages",
  "over-responses": "responses",
  "over-native": "native",
};

export interface MatrixFixture extends AsyncDisposable {
  gateway: TestGateway;
  vendors: Readonly<Record<VendorName, Simulator>>;
  /** Repeats a vendor's last request with a given text as response. Returns the bytes of the response's stream. */
  repeatLast(vendor: VendorName, text: string | undefined): Promise<Buffer>;
}

/** Starts a gateway with a vendor of each protocol and a compatible one that shows reasoning. */
export async function openMatrix(): Promise<MatrixFixture> {
  // Stops the started parts if a later part fails.
  await using started = new AsyncDisposableStack();
  const openai = started.use(await startOpenAi());
  const compatible = started.use(await startCompatible());
  const anthropic = started.use(await startAnthropic());
  const gemini = started.use(await startGemini());
  const channel = (provider: string, base_url: string, env: string, settings?: object) => ({
    provider,
    base_url,
    credential: { env },
    ...(settings && { settings }),
  });
  const model = (name: string, upstream_model: string, reasoning: string, ofTarget?: string) => ({
    type: "chat",
    max_output_tokens: 60_000,
    reasoning,
    price: { currency: "USD", per_million: { input: "1", output: "2" } },
    route: { targets: [{ channel: name, upstream_model, ...(ofTarget && { reasoning: ofTarget }) }] },
  });
  const targets = [
    { channel: "chat", upstream_model: "gpt-5.4" },
    { channel: "messages", upstream_model: "claude-opus-5" },
    { channel: "responses", upstream_model: "gpt-5.4" },
    { channel: "native", upstream_model: "gemini-3.8-flash" },
  ];
  const gateway = started.use(
    await startTestGateway({
      yaml: Bun.YAML.stringify({
        routing: { max_attempts: 1, retry_floor: 1000 },
        channels: {
          chat: channel("openai", `${openai.url}/v1`, "OPENAI_KEY", { responses: false }),
          thinking: channel("deepseek", `${compatible.url}/deepseek`, "COMPATIBLE_KEY"),
          responses: channel("openai", `${openai.url}/v1`, "OPENAI_KEY", { responses: "only" }),
          messages: channel("anthropic", anthropic.url, "MESSAGES_KEY"),
          native: channel("gemini", gemini.url, "NATIVE_KEY"),
        },
        models: {
          "over-chat": model("chat", "gpt-5.4", "effort"),
          "over-thinking": model("thinking", "vendor-model", "effort"),
          "over-responses": model("responses", "gpt-5.4", "effort"),
          "over-messages": model("messages", "claude-opus-5", "adaptive"),
          "over-native": model("native", "gemini-3.8-flash", "level"),
          "all-ordered": { ...model("chat", "gpt-5.4", "effort"), route: { targets } },
          "all-weighted": {
            ...model("chat", "gpt-5.4", "effort"),
            route: { strategy: "weighted", targets },
          },
          "claude-over-native": model("native", "gemini-3.8-flash", "adaptive"),
          "untold-over-chat": model("chat", "gpt-5.4", "adaptive", "none"),
          "without-price": { ...model("chat", "gpt-5.4", "effort"), price: undefined },
        },
      }),
      env: { OPENAI_KEY, COMPATIBLE_KEY, MESSAGES_KEY, NATIVE_KEY },
    }),
  );
  const vendors: Record<VendorName, Simulator> = {
    "over-chat": openai,
    "over-thinking": compatible,
    "over-responses": openai,
    "over-messages": anthropic,
    "over-native": gemini,
  };
  const all = started.move();
  return {
    gateway,
    vendors,
    async repeatLast(vendor, text) {
      vendors[vendor].next(text === undefined ? {} : { text });
      const { path, query, headers, body } = vendors[vendor].hits.at(-1)!;
      const url = `${vendors[vendor].url}${path}?${query}`;
      return Buffer.from(await (await fetch(url, { method: "POST", headers, body })).arrayBuffer());
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** A caller's questions, for a plain text, a tool call, or a text after visible reasoning. */
export const QUESTIONS = ["text", "tools", "reasoning"] as const;
export type Question = (typeof QUESTIONS)[number];

/** A protocol as its callers see it, with the published form of its replies. */
export interface Caller {
  path(model: string, isStream: boolean): string;
  body(model: string, question: Question, isStream: boolean): object;
  /** Parses a streamed request's `body`. */
  payload(body: object, model: string): TextPayload;
  expectReply(reply: unknown): void;
  expectStream(text: string): void;
}

const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const NAMED = { name: "look_up", description: "Looks up a city" };
const bytesOf = (body: object) => Buffer.from(JSON.stringify(body));
const ASKED = [{ role: "user", content: "Say hello." }];

export type CallerName = TextDialectName;

export const CALLERS: Readonly<Record<CallerName, Caller>> = {
  chat: {
    path: () => "/v1/chat/completions",
    payload: (body) => readChat(bytesOf(body)),
    body: (model, question, stream) => ({
      model,
      stream,
      messages: ASKED,
      ...(question === "tools" && {
        tools: [{ type: "function", function: { ...NAMED, parameters: SCHEMA } }],
      }),
      ...(question === "reasoning" && { reasoning_effort: "medium" }),
    }),
    expectReply: (reply) => void chatReply.parse(reply),
    expectStream: expectLawfulChunks,
  },
  messages: {
    path: () => "/v1/messages",
    payload: (body) => readMessages(bytesOf(body), new Headers()),
    body: (model, question, stream) => ({
      model,
      stream,
      max_tokens: 20_000,
      messages: ASKED,
      ...(question === "tools" && { tools: [{ ...NAMED, input_schema: SCHEMA }] }),
      ...(question === "reasoning" && { thinking: { type: "adaptive", display: "summarized" } }),
    }),
    expectReply: (reply) => void messageReply.parse(reply),
    expectStream: expectLawfulMessageEvents,
  },
  responses: {
    path: () => "/v1/responses",
    payload: (body) => readResponses(bytesOf(body)),
    body: (model, question, stream) => ({
      model,
      stream,
      input: ASKED,
      ...(question === "tools" && {
        tools: [{ type: "function", ...NAMED, parameters: SCHEMA, strict: false }],
      }),
      ...(question === "reasoning" && { reasoning: { effort: "medium", summary: "auto" } }),
    }),
    expectReply: (reply) => void responseSchema.parse(reply),
    expectStream: (text) => expectLawfulEvents(readEvents(text)),
  },
  native: {
    path: (model, isStream) =>
      `/v1beta/models/${model}:${isStream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    payload: (body, model) => readNative(bytesOf(body), { model, isStream: true }),
    body: (_, question) => ({
      contents: [{ role: "user", parts: [{ text: "Say hello." }] }],
      ...(question === "tools" && { tools: [{ functionDeclarations: [{ ...NAMED, parameters: SCHEMA }] }] }),
      ...(question === "reasoning" && { generationConfig: { thinkingConfig: { includeThoughts: true } } }),
    }),
    expectReply: (reply) => void nativeReply.parse(reply),
    expectStream(text) {
      const replies = text
        .split("\n\n")
        .filter((frame) => frame !== "")
        .map((frame) => nativeReply.parse(JSON.parse(frame.replace(/^data: /, ""))));
      expect(new Set(replies.map(({ responseId }) => responseId)).size).toBe(1);
      const ends = replies.filter(({ candidates }) => candidates?.[0]?.finishReason !== undefined);
      expect(ends).toHaveLength(1);
      expect(replies.at(-1)!.usageMetadata?.promptTokenCount).toBeGreaterThan(0);
    },
  },
};
