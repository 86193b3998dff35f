import { startTestGateway, type GatewayOptions, type TestGateway } from "../support/gateway.ts";
import { SIMULATED_KEY as ARK_KEY, startArk } from "../upstreams/ark.ts";
import { SIMULATED_KEY as GEMINI_KEY, startGemini } from "../upstreams/gemini.ts";
import { SIMULATED_KEY as OPENAI_KEY, startOpenAi } from "../upstreams/openai.ts";
import { type Simulator } from "../upstreams/simulator.ts";
import { SIMULATED_KEY as XAI_KEY, startXai } from "../upstreams/xai.ts";

/** The shipped models of the four families, in front of strict simulators of their vendors. */
export interface ImageHouse extends AsyncDisposable {
  gateway: TestGateway;
  vendors: Record<"openai" | "gemini" | "ark" | "xai", Simulator>;
  /** Requests that reached any vendor. */
  hits(): number;
  reset(): void;
}

export async function openImageHouse({ yaml = "", env = {} }: GatewayOptions = {}): Promise<ImageHouse> {
  const [openai, gemini, ark, xai] = await Promise.all([
    startOpenAi(),
    startGemini(),
    startArk(),
    startXai(),
  ]);
  const vendors = { openai, gemini, ark, xai };
  const gateway = await startTestGateway({
    yaml: `
channels:
  openai: { provider: openai, base_url: "${openai.url}/v1", credential: { env: OPENAI_API_KEY } }
  gemini: { provider: gemini, base_url: "${gemini.url}", credential: { env: GEMINI_API_KEY } }
  ark: { provider: ark, base_url: "${ark.url}/api/v3", credential: { env: ARK_API_KEY }, settings: { region: cn } }
  xai: { provider: xai, base_url: "${xai.url}/v1", credential: { env: XAI_API_KEY } }
${yaml}`,
    env: {
      OPENAI_API_KEY: OPENAI_KEY,
      GEMINI_API_KEY: GEMINI_KEY,
      ARK_API_KEY: ARK_KEY,
      XAI_API_KEY: XAI_KEY,
      ...env,
    },
  });
  const simulators = Object.values(vendors);
  return {
    gateway,
    vendors,
    hits: () => simulators.reduce((sum, { hits }) => sum + hits.length, 0),
    reset: () => simulators.forEach((vendor) => vendor.reset()),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await Promise.all(simulators.map((vendor) => vendor.close()));
    },
  };
}
