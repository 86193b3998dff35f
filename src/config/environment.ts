import { isFixableSecret, MIN_PASSWORD_LENGTH } from "../lib/secret.ts";
import type { ReportProblem } from "./problems.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the environment of this process. Only this module reads it. */
export function processEnvironment(): Environment {
  return process.env;
}

/** Variables that the runtime reads when it starts, with defaults for a gateway. The environment takes precedence. */
export const RUNTIME_VARIABLES: Readonly<Record<string, string>> = {
  /** Maximum number of simultaneous outgoing calls. The runtime's own limit is 256. */
  BUN_CONFIG_MAX_HTTP_REQUESTS: "65000",
  /**
   * Milliseconds until freed memory is returned to the system. A short delay would return memory that the next request
   * needs again.
   */
  MIMALLOC_PURGE_DELAY: "100",
  /**
   * Number of full pages that the allocator keeps for each thread. Without this variable the allocator keeps two, so
   * each thread of the picture codec would keep the pixels of a large picture, up to 200 MB, until the next picture.
   */
  MIMALLOC_PAGE_FULL_RETAIN: "0",
};

/** Returns the command and arguments with which this process was started, also for the one-file executable. */
export function ownCommand(): [string, ...string[]] {
  return Bun.isStandaloneExecutable
    ? [process.execPath, ...process.argv.slice(2)]
    : [process.execPath, ...process.argv.slice(1)];
}

/** Name of the variable that would disable the runtime's certificate checks for vendors, databases and storage. */
export const UNCHECKED_CERTIFICATES = "NODE_TLS_REJECT_UNAUTHORIZED";

/** Returns the names of set variables that make the runtime use a proxy, such as `HTTP_PROXY` or `http_proxy`. */
export function proxyVariables(env: Environment): string[] {
  return Object.keys(env).filter((name) => /^(?:https?|all)_proxy$/i.test(name) && env[name]);
}

/**
 * Removes `NODE_TLS_REJECT_UNAUTHORIZED` from the environment of this process and its child processes, so that
 * certificates are always checked. Returns a copy of the environment before the removal, for a warning.
 */
export function secureEnvironment(): Environment {
  const copy = { ...process.env };
  delete process.env[UNCHECKED_CERTIFICATES];
  return copy;
}

/** Makes this process, and all processes that it starts, call every host without a proxy. */
export function ignoreProxies(): void {
  for (const name of proxyVariables(process.env)) delete process.env[name];
}

/** A setting that an environment variable sets. */
export interface Override {
  variable: string;
  path: readonly string[];
  value: unknown;
}

/** Returns the settings that environment variables override. An empty variable counts as unset. */
export function readOverrides(env: Environment, report: ReportProblem): Override[] {
  const overrides: Override[] = [];
  for (const { variable, path, read, words } of VARIABLES) {
    const text = env[variable]?.trim();
    if (!text) continue;
    const value = read(text, variable);
    if (value === undefined) report(variable, `must be ${words}`);
    else overrides.push({ variable, path, value });
  }
  return overrides;
}

/** Returns the secrets that are used instead of generated ones. Only the environment can set them. */
export function readBootstrap(
  env: Environment,
  report: ReportProblem,
): { key: string | null; administratorPassword: string | null } {
  const key = env["GATEWAY_BOOTSTRAP_KEY"] || null;
  if (key !== null && !isFixableSecret(key))
    report("GATEWAY_BOOTSTRAP_KEY", 'must be "gk_" and 20 to 200 letters, digits, "-" or "_"');
  const administratorPassword = env["GATEWAY_ADMIN_PASSWORD"] || null;
  if (administratorPassword !== null && administratorPassword.length < MIN_PASSWORD_LENGTH)
    report("GATEWAY_ADMIN_PASSWORD", `must have at least ${MIN_PASSWORD_LENGTH} characters`);
  return { key, administratorPassword };
}

/** Returns the names of the variables that the gateway defines, without the variables for credentials of vendors. */
export function ownVariables(): string[] {
  const variables = [...VARIABLES.map(({ variable }) => variable), ...Object.keys(OTHER_VARIABLES)];
  return [...variables, WORKER_VARIABLE, RESTARTS_VARIABLE];
}

/** Variables that override no setting of the configuration file, with their meanings. */
export const OTHER_VARIABLES: Readonly<Record<string, string>> = {
  GATEWAY_CONFIG: "The configuration file, where --config names none; else ./gateway.yaml if it exists",
  GATEWAY_URL: "The gateway that commands work on; without it they work on the local store",
  GATEWAY_TOKEN: "An admin token for GATEWAY_URL",
  GATEWAY_BOOTSTRAP_KEY:
    "Sets the first key instead of generating it: gk_ and 20 to 200 letters, digits, - or _. It needs no checksum, and is accepted while the variable has this value",
  GATEWAY_ADMIN_PASSWORD: "Sets the password of the member admin, at each start",
};

/** Returns the variable that overrides each setting, by the setting's path: `server.port`. */
export function variablesByPath(): ReadonlyMap<string, string> {
  return new Map(VARIABLES.map(({ variable, path }) => [path.join("."), variable]));
}

/** Name of the variable that contains the number of a worker process, from 1. The supervisor sets it. */
export const WORKER_VARIABLE = "GATEWAY_WORKER";
/** Name of the variable that contains the number of times that the supervisor has restarted this worker. */
export const RESTARTS_VARIABLE = "GATEWAY_WORKER_RESTARTS";

interface Variable {
  variable: string;
  path: readonly string[];
  /** Returns the value that a text represents; undefined when the text is invalid. */
  read(text: string, variable: string): unknown;
  /** The texts that `read` accepts, for messages; undefined when it accepts every text. */
  words?: string;
}

const asText = (text: string) => text;
const asList = (text: string) =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
/** Returns the number that a text contains. Any other text is returned unchanged, and the schema then refuses it. */
const asNumber = (text: string) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);
/** Returns a reference to the variable, because its value may be a secret or contain one. */
const asReference = (_: string, variable: string) => ({ env: variable });

const UNLIMITED = {
  requests_per_minute: null,
  tokens_per_minute: null,
  images_per_minute: null,
  concurrent_images: null,
  queued_jobs: null,
  running_jobs: null,
};

const VARIABLES: readonly Variable[] = [
  { variable: "HOST", path: ["server", "host"], read: asText },
  { variable: "PORT", path: ["server", "port"], read: asNumber },
  { variable: "METRICS_PORT", path: ["server", "metrics_port"], read: asNumber },
  { variable: "METRICS_TOKEN", path: ["server", "metrics_token"], read: asReference },
  { variable: "PUBLIC_URL", path: ["server", "public_url"], read: asText },
  { variable: "TRUSTED_PROXIES", path: ["server", "trusted_proxies"], read: asList },
  { variable: "ALLOWED_NETWORKS", path: ["server", "allowed_networks"], read: asList },
  { variable: "DENIED_NETWORKS", path: ["server", "denied_networks"], read: asList },
  { variable: "DRAIN_SECONDS", path: ["server", "drain_seconds"], read: asNumber },
  { variable: "LEAVE_SECONDS", path: ["server", "leave_seconds"], read: asNumber },
  { variable: "GATEWAY_DATA_DIR", path: ["data_dir"], read: asText },
  { variable: "DATABASE_URL", path: ["database_url"], read: asReference },
  { variable: "DATABASE_POOL_SIZE", path: ["database", "pool_size"], read: asNumber },
  { variable: "REDIS_URL", path: ["redis_url"], read: asReference },
  { variable: "BLOB_URL", path: ["blob_url"], read: asReference },
  { variable: "LEDGER_EXPORT_URL", path: ["ledger_export", "url"], read: asReference },
  { variable: "GATEWAY_MASTER_KEY", path: ["master_key"], read: asReference },
  { variable: "GATEWAY_MASTER_KEY_PREVIOUS", path: ["master_key_previous"], read: asReference },
  { variable: "OTEL_EXPORTER_OTLP_ENDPOINT", path: ["telemetry", "endpoint"], read: asText },
  { variable: "OTEL_EXPORTER_OTLP_HEADERS", path: ["telemetry", "headers"], read: asReference },
  { variable: "OTEL_SERVICE_NAME", path: ["telemetry", "service_name"], read: asText },
  { variable: "OTEL_TRACES_SAMPLER_ARG", path: ["telemetry", "sample_ratio"], read: asNumber },
  { variable: "OUTBOUND_PROXY", path: ["outbound", "proxy"], read: asText },
  { variable: "LOG_LEVEL", path: ["log_level"], read: asText },
  { variable: "WORKERS", path: ["workers"], read: asNumber },
  { variable: "JOBS_CONCURRENCY", path: ["jobs", "concurrency"], read: asNumber },
  {
    variable: "SANDBOX",
    path: ["sandbox", "enabled"],
    read: (text) => ({ on: true, off: false })[text],
    words: '"on" or "off"',
  },
  { variable: "SANDBOX_TOKENS_PER_SECOND", path: ["sandbox", "tokens_per_second"], read: asNumber },
  {
    variable: "GATEWAY_DEFAULT_LIMITS",
    path: ["limits"],
    read: (text) => (text === "none" ? { default: UNLIMITED, key: UNLIMITED } : undefined),
    words: '"none", the only value it knows',
  },
];
