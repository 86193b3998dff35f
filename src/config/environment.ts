import { isFixableSecret, MIN_PASSWORD_LENGTH } from "../lib/secret.ts";
import type { Report } from "./problems.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this process: the only place that reads it. */
export function processEnvironment(): Environment {
  return process.env;
}

/** The runtime would check no certificate of any connection: vendors, databases, storage. */
export const UNCHECKED_CERTIFICATES = "NODE_TLS_REJECT_UNAUTHORIZED";

/** Variables by which the runtime sends its calls through a proxy. It knows them in both cases. */
export function proxyVariables(env: Environment): string[] {
  return Object.keys(env).filter((name) => /^(?:https?|all)_proxy$/i.test(name) && env[name]);
}

/**
 * Copies the environment and makes this process, and those it starts, check certificates whatever the environment
 * says. The copy still has the variable, to warn about it.
 */
export function secureEnvironment(): Environment {
  const copy = { ...process.env };
  delete process.env[UNCHECKED_CERTIFICATES];
  return copy;
}

/** From now on this process and those it starts call everybody directly. */
export function ignoreProxies(): void {
  for (const name of proxyVariables(process.env)) delete process.env[name];
}

/** A setting that an environment variable has fixed. */
export interface Override {
  variable: string;
  path: readonly string[];
  value: unknown;
}

/** Settings of the file that environment variables fix. A variable without text counts as unset. */
export function readOverrides(env: Environment, report: Report): Override[] {
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

/** Secrets of the first start, which only the environment can fix. */
export function readBootstrap(
  env: Environment,
  report: Report,
): { key: string | null; administratorPassword: string | null } {
  const key = env["GATEWAY_BOOTSTRAP_KEY"] || null;
  if (key !== null && !isFixableSecret(key))
    report("GATEWAY_BOOTSTRAP_KEY", 'must be "gk_" and 20 to 200 letters, digits, "-" or "_"');
  const administratorPassword = env["GATEWAY_ADMIN_PASSWORD"] || null;
  if (administratorPassword !== null && administratorPassword.length < MIN_PASSWORD_LENGTH)
    report("GATEWAY_ADMIN_PASSWORD", `must have at least ${MIN_PASSWORD_LENGTH} characters`);
  return { key, administratorPassword };
}

/** Every variable with a meaning of its own, but for the vendors' credentials. */
export function ownVariables(): string[] {
  return [...VARIABLES.map(({ variable }) => variable), ...OTHER_VARIABLES];
}

/** Set by the supervisor for the processes it starts: their number, from 1. */
export const WORKER_VARIABLE = "GATEWAY_WORKER";
/** How often the supervisor has started that worker again. */
export const RESTARTS_VARIABLE = "GATEWAY_WORKER_RESTARTS";

const OTHER_VARIABLES = [
  "GATEWAY_CONFIG",
  "GATEWAY_URL",
  "GATEWAY_TOKEN",
  "GATEWAY_BOOTSTRAP_KEY",
  "GATEWAY_ADMIN_PASSWORD",
  WORKER_VARIABLE,
  RESTARTS_VARIABLE,
];

interface Variable {
  variable: string;
  path: readonly string[];
  /** Undefined refuses the text. */
  read(text: string, variable: string): unknown;
  /** For messages: the texts that `read` takes, where it refuses any. */
  words?: string;
}

const asText = (text: string) => text;
const asList = (text: string) =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
/** What is no number stays text, which the schema then refuses. */
const asNumber = (text: string) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);
/** An address may hold a password, so it enters the settings as a reference. */
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
  { variable: "GATEWAY_MASTER_KEY", path: ["master_key"], read: asReference },
  { variable: "GATEWAY_MASTER_KEY_PREVIOUS", path: ["master_key_previous"], read: asReference },
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
