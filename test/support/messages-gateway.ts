import { startTestGateway, type TestGateway } from "./gateway.ts";
import { SIMULATED_KEY as ANTHROPIC_KEY, startAnthropic } from "../upstreams/anthropic.ts";
import { SIMULATED_KEY as OPENAI_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";

/** Public name of a model of `vendor`. */
export const CLAUDE = "house-claude";
/** A model of the vendor of `CLAUDE`, with a thinking budget. */
export const BUDGET = "house-budget";
/** A route over `vendor` and `spare`, which use the messages protocol, and then a vendor of chat completions. */
export const ROUTED = "house-routed";
/** A model of a vendor of chat completions. */
export const CHAT_ONLY = "house-chat";

/** Nano-units per token. */
export const NANOS = {
  input: 1_000n,
  output: 5_000n,
  cacheRead: 100n,
  cacheWrite: 1_250n,
  cacheWrite1h: 2_000n,
};

export interface MessagesGateway extends AsyncDisposable {
  gateway: TestGateway;
  vendor: Simulator;
  spare: Simulator;
  chat: Simulator;
}

/** Starts a gateway with two simulated vendors of the messages protocol and one of chat completions. */
export async function openMessagesGateway(
  more = "",
  env: Record<string, string> = {},
): Promise<MessagesGateway> {
  const [vendor, spare, chat] = await Promise.all([startAnthropic(), startAnthropic(), startOpenAi()]);
  const yaml = fixtureYaml({ vendor: vendor.url, spare: spare.url, chat: chat.url });
  const gateway = await startTestGateway({
    // The test's own lines follow the models.
    yaml: yaml + more,
    env: { ANTHROPIC_KEY, OPENAI_KEY, ...env },
  });
  return {
    gateway,
    vendor,
    spare,
    chat,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await Promise.all([vendor.close(), spare.close(), chat.close()]);
    },
  };
}

/** Returns the cost of this usage at the fixture's prices. */
export function messagesNanos(usage: {
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens?: number | null;
  cache_creation?: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number } | null;
}): bigint {
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation } = usage;
  return (
    BigInt(input_tokens) * NANOS.input +
    BigInt(output_tokens) * NANOS.output +
    BigInt(cache_read_input_tokens ?? 0) * NANOS.cacheRead +
    BigInt(cache_creation?.ephemeral_5m_input_tokens ?? 0) * NANOS.cacheWrite +
    BigInt(cache_creation?.ephemeral_1h_input_tokens ?? 0) * NANOS.cacheWrite1h
  );
}

function fixtureYaml(urls: { vendor: string; spare: string; chat: string }): string {
  const deadlines = "{ first_byte_ms: 5000, idle_ms: 5000, total_ms: 60000 }";
  const channel = (name: string, provider: string, url: string, key: string) =>
    `  ${name}: { provider: ${provider}, base_url: "${url}", credential: { env: ${key} }, deadlines: ${deadlines} }`;
  const price =
    '{ currency: USD, per_million: { input: "1", output: "5", cache_read: "0.1", cache_write: "1.25", cache_write_1h: "2" } }';
  const model = (name: string, reasoning: string, ...targets: string[]) => `  ${name}:
    type: messages
    max_output_tokens: 60000
    reasoning: ${reasoning}
    price: ${price}
    route: { targets: [${targets.map((target) => `{ ${target} }`).join(", ")}] }`;
  return `
routing: { max_attempts: 4, retry_floor: 1000 }
channels:
${channel("vendor", "anthropic", urls.vendor, "ANTHROPIC_KEY")}
${channel("spare", "anthropic", urls.spare, "ANTHROPIC_KEY")}
${channel("chat", "openai", `${urls.chat}/v1`, "OPENAI_KEY")}
models:
${model(CLAUDE, "adaptive", "channel: vendor, upstream_model: claude-opus-5")}
${model(BUDGET, "budget", "channel: vendor, upstream_model: claude-haiku-4-5")}
${model(CHAT_ONLY, "effort", "channel: chat, upstream_model: gpt-5.4")}
${model(
  ROUTED,
  "budget",
  "channel: vendor, upstream_model: claude-haiku-4-5",
  "channel: spare, upstream_model: claude-haiku-4-5",
  "channel: chat, upstream_model: gpt-5.4",
)}
`;
}
