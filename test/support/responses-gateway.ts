import { SIMULATED_KEY as MESSAGES_KEY, startAnthropic } from "../upstreams/anthropic.ts";
import { SIMULATED_KEY as NATIVE_KEY, startGemini } from "../upstreams/gemini.ts";
import { startOpenAi, SIMULATED_KEY } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { startTestGateway, type TestGateway } from "./gateway.ts";

/**
 * Models with vendors of the responses protocol or of another protocol (`OVER_…`). `OTHER_ACCOUNT` is called with the
 * second account.
 */
export const NATIVE = "native";
export const OVER_CHAT = "over-chat";
/** A model for callers of other protocols. Its vendor has only the responses protocol. */
export const RESPONSES_ONLY = "responses-only";
export const OVER_MESSAGES = "over-messages";
export const OVER_NATIVE = "over-native";
export const OTHER_ACCOUNT = "other-account";
/** A route that calls `other` first and then `vendor`. */
export const FALLBACK = "fallback";
/** A route like `FALLBACK` whose vendors have only the responses protocol. */
export const FALLBACK_ONLY = "fallback-only";
/** Models with channels of their own, so that rate limits do not affect other models. */
export const LIMITED = { native: "limited-native", "over-chat": "limited-chat" } as const;

export interface ResponsesFixture extends AsyncDisposable {
  gateway: TestGateway;
  vendor: Simulator;
  /** A second account at the vendor of `vendor`. */
  other: Simulator;
  /** A vendor of the messages protocol. */
  messages: Simulator;
  /** A vendor of the native protocol. */
  generate: Simulator;
}

/**
 * Starts a gateway with two accounts of a vendor of the responses protocol, and with vendors of two other protocols.
 */
export async function openResponsesFixture(): Promise<ResponsesFixture> {
  const vendor = await startOpenAi();
  const other = await startOpenAi({ account: "two" });
  const messages = await startAnthropic();
  const generate = await startGemini();
  const channel = (url: string, responses: boolean | "only") => ({
    provider: "openai",
    base_url: `${url}/v1`,
    credential: { env: "VENDOR_KEY" },
    settings: { responses },
    deadlines: { first_byte_ms: 5_000, idle_ms: 5_000, total_ms: 60_000 },
  });
  const model = (...channels: string[]) => ({
    type: "chat",
    max_output_tokens: 100_000,
    reasoning: "effort",
    price: { currency: "USD", per_million: { input: "1", output: "2", reasoning: "3", cache_read: "0.5" } },
    route: { targets: channels.map((each) => ({ channel: each, upstream_model: "gpt-5.4" })) },
  });
  const gateway = await startTestGateway({
    yaml: Bun.YAML.stringify({
      routing: { max_attempts: 3, retry_floor: 1000 },
      channels: {
        native: channel(vendor.url, true),
        chat: channel(vendor.url, false),
        "responses-only": channel(vendor.url, "only"),
        other: channel(other.url, true),
        "other-only": channel(other.url, "only"),
        generate: { provider: "gemini", base_url: generate.url, credential: { env: "NATIVE_KEY" } },
        messages: { provider: "anthropic", base_url: messages.url, credential: { env: "MESSAGES_KEY" } },
        "limited-native": channel(vendor.url, true),
        "limited-chat": channel(vendor.url, false),
      },
      models: {
        [NATIVE]: model("native"),
        [OVER_CHAT]: model("chat"),
        [RESPONSES_ONLY]: model("responses-only"),
        [OTHER_ACCOUNT]: model("other"),
        [OVER_NATIVE]: {
          ...model(),
          reasoning: "level",
          route: { targets: [{ channel: "generate", upstream_model: "gemini-3.8-flash" }] },
        },
        [OVER_MESSAGES]: {
          ...model(),
          type: "messages",
          reasoning: "adaptive",
          route: { targets: [{ channel: "messages", upstream_model: "claude-opus-5" }] },
        },
        [FALLBACK]: model("other", "native"),
        [FALLBACK_ONLY]: model("other-only", "responses-only"),
        [LIMITED.native]: model("limited-native"),
        [LIMITED["over-chat"]]: model("limited-chat"),
      },
    }),
    env: { VENDOR_KEY: SIMULATED_KEY, MESSAGES_KEY, NATIVE_KEY },
  });
  return {
    gateway,
    vendor,
    other,
    messages,
    generate,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await Promise.all([vendor.close(), other.close(), messages.close(), generate.close()]);
    },
  };
}
