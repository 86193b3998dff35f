import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { newSecret } from "../../src/lib/secret.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { startTestGateway, until, type TestGateway } from "./gateway.ts";
import { freePort } from "./free-port.ts";

/** The fleet's chat model. Input is free. An output token costs `TOKEN_NANOS` nano-units. */
export const MODEL = "fleet-chat";
export const TOKEN_NANOS = 1_000n;
/** The fleet's image model, at the chat model's vendors. A picture costs `IMAGE_NANOS` nano-units. */
export const IMAGE_MODEL = `${MODEL}-image`;
export const IMAGE_NANOS = 50_000_000n;

export interface FleetOptions {
  /** Number of separate programs with a common store. Each program has its own port. */
  machines?: number;
  /** Number of processes of each program, which share its port. */
  workers?: number;
  /** Number of simulated vendors of each model. The model's route has them as targets, in order. */
  vendors?: number;
  /** Names of chat models. Each model has its own vendors, so that failing vendors affect no other model. */
  models?: readonly string[];
  /** Address of one PostgreSQL database for all machines. By default, the machines share a SQLite file. */
  databaseUrl?: string;
  env?: Record<string, string>;
  /** Additional lines of the configuration. */
  yaml?: string;
  strategy?: "ordered" | "weighted";
  weights?: readonly number[];
  /** Timeouts of all channels, or of each vendor's channel. */
  deadlines?: ChannelDeadlines | readonly ChannelDeadlines[];
  /** Maximum of concurrent calls on each channel; unlimited by default. */
  maxConcurrent?: number;
  /** A port for each machine; free ports by default. */
  ports?: readonly number[];
}

interface ChannelDeadlines {
  firstByteMs?: number;
  idleMs?: number;
  totalMs?: number;
}

/** Several gateway processes with one store, in front of simulated vendors. */
export interface Fleet extends AsyncDisposable {
  gateways: readonly TestGateway[];
  /** Vendors of the first model. */
  vendors: readonly Simulator[];
  /** Vendors by model. Each vendor has a channel: `{model}-1`, `{model}-2` and so on. */
  vendorsByModel: ReadonlyMap<string, readonly Simulator[]>;
  /** Returns the ids of the processes that serve requests. */
  pids(): number[];
  /** Sends a chat request to a gateway, by default to a random one. */
  chat(request?: ChatRequest): Promise<Response>;
  /** Returns the rows of an SQL query. Integers are bigints. */
  query(text: string): Promise<Record<string, unknown>[]>;
}

export interface ChatRequest {
  /** Number of output tokens, which is also the request's maximum. Null sends no maximum. */
  tokens?: number | null;
  prompt?: string;
  gateway?: TestGateway;
  key?: string;
  requestId?: string;
  isStream?: boolean;
  model?: string;
  signal?: AbortSignal;
  /** True for a new connection. The system assigns processes to connections, not to requests. */
  isOnNewConnection?: boolean;
}

export async function openFleet(options: FleetOptions = {}): Promise<Fleet> {
  const { machines = 1, workers = 1, databaseUrl } = options;
  const startVendors = () => Promise.all(Array.from({ length: options.vendors ?? 1 }, () => startOpenAi()));
  const vendorsByModel = new Map<string, Simulator[]>();
  for (const model of options.models ?? [MODEL]) vendorsByModel.set(model, await startVendors());
  const vendors = [...vendorsByModel.values()].flat();
  const isShared = machines > 1 && databaseUrl === undefined;
  const directory = await mkdtemp(join(tmpdir(), "gateway-fleet-"));
  const key = newSecret();
  const start = (index: number) =>
    startTestGateway({
      yaml: fleetYaml(vendorsByModel, options),
      env: {
        VENDOR_KEY: SIMULATED_KEY,
        GATEWAY_BOOTSTRAP_KEY: key,
        ...(isShared && { GATEWAY_DATA_DIR: join(directory, "data") }),
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
        ...(workers > 1 && { WORKERS: String(workers), PORT: String(freePort()) }),
        ...(options.ports && { PORT: String(options.ports[index]) }),
        ...options.env,
      },
    });
  // The first gateway creates the store.
  const gateways = [await start(0)];
  while (gateways.length < machines) gateways.push(await start(gateways.length));
  await Promise.all(gateways.map((gateway) => untilServing(gateway, workers)));
  const dataDirectory = isShared ? join(directory, "data") : gateways[0]!.dataDirectory;
  return {
    gateways,
    vendors: [...vendorsByModel.values()][0] ?? [],
    vendorsByModel,
    pids: () => gateways.flatMap(({ pid }) => (workers > 1 ? childrenOf(pid) : [pid])),
    chat: (request = {}) => sendChat(request.gateway ?? anyOf(gateways), request),
    query: (text) =>
      databaseUrl === undefined
        ? Promise.resolve(queryFile(join(dataDirectory, "gateway.sqlite"), text))
        : queryPostgres(databaseUrl, text),
    async [Symbol.asyncDispose]() {
      const pids = workers > 1 ? gateways.flatMap(({ pid }) => childrenOf(pid)) : [];
      await Promise.all(gateways.map((gateway) => gateway[Symbol.asyncDispose]()));
      for (const pid of pids) endProcess(pid);
      await Promise.all(vendors.map((vendor) => vendor.close()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Returns the spent and held amounts of the only budget. */
export async function readBudget(fleet: Pick<Fleet, "query">): Promise<{ spent: bigint; held: bigint }> {
  const [row] = await fleet.query("SELECT spent, held FROM budgets");
  if (!row) throw new Error("there is no budget");
  return { spent: BigInt(String(row["spent"])), held: BigInt(String(row["held"])) };
}

/** Request id of probes. Some probes are served and charged before a budget is valid. */
export const PROBE = "probe";

/**
 * Waits until every process applies a new budget and so refuses a request that may cost a thousand units. Then clears
 * the vendors' hits.
 */
export async function untilBudgetInForce(fleet: Fleet, key?: string): Promise<void> {
  const probe = async (gateway: TestGateway): Promise<number> => {
    const response = await fleet.chat({
      tokens: 1_000_000_000,
      gateway,
      requestId: PROBE,
      isOnNewConnection: true,
      ...(key && { key }),
    });
    await response.text();
    return response.status;
  };
  const areRefused = async (count: number): Promise<boolean> => {
    const probes = fleet.gateways.flatMap((gateway) => Array.from({ length: count }, () => probe(gateway)));
    return (await Promise.all(probes)).every((status) => status === 429);
  };
  await until("the budget to be in force", async () => {
    // In one of a hundred million runs, all 48 requests miss one of the three processes.
    return ((await areRefused(1)) && (await areRefused(48))) || undefined;
  });
  for (const vendor of fleet.vendors) vendor.reset();
}

/** Returns the running child processes of a process. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(" ")
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}

/** Sends SIGKILL. Ignores a process that has already ended. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended.
  }
}

/** Waits until the given number of processes listen on a gateway's port. */
export async function untilServing(gateway: TestGateway, workers: number): Promise<void> {
  const port = Number(new URL(gateway.url).port);
  await until(
    `${workers} processes to listen`,
    () => (listeners(port) >= workers ? true : undefined),
    20_000,
  );
}

/** Returns the number of sockets that listen on a port of this machine (proc_net_tcp: state 0A is LISTEN). */
export function listeners(port: number): number {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .filter((line) => {
      const [, local = "", , state] = line.trim().split(/\s+/);
      return local.endsWith(suffix) && state === "0A";
    }).length;
}

/** Returns the body of a chat request. */
export function chatBody({
  tokens = 8,
  prompt = "hello",
  isStream = false,
  model = MODEL,
}: ChatRequest): object {
  return {
    model,
    ...(tokens !== null && { max_tokens: tokens }),
    messages: [{ role: "user", content: prompt }],
    ...(isStream && { stream: true }),
  };
}

function sendChat(gateway: TestGateway, request: ChatRequest): Promise<Response> {
  return gateway.call("/v1/chat/completions", {
    body: chatBody(request),
    headers: {
      ...(request.requestId !== undefined && { "x-request-id": request.requestId }),
      ...(request.key !== undefined && { authorization: `Bearer ${request.key}` }),
    },
    ...(request.signal && { signal: request.signal }),
    ...(request.isOnNewConnection && { keepalive: false }),
  });
}

function anyOf<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)]!;
}

function fleetYaml(vendorsByModel: ReadonlyMap<string, readonly Simulator[]>, options: FleetOptions): string {
  const positions = [...vendorsByModel].flatMap(([model, vendors]) =>
    vendors.map(({ url }, index) => ({
      model,
      url,
      channel: `${model}-${index + 1}`,
      weight: options.weights?.[index],
      deadlines: Array.isArray(options.deadlines) ? options.deadlines[index] : options.deadlines,
    })),
  );
  const configuration = {
    catalogue: { enabled: false },
    channels: Object.fromEntries(
      positions.map(({ channel, url, deadlines }) => [
        channel,
        channelAt(url, deadlines, options.maxConcurrent),
      ]),
    ),
    models: Object.fromEntries(
      [...vendorsByModel.keys()].flatMap((model) => {
        const own = positions.filter((position) => position.model === model);
        const route = (upstream: string) => ({
          strategy: options.strategy ?? "ordered",
          targets: own.map(({ channel, weight = 1 }) => ({ channel, upstream_model: upstream, weight })),
        });
        return [
          [model, { ...CHAT_FACTS, route: route("gpt-5.4") }],
          [`${model}-image`, { ...IMAGE_FACTS, route: route("gpt-image-2") }],
        ];
      }),
    ),
  };
  return `${Bun.YAML.stringify(configuration, null, 2)}\n${options.yaml ?? ""}`;
}

function channelAt(url: string, deadlines: ChannelDeadlines = {}, maxConcurrent?: number): object {
  const { firstByteMs = 5_000, idleMs = 5_000, totalMs = 60_000 } = deadlines;
  return {
    provider: "openai",
    base_url: `${url}/v1`,
    credential: { env: "VENDOR_KEY" },
    deadlines: { first_byte_ms: firstByteMs, idle_ms: idleMs, total_ms: totalMs },
    ...(maxConcurrent !== undefined && { max_concurrent: maxConcurrent }),
  };
}

const CHAT_FACTS = {
  type: "chat",
  max_output_tokens: 1_000_000_000,
  default_output_tokens: 100,
  price: { currency: "USD", per_million: { input: "0", output: "1" } },
};

const IMAGE_FACTS = {
  type: "image",
  family: "A",
  image: {
    size_mode: "pixels",
    tiers: ["1K"],
    ratios: ["1:1"],
    sizes: { "1K": { "1:1": "1024x1024" } },
    bounds: { min_pixels: 655_360, max_pixels: 8_294_400, max_edge: 3840, multiple: 16, max_ratio: 3 },
    qualities: ["low", "medium", "high"],
    formats: ["png", "jpeg", "webp"],
    backgrounds: ["auto", "opaque"],
    max_images_per_call: 4,
  },
  price: { currency: "USD", per_image: { "1K": { "*": "0.05" } } },
};

function queryFile(path: string, text: string): Record<string, unknown>[] {
  using database = new Database(path, { readonly: true, safeIntegers: true });
  return database.query<Record<string, unknown>, []>(text).all();
}

async function queryPostgres(url: string, text: string): Promise<Record<string, unknown>[]> {
  const sql = new SQL(url, { max: 1, bigint: true });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.close();
  }
}
