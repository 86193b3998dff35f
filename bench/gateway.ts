import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PUBLIC_MODEL, UPSTREAM_MODEL } from "./chat-samples.ts";
import { IMAGE_MODEL } from "./workloads/w5-samples.ts";
import {
  commandLine,
  environmentOf,
  type ServerCommand,
  type ServerProcess,
  startLogged,
  untilReady,
} from "./processes.ts";
import { BOTH_CORES, type Machine, SERVER_CORE } from "./machine.ts";
import { childrenOf } from "./process-table.ts";
import { freePort } from "../test/support/free-port.ts";

/** The gateway as a real process in front of the mock. */
export interface Gateway extends ServerProcess {
  /** A key with every scope. */
  key: string;
  /** A key whose address list excludes every address of this machine. */
  barredKey: string;
  /** The gateway's data folder. */
  dataFolder: string;
  /** Runs the gateway's command line and returns the output. */
  run(...args: string[]): Promise<string>;
}

const MAIN = join(import.meta.dir, "../src/main.ts");
const KEY = `gk_${"benchKey0123456789".repeat(2)}`;

/** Settings in which a workload's own gateway differs from the shared gateway. */
export interface GatewayVariant {
  /** Configuration. Each top-level key replaces the same key of the shared gateway's configuration. */
  configuration?: Record<string, unknown>;
  /** Number of processes that share the port. One process runs on the server's core, several run on both cores. */
  workers?: number;
  /** Address of an empty PostgreSQL database. By default the gateway uses SQLite in its data folder. */
  databaseUrl?: string | undefined;
  /** Fills the empty database before the gateway starts. `location` is the database's address or file. */
  fill?(location: string): void | Promise<void>;
}

/** Starts a gateway with its own data folder. The gateway's `stop` removes that folder. */
export async function launchGateway(
  machine: Machine,
  upstream: string,
  profileFolder?: string,
  variant: GatewayVariant = {},
): Promise<Gateway> {
  const { workers = 1 } = variant;
  const folder = mkdtempSync(join(tmpdir(), "bench-gateway-"));
  const port = freePort();
  const configPath = join(folder, "gateway.yaml");
  const dataFolder = join(folder, "data");
  await Bun.write(
    configPath,
    Bun.YAML.stringify({ ...configuration(upstream), ...variant.configuration }, null, 2),
  );
  const environment = {
    HOST: "127.0.0.1",
    PORT: String(port),
    GATEWAY_CONFIG: configPath,
    GATEWAY_DATA_DIR: dataFolder,
    GATEWAY_BOOTSTRAP_KEY: KEY,
    GATEWAY_ADMIN_PASSWORD: "bench-administrator",
    BENCH_UPSTREAM_KEY: "bench-upstream",
    ...(variant.databaseUrl !== undefined && { DATABASE_URL: variant.databaseUrl }),
  };
  const profiling =
    profileFolder === undefined ? [] : ["--cpu-prof", "--cpu-prof-md", "--cpu-prof-dir", profileFolder];
  const command: ServerCommand = {
    name: "gateway",
    core: workers > 1 ? BOTH_CORES : SERVER_CORE,
    arguments: [...profiling, MAIN, "serve"],
    environment: { ...environment, WORKERS: String(workers) },
  };
  if (variant.fill) {
    await runCommand(machine, environment, ["migrate"]);
    await variant.fill(variant.databaseUrl ?? join(dataFolder, "gateway.sqlite"));
  }
  const logPath = join(folder, "gateway.log");
  const server = startLogged(machine, command, port, logPath);
  try {
    await untilReady(server, "/readyz", logPath);
    const barredKey = await createBarredKey(machine, environment);
    return {
      ...server,
      workerIds: childrenOf(server.processId),
      key: KEY,
      barredKey,
      dataFolder,
      run: (...args) => runCommand(machine, environment, args),
      async stop() {
        await server.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Returns a configuration whose limits are counted but never reached. */
function configuration(upstream: string): Record<string, unknown> {
  return {
    limits: {
      default: {
        requests_per_minute: 1_000_000_000,
        tokens_per_minute: 1_000_000_000_000,
        images_per_minute: 1_000_000_000,
      },
      key: { concurrent_images: 1_000_000 },
    },
    catalogue: { enabled: false },
    sandbox: { enabled: false },
    channels: {
      mock: { provider: "openai", base_url: `${upstream}/v1`, credential: { env: "BENCH_UPSTREAM_KEY" } },
    },
    models: {
      [PUBLIC_MODEL]: {
        type: "chat",
        display_name: "Bench chat",
        owned_by: "bench",
        created: "2026-01-01",
        default_output_tokens: 256,
        max_output_tokens: 4096,
        modalities: { input: ["text"], output: ["text"] },
        price: { currency: "USD", per_million: { input: "0.10", output: "0.40" } },
        route: {
          strategy: "ordered",
          targets: [{ channel: "mock", upstream_model: UPSTREAM_MODEL, weight: 1 }],
        },
      },
      [IMAGE_MODEL]: {
        type: "image",
        family: "A",
        image: {
          size_mode: "table",
          tiers: ["1K"],
          ratios: ["1:1"],
          sizes: { "1K": { "1:1": "1024x1024" } },
          formats: ["png"],
          max_images_per_call: 4,
        },
        price: { currency: "USD", per_image: { "1K": { "*": "0.01" } } },
        route: { strategy: "ordered", targets: [{ channel: "mock", weight: 1 }] },
      },
    },
  };
}

/** Creates a key by the command line. Only addresses outside this machine may use the key. */
async function createBarredKey(machine: Machine, environment: Record<string, string>): Promise<string> {
  const create = ["keys", "create", "--name", "bench-barred", "--address", "192.0.2.1/32", "--json"];
  const output = await runCommand(machine, environment, create);
  const secret = /gk_[\w-]+/.exec(output)?.[0];
  if (secret === undefined) throw new Error(`No key was made: ${output}`);
  await Bun.sleep(KEY_SPREAD_MS);
  return secret;
}

async function runCommand(
  machine: Machine,
  environment: Record<string, string>,
  words: readonly string[],
): Promise<string> {
  const command: ServerCommand = {
    name: words.join(" "),
    core: SERVER_CORE,
    arguments: [MAIN, ...words],
    environment,
  };
  const child = Bun.spawn(commandLine(machine, command), { env: environmentOf(command), stderr: "pipe" });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.name} failed: ${errors}`);
  return output;
}

/** Longer than the second in which the gateway learns of a key that another process has created. */
const KEY_SPREAD_MS = 1_500;
