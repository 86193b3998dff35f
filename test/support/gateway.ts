import { Database } from "bun:sqlite";
import { readFileSync, readdirSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL, type Subprocess } from "bun";
import { RUNTIME_VARIABLES } from "../../src/config/environment.ts";
import { newSecret } from "../../src/lib/secret.ts";

/** The real program as a process with its own data folder. */
export interface TestGateway extends AsyncDisposable {
  readonly url: string;
  /** A key of the first organization, with every scope. */
  key: string;
  dataDirectory: string;
  readonly pid: number;
  /** Returns the parsed lines of standard output. */
  logs(): LogLine[];
  /** Returns the text of standard error. */
  errors(): string;
  /** Closes the reader of standard output. */
  endLogReader(): Promise<void>;
  /**
   * Calls a path with the gateway's key, unless `init` has an `authorization`. Throws when a small response of images,
   * jobs, models, prices or usage does not match the gateway's OpenAPI document.
   */
  call(path: string, init?: CallInit): Promise<Response>;
  /** Returns every row of the ledger, oldest first. */
  ledger(): Promise<LedgerRow[]>;
  /** Waits for rows with this `X-Request-Id` and returns them. */
  charged(requestId: string): Promise<LedgerRow[]>;
  /** Returns resident and peak memory in MB, and the number of open file descriptors. */
  resources(): { residentMb: number; peakMb: number; descriptors: number };
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  readonly exited: Promise<number>;
  /** Starts the ended gateway again with the same folder. */
  restart(): Promise<void>;
  /** Starts a process with the gateway's folder that only runs jobs. */
  startWorker(env?: Record<string, string>): Promise<TestWorker>;
  /** Runs a command on the gateway's folder in this process and returns its output. Throws when the command fails. */
  cli(...args: string[]): Promise<string>;
  /** Runs a command in a separate process. */
  command(...args: string[]): Promise<string>;
}

/** A process that only runs jobs. Disposal kills the process. */
export interface TestWorker extends AsyncDisposable {
  readonly pid: number;
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number>;
}

export interface GatewayOptions {
  /** Content of the configuration file. */
  yaml?: string;
  env?: Record<string, string>;
  /** True starts the gateway by `npm start`. Then `pid` is npm's, and npm receives the signals. */
  isByNpm?: boolean;
  /** True makes the gateway the leader of its own process group. */
  isOwnGroup?: boolean;
}

export type CallInit = Omit<RequestInit, "body" | "headers"> & {
  headers?: Record<string, string>;
  /** The body. An object is sent as JSON. */
  body?: RequestInit["body"] | object;
};

export type LogLine = Record<string, unknown>;

export interface LedgerRow {
  id: string;
  kind: string;
  request_id: string;
  key_id: string;
  model: string;
  channel: string | null;
  upstream_model: string | null;
  consumed: Consumed | null;
  /** Amount in nano-units. */
  amount: bigint;
  vendor_cost: bigint | null;
  attempts: { channel: string; outcome: string; status?: number }[];
  flags: string[];
}

/** The usage in a row of the ledger. */
export interface Consumed {
  unit: "token" | "image";
  tokens?: Record<string, number>;
  source?: "upstream" | "estimated";
  count?: number;
  tier?: string;
}

const ROOT = new URL("../../", import.meta.url).pathname;
/** The program under test. `GATEWAY_PROGRAM` selects another build, such as the executable. */
export const PROGRAM: readonly [string, ...string[]] = process.env["GATEWAY_PROGRAM"]
  ? [process.env["GATEWAY_PROGRAM"]]
  : [process.execPath, join(ROOT, "src/start.ts")];
/**
 * A database that gateways start with, from `started-database.ts`. Without the variable, gateways start with an empty
 * database.
 */
const STARTED_DATABASE = process.env["GATEWAY_STARTED_DATABASE"];
/** Variables with which a gateway does not start with a copy of that database. */
const OWN_DATABASE = ["GATEWAY_DATA_DIR", "DATABASE_URL", "GATEWAY_ADMIN_PASSWORD"];
const START_TIMEOUT_MS = 60_000;

export const TEST_PASSWORD = "a-password-for-tests";

/** Time after the first signal from which another signal counts as the second one. */
export const SECOND_SIGNAL_MS = 1_050;

/** Starts a gateway and waits until it listens. Default limits are off unless the environment sets them. */
export async function startTestGateway({
  yaml = "",
  env = {},
  isByNpm = false,
  isOwnGroup = false,
}: GatewayOptions = {}): Promise<TestGateway> {
  const directory = await mkdtemp(join(tmpdir(), "gateway-e2e-"));
  const key = env["GATEWAY_BOOTSTRAP_KEY"] ?? newSecret();
  const dataDirectory = env["GATEWAY_DATA_DIR"] ?? join(directory, "data");
  await Bun.write(join(directory, "gateway.yaml"), yaml);
  if (STARTED_DATABASE !== undefined && !isByNpm && !OWN_DATABASE.some((name) => name in env)) {
    await mkdir(dataDirectory, { mode: 0o700 });
    await copyFile(STARTED_DATABASE, join(dataDirectory, "gateway.sqlite"));
  }
  const environment = {
    PATH: process.env["PATH"] ?? "",
    ...RUNTIME_VARIABLES,
    GATEWAY_CONFIG: join(directory, "gateway.yaml"),
    GATEWAY_DATA_DIR: dataDirectory,
    GATEWAY_BOOTSTRAP_KEY: key,
    GATEWAY_ADMIN_PASSWORD: TEST_PASSWORD,
    GATEWAY_DEFAULT_LIMITS: "none",
    PORT: "0",
    SANDBOX: "on",
    ...env,
  };
  const command = (args: string[]) => [...PROGRAM, ...args];
  const start = (): Promise<Running> =>
    isByNpm
      ? launch(["npm", "start"], ROOT, environment, isOwnGroup)
      : launch(command([]), directory, environment, isOwnGroup);
  let running = await start();
  const earlierLogs: LogLine[] = [];
  const ledger = () => readLedger(dataDirectory, environment);

  const gateway: TestGateway = {
    get url() {
      return running.url;
    },
    key,
    dataDirectory,
    get pid() {
      return running.child.pid;
    },
    logs: () => [...earlierLogs, ...running.logs()],
    errors: () => running.errors(),
    endLogReader: () => running.endLogReader(),
    async call(path, { headers = {}, body, ...init } = {}) {
      const isObject =
        body !== null && typeof body === "object" && Object.getPrototypeOf(body) === Object.prototype;
      const response = await fetch(`${running.url}${path}`, {
        ...init,
        ...(body !== undefined && {
          method: "POST",
          body: isObject ? JSON.stringify(body) : (body as string),
        }),
        ...(init.method && { method: init.method }),
        headers: {
          authorization: `Bearer ${key}`,
          ...(isObject && { "content-type": "application/json" }),
          ...headers,
        },
      });
      const method = init.method ?? (body === undefined ? "GET" : "POST");
      if (isDescribed(path, response)) {
        // Imported only when a test needs it, because it contains every route of the program.
        const { checkResponse } = await import("./openapi.ts");
        await checkResponse(method, `${running.url}${path}`, response);
      }
      return response;
    },
    ledger,
    charged: (requestId) =>
      until(`a charge for ${requestId}`, async () => {
        const rows = (await ledger()).filter((row) => row.request_id === requestId);
        return rows.length > 0 ? rows : undefined;
      }),
    resources: () => readResources(running.child.pid),
    async stop() {
      running.child.kill("SIGTERM");
      return running.child.exited;
    },
    async kill() {
      running.child.kill("SIGKILL");
      await running.child.exited;
    },
    signal: (name) => running.child.kill(name),
    get exited() {
      return running.child.exited;
    },
    async restart() {
      await running.child.exited;
      earlierLogs.push(...running.logs());
      running = await start();
    },
    startWorker: (env = {}) =>
      launchWorker(command(["worker"]), directory, { ...environment, JOBS_CONCURRENCY: "16", ...env }),
    async cli(...args) {
      // Imported only when a test needs it.
      const { MACHINE, runCommand } = await import("./command-line.ts");
      const { code, stdout, stderr } = await runCommand(args, {
        env: environment,
        cwd: directory,
        ...MACHINE,
      });
      if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${stderr}`);
      return stdout;
    },
    async command(...args) {
      const child = Bun.spawn({ cmd: command(args), cwd: directory, env: environment, stderr: "inherit" });
      const [output, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
      if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
      return output;
    },
    async [Symbol.asyncDispose]() {
      running.child.kill("SIGKILL");
      await running.child.exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
  return gateway;
}

const DESCRIBED = /^\/(?:v1\/(?:images|models|pricing|usage)|api\/jobs)/;
const MAX_CHECKED_BYTES = 256 * 1024;

/** True for a complete and small response, which is checked against the gateway's OpenAPI document. */
function isDescribed(path: string, { headers }: Response): boolean {
  return DESCRIBED.test(path) && Number(headers.get("content-length") ?? Infinity) <= MAX_CHECKED_BYTES;
}

/**
 * Polls until `read` returns a result. Throws after a timeout. A pause is an eighth of the elapsed time, within bounds,
 * because most polls are requests and other tests need the processor.
 */
export async function until<Answer>(
  what: string,
  read: () => Answer | undefined | Promise<Answer | undefined>,
  timeoutMs = 10_000,
): Promise<Answer> {
  const start = performance.now();
  for (;;) {
    const answer = await read();
    if (answer !== undefined) return answer;
    const passedMs = performance.now() - start;
    if (passedMs > timeoutMs) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await Bun.sleep(Math.min(Math.max(passedMs / 8, MIN_PAUSE_MS), MAX_PAUSE_MS));
  }
}

const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 50;

interface Running {
  child: Subprocess<"ignore", "pipe", "pipe">;
  url: string;
  logs(): LogLine[];
  errors(): string;
  endLogReader(): Promise<void>;
}

async function launch(
  cmd: string[],
  cwd: string,
  env: Record<string, string>,
  detached: boolean,
): Promise<Running> {
  const child = Bun.spawn({ cmd, cwd, env, detached, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const { text: output, end: endLogReader } = collect(child.stdout);
  const { text: errors } = collect(child.stderr);
  const readUrl = () => {
    const found = /listening on (\S+)/.exec(errors())?.[1];
    if (found === undefined && child.exitCode !== null)
      throw new Error(`the gateway ended: ${errors()}${output()}`);
    return found;
  };
  const url = await until("the gateway to listen", readUrl, START_TIMEOUT_MS).catch((error) => {
    child.kill("SIGKILL");
    throw error;
  });
  const logs = () =>
    output()
      .split("\n")
      .filter((line) => line.startsWith("{") && line.endsWith("}"))
      .map((line): LogLine => JSON.parse(line));
  return { child, url, logs, errors, endLogReader };
}

async function launchWorker(cmd: string[], cwd: string, env: Record<string, string>): Promise<TestWorker> {
  const child = Bun.spawn({ cmd, cwd, env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const { text: errors } = collect(child.stderr);
  await until(
    "the worker to start",
    () => {
      if (child.exitCode !== null) throw new Error(`the worker ended: ${errors()}`);
      return errors().includes("Worker started") || undefined;
    },
    START_TIMEOUT_MS,
  );
  return {
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      return child.exited;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

function collect(stream: ReadableStream<Uint8Array>): { text(): string; end(): Promise<void> } {
  const pieces: string[] = [];
  const reader = stream.getReader();
  void (async () => {
    const decoder = new TextDecoder();
    for (let next = await reader.read(); !next.done; next = await reader.read())
      pieces.push(decoder.decode(next.value, { stream: true }));
  })();
  return { text: () => pieces.join(""), end: () => reader.cancel() };
}

async function readLedger(dataDirectory: string, env: Record<string, string>): Promise<LedgerRow[]> {
  const query = "SELECT * FROM ledger ORDER BY at, id";
  const rows = env["DATABASE_URL"]
    ? await readPostgres(env["DATABASE_URL"], query)
    : readSqlite(dataDirectory, query);
  return rows.map((row) => {
    const text = (name: string) => String(row[name]);
    return Object.assign(row as unknown as LedgerRow, {
      amount: BigInt(text("amount")),
      consumed: JSON.parse(text("consumed")),
      attempts: JSON.parse(text("attempts")),
      flags: JSON.parse(text("flags")),
    });
  });
}

function readSqlite(dataDirectory: string, query: string): Record<string, unknown>[] {
  using database = new Database(join(dataDirectory, "gateway.sqlite"), {
    readonly: true,
    safeIntegers: true,
  });
  return database.query<Record<string, unknown>, []>(query).all();
}

async function readPostgres(url: string, query: string): Promise<Record<string, unknown>[]> {
  const sql = new SQL(url, { max: 1, bigint: true });
  try {
    return await sql.unsafe(query);
  } finally {
    await sql.close();
  }
}

function readResources(pid: number): { residentMb: number; peakMb: number; descriptors: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
  return {
    residentMb: Math.round(megabytes("VmRSS")),
    peakMb: Math.round(megabytes("VmHWM")),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}
