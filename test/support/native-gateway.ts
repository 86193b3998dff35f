import { SIMULATED_KEY, startGemini } from "../upstreams/gemini.ts";
import { sendJson } from "../upstreams/transport.ts";
import { startSimulator, type Simulator } from "../upstreams/simulator.ts";
import { startTestGateway, type TestGateway } from "./gateway.ts";

/** Public names of models. The vendor uses other names. */
export const FAST = "house-b-fast";
export const PRO = "house-b-pro";
export const LITE = "house-b-lite";
/** A model whose vendor accepts everything and sends the configured response. */
export const FREE = "house-b-free";

/** Price of a picture by tier, in nano-units. */
export const NANOS = { "1K": 10_000_000n, "2K": 20_000_000n, "4K": 40_000_000n };

export interface NativeFixture extends AsyncDisposable {
  gateway: TestGateway;
  /** A vendor that is as strict as the real one. */
  strict: Simulator;
  free: Simulator;
  /** Sets the response of the free vendor. */
  answerAsConfigured(body: object): void;
}

const UPSTREAM = {
  [FAST]: "gemini-3.1-flash-image",
  [PRO]: "gemini-3-pro-image",
  [LITE]: "gemini-3.1-flash-lite-image",
  [FREE]: "gemini-3.1-flash-image",
};

/** Starts a gateway whose family B models use vendors with the native protocol. */
export async function openNativeFixture(): Promise<NativeFixture> {
  const strict = await startGemini();
  let freely: object = {};
  const free = await startSimulator((_, answer) => sendJson(answer, 200, freely, {}));
  const channel = ({ url }: Simulator) => ({
    provider: "gemini",
    base_url: url,
    credential: { env: "VENDOR_KEY" },
  });
  const configuration = {
    channels: { strict: channel(strict), free: channel(free) },
    models: await describeModels(),
    routing: { max_attempts: 1 },
  };
  const gateway = await startTestGateway({
    yaml: Bun.YAML.stringify(configuration),
    env: { VENDOR_KEY: SIMULATED_KEY },
  });
  return {
    gateway,
    strict,
    free,
    answerAsConfigured: (body) => void (freely = body),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await Promise.all([strict.close(), free.close()]);
    },
  };
}

/** Returns the shipped models under other names, with a different price for each tier. */
async function describeModels(): Promise<object> {
  const text = await Bun.file(new URL("../../catalogue/gemini.yaml", import.meta.url)).text();
  const { models } = Bun.YAML.parse(text) as { models: Record<string, { image: { tiers: string[] } }> };
  const prices = { "1K": { "*": "0.01" }, "2K": { "*": "0.02" }, "4K": { "*": "0.04" } };
  const described = Object.entries(UPSTREAM).map(([id, upstream]) => {
    const { image } = models[upstream]!;
    const offered = Object.entries(prices).filter(([tier]) => image.tiers.includes(tier));
    const target = { channel: id === FREE ? "free" : "strict", upstream_model: upstream };
    const price = { currency: "USD", per_image: Object.fromEntries(offered) };
    return [id, { type: "image", family: "B", image, price, route: { targets: [target] } }];
  });
  return Object.fromEntries(described);
}
