import { startTestGateway, type GatewayOptions, type TestGateway } from "./gateway.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import { isObject } from "../../src/lib/json.ts";
import type { Simulator } from "../upstreams/simulator.ts";

/** Public names of models. The vendor uses other names. */
export const CHAT = "house-chat";
export const IMAGE = "house-image";

/** Price per token of the fixture's chat models, in nano-units: 1 and 2 USD per million tokens. */
export const INPUT_NANOS = 1_000n;
export const OUTPUT_NANOS = 2_000n;
/** Price of a 1K picture of any quality, in nano-units. */
export const IMAGE_NANOS = 50_000_000n;

export interface GatewayFixtureOptions extends GatewayOptions {
  /** Timeouts of text and images in milliseconds. */
  firstByteMs?: number;
  idleMs?: number;
  totalMs?: number;
  /** Time without content after which a stream's response begins nevertheless. */
  firstByteSeconds?: number;
  /** Chat models besides `house-chat`. Each model has its own channel, so that a failing model ejects no other. */
  extraModels?: readonly string[];
  /** Like `extraModels`, but with a second target: `gpt-5.4-mini` on the channel of `house-chat`. */
  fallbackModels?: readonly string[];
  drainSeconds?: number;
  /** Maximum of upstream calls for one request; 1 by default. */
  maxAttempts?: number;
}

export interface GatewayFixture extends AsyncDisposable {
  gateway: TestGateway;
  vendor: Simulator;
}

/** Starts a gateway whose models use a simulated vendor. */
export async function openGatewayFixture(options: GatewayFixtureOptions = {}): Promise<GatewayFixture> {
  const vendor = await startOpenAi();
  const yaml = `${fixtureYaml(vendor.url, options)}\n${options.yaml ?? ""}`;
  const gateway = await startTestGateway({ yaml, env: { VENDOR_KEY: SIMULATED_KEY, ...options.env } });
  return {
    gateway,
    vendor,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await vendor.close();
    },
  };
}

/** Returns the cost of a chat response with this usage. */
export function chatNanos(usage: { prompt_tokens: number; completion_tokens: number }): bigint {
  return BigInt(usage.prompt_tokens) * INPUT_NANOS + BigInt(usage.completion_tokens) * OUTPUT_NANOS;
}

export function fixtureYaml(
  url: string,
  {
    firstByteMs = 5_000,
    idleMs = 5_000,
    totalMs = 60_000,
    firstByteSeconds = 10,
    extraModels = [],
    fallbackModels = [],
    maxAttempts = 1,
    drainSeconds = 30,
  }: GatewayFixtureOptions = {},
): string {
  const deadlines = `{ first_byte_ms: ${firstByteMs}, idle_ms: ${idleMs}, total_ms: ${totalMs} }`;
  const names = [CHAT, ...extraModels, ...fallbackModels];
  return `
server: { drain_seconds: ${drainSeconds}, first_byte_seconds: ${firstByteSeconds} }
routing: { max_attempts: ${maxAttempts}, retry_floor: 1000 }
channels:
${["image", ...names]
  .map(
    (name) =>
      `  ${name}: { provider: openai, base_url: "${url}/v1", credential: { env: VENDOR_KEY }, deadlines: ${deadlines} }`,
  )
  .join("\n")}
models:
${names.map((name) => chatModel(name, fallbackModels.includes(name))).join("\n")}
  ${IMAGE}:
    type: image
    family: A
    image:
      size_mode: pixels
      tiers: [1K, 2K, 4K]
      ratios: ["1:1", "3:2"]
      sizes: { 1K: { "1:1": 1024x1024, "3:2": 1248x832 }, 2K: { "1:1": 2048x2048 }, 4K: { "1:1": 2880x2880 } }
      bounds: { min_pixels: 655360, max_pixels: 8294400, max_edge: 3840, multiple: 16, max_ratio: 3 }
      qualities: [low, medium, high]
      formats: [png, jpeg, webp]
      backgrounds: [auto, opaque]
      max_images_per_call: 4
    price: { currency: USD, per_image: { 1K: { "*": "0.05" }, 2K: { "*": "0.10" }, 4K: { "*": "0.20" } } }
    route: { targets: [{ channel: image, upstream_model: gpt-image-2 }] }
`;
}

function chatModel(name: string, hasFallback: boolean): string {
  const second = hasFallback ? `, { channel: ${CHAT}, upstream_model: gpt-5.4-mini }` : "";
  return `  ${name}:
    type: chat
    max_output_tokens: 100000000
    price: { currency: USD, per_million: { input: "1", output: "2" } }
    route: { targets: [{ channel: ${name}, upstream_model: gpt-5.4 }${second}] }`;
}

/** Returns the error of a response. Throws if the response has other keys. */
export async function readError(response: Response): Promise<Record<string, unknown>> {
  const body: unknown = await response.json();
  if (!isObject(body) || !isObject(body["error"])) throw new Error(`no error: ${JSON.stringify(body)}`);
  if (Object.keys(body).length !== 1) throw new Error(`more than an error: ${JSON.stringify(body)}`);
  return body["error"];
}
