import { startTestGateway, type GatewayOptions, type TestGateway } from "../support/gateway.ts";
import { SIMULATED_KEY as ARK_KEY, startArk } from "../upstreams/ark.ts";
import { SIMULATED_KEY as BFL_KEY, startBfl } from "../upstreams/bfl.ts";
import { SIMULATED_KEY as DASHSCOPE_KEY, startDashscope } from "../upstreams/dashscope.ts";
import { SIMULATED_KEY as FAL_KEY, startFal } from "../upstreams/fal.ts";
import { SIMULATED_KEY as GEMINI_KEY, startGemini } from "../upstreams/gemini.ts";
import { SIMULATED_KEY as OPENAI_KEY, startOpenAi } from "../upstreams/openai.ts";
import { SIMULATED_KEY as OPENROUTER_KEY, startOpenRouter } from "../upstreams/openrouter.ts";
import { SIMULATED_KEY as REPLICATE_KEY, startReplicate } from "../upstreams/replicate.ts";
import { type Simulator } from "../upstreams/simulator.ts";
import { SIMULATED_KEY as XAI_KEY, startXai } from "../upstreams/xai.ts";

/** Address and credential of a vendor's simulator, as the shipped channel needs them. */
interface Location {
  start(): Promise<Simulator>;
  /** Path of the base address. */
  path: string;
  key: string;
}

const LOCATIONS = {
  openai: { start: () => startOpenAi(), path: "/v1", key: OPENAI_KEY },
  gemini: { start: () => startGemini(), path: "", key: GEMINI_KEY },
  ark: { start: () => startArk(), path: "/api/v3", key: ARK_KEY },
  xai: { start: startXai, path: "/v1", key: XAI_KEY },
  bfl: { start: startBfl, path: "/v1", key: BFL_KEY },
  fal: { start: startFal, path: "", key: FAL_KEY },
  replicate: { start: startReplicate, path: "/v1", key: REPLICATE_KEY },
  openrouter: { start: startOpenRouter, path: "/api/v1", key: OPENROUTER_KEY },
  dashscope: { start: startDashscope, path: "/api/v1", key: DASHSCOPE_KEY },
} as const satisfies Record<string, Location>;

export type VendorName = keyof typeof LOCATIONS;
export const VENDOR_NAMES = Object.keys(LOCATIONS) as VendorName[];

/** The shipped models with strict simulators of their vendors. */
export interface ImageFixture extends AsyncDisposable {
  gateway: TestGateway;
  vendors: Record<VendorName, Simulator>;
  /** Number of requests that reached any vendor since the last `reset`. */
  hits(): number;
  reset(): void;
  /** Starts another gateway with the same store. */
  another(): Promise<TestGateway>;
}

/** Starts all vendors. For each entry of `alone`, adds a model `{vendor}-{model}` with this vendor only. */
export async function openImageFixture({
  yaml = "",
  env = {},
  alone = [],
}: GatewayOptions & { alone?: readonly (readonly [VendorName, string])[] } = {}): Promise<ImageFixture> {
  const started = await Promise.all(
    VENDOR_NAMES.map(async (name) => [name, await LOCATIONS[name].start()] as const),
  );
  const vendors = Object.fromEntries(started) as Record<VendorName, Simulator>;
  const channels = await Promise.all(
    started.map(
      async ([name, { url }]) => [name, await channelAt(name, url + LOCATIONS[name].path)] as const,
    ),
  );
  const models = await Promise.all(alone.map(([vendor, id]) => modelAlone(vendor, id)));
  const written = { channels: Object.fromEntries(channels), models: Object.fromEntries(models) };
  const options = {
    yaml: Bun.YAML.stringify(mergeFiles(written, yaml)),
    env: { ...Object.fromEntries(VENDOR_NAMES.map((name) => [keyOf(name), LOCATIONS[name].key])), ...env },
  };
  const gateway = await startTestGateway(options);
  const simulators = Object.values(vendors);
  return {
    gateway,
    vendors,
    hits: () => simulators.reduce((sum, { hits }) => sum + hits.length, 0),
    another: () =>
      startTestGateway({
        ...options,
        env: {
          ...options.env,
          GATEWAY_DATA_DIR: gateway.dataDirectory,
          GATEWAY_BOOTSTRAP_KEY: gateway.key,
        },
      }),
    reset: () => simulators.forEach((vendor) => vendor.reset()),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await Promise.all(simulators.map((vendor) => vendor.close()));
    },
  };
}

interface CatalogueFile {
  channel: { settings?: object };
  models: Record<string, { upstream_model: string }>;
}

/** Returns an unchanged data file of the catalogue. */
export async function readCatalogue(name: string): Promise<CatalogueFile> {
  const text = await Bun.file(new URL(`../../catalogue/${name}.yaml`, import.meta.url)).text();
  return Bun.YAML.parse(text) as CatalogueFile;
}

/** Returns the shipped channel at another address. The vendor's jobs are polled often, because they end soon. */
async function channelAt(name: VendorName, url: string): Promise<object> {
  const { channel } = await readCatalogue(name);
  const pace = name === "bfl" || name === "fal" || name === "replicate" ? { poll_interval_ms: 5 } : {};
  const settings = { ...channel.settings, ...pace };
  return { provider: name, base_url: url, credential: { env: keyOf(name) }, settings };
}

async function modelAlone(vendor: VendorName, id: string): Promise<[string, object]> {
  const { models } = await readCatalogue(vendor);
  const described = models[id];
  if (!described) throw new Error(`${vendor} does not serve ${id}`);
  const { upstream_model: upstream, ...own } = described;
  const { upstream_model: _, ...facts } = (await readCatalogue(describerOf(id))).models[id]!;
  const targets = [{ channel: vendor, upstream_model: upstream }];
  return [`${vendor}-${id}`, { ...facts, ...own, route: { targets } }];
}

/** Returns the name of the catalogue file with a model's capabilities and price. */
function describerOf(id: string): VendorName {
  return id.startsWith("flux") ? "bfl" : "dashscope";
}

function keyOf(name: VendorName): string {
  return `SIMULATED_${name.toUpperCase()}_KEY`;
}

function mergeFiles(written: { channels: object; models: object }, yaml: string): object {
  const { channels, models, ...rest } = Object(Bun.YAML.parse(yaml));
  return {
    ...rest,
    channels: { ...written.channels, ...channels },
    models: { ...written.models, ...models },
  };
}
