import { startGemini, SIMULATED_KEY } from "../upstreams/gemini.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { startTestGateway, type TestGateway } from "./gateway.ts";

/** Public names of models; the vendor uses other names. `LEVEL` controls reasoning by levels, `BUDGET` by budgets. */
export const LEVEL = "house-level";
export const BUDGET = "house-budget";
/** Prefix of models with a channel each, so that a failing model ejects no other model. */
export const FAULTY = "house-faulty";
const FAULTY_MODELS = ["2", "3"].flatMap((client) =>
  [429, 503, 502, "stream"].map((fault) => `${FAULTY}-${client}-${fault}`),
);

/** Nano-units per token: 1 and 2 USD per million. */
const INPUT_NANOS = 1_000n;
const OUTPUT_NANOS = 2_000n;

export interface NativeTextFixture extends AsyncDisposable {
  gateway: TestGateway;
  vendor: Simulator;
}

/** Starts a gateway whose text models use a simulated vendor of the native protocol. */
export async function openNativeText(): Promise<NativeTextFixture> {
  const vendor = await startGemini();
  const channel = { provider: "gemini", base_url: vendor.url, credential: { env: "VENDOR_KEY" } };
  const model = (target: string, upstreamModel: string, reasoning: string) => ({
    type: "chat",
    max_output_tokens: 65_536,
    reasoning,
    price: { currency: "USD", per_million: { input: "1", output: "2" } },
    route: { targets: [{ channel: target, upstream_model: upstreamModel }] },
  });
  const faulty = <Value>(valueOf: (name: string) => Value) =>
    Object.fromEntries(FAULTY_MODELS.map((name) => [name, valueOf(name)]));
  const configuration = {
    channels: { sure: channel, ...faulty(() => channel) },
    models: {
      [LEVEL]: model("sure", "gemini-3.8-flash", "level"),
      [BUDGET]: model("sure", "gemini-2.5-flash", "budget"),
      ...faulty((name) => model(name, "gemini-3.8-flash", "level")),
    },
    routing: { max_attempts: 1, retry_floor: 1000 },
  };
  const gateway = await startTestGateway({
    yaml: Bun.YAML.stringify(configuration),
    env: { VENDOR_KEY: SIMULATED_KEY },
  });
  return {
    gateway,
    vendor,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await vendor.close();
    },
  };
}

interface UsageMetadata {
  promptTokenCount?: number;
  candidatesTokenCount?: number;
  thoughtsTokenCount?: number;
  totalTokenCount?: number;
}

/** Returns the cost of a reply with this usage. */
export function nanosOf(usage: UsageMetadata): bigint {
  const { promptTokenCount = 0, candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usage;
  return (
    BigInt(promptTokenCount) * INPUT_NANOS + BigInt(candidatesTokenCount + thoughtsTokenCount) * OUTPUT_NANOS
  );
}
