import type { IdentitySettings } from "../admin/sign-in/identity-provider.ts";
import type { PatternMap } from "../lib/pattern-map.ts";
import type { Channel, Timeouts, Route } from "../domain/channel.ts";
import type { Limits } from "../domain/limits.ts";
import type { Model } from "../domain/model.ts";
import type { PriceRow } from "../domain/price.ts";
import type { AddressList } from "../lib/cidr.ts";
import type { Nanos } from "../lib/money.ts";

/** The whole configuration: validated, secrets resolved, immutable. A reload makes a new one. */
export interface Settings {
  server: {
    host: string;
    /** 0 picks a free one. */
    port: number;
    /** Separate port for metrics and probes; null serves metrics on `port`. */
    metricsPort: number | null;
    /** Bearer token that metrics require; null for none. */
    metricsToken: string | null;
    /** Base address of links, without a trailing slash; null uses the address of the request. */
    publicUrl: string | null;
    /** Peers whose `X-Forwarded-For` is trusted. */
    trustedProxies: AddressList;
    /** Public addresses that links of callers must not reach. */
    deniedNetworks: AddressList;
    /** Time that running requests may continue after SIGTERM. */
    drainSeconds: number;
    /** Time that the server continues to serve after SIGTERM while `/readyz` returns 503. */
    leaveSeconds: number;
    /** Longest silence of a connection. */
    idleSeconds: number;
    /** Time after which the response of a stream without content begins. */
    firstByteMs: number;
    /** Time that a body of any size may take to arrive. */
    bodyGraceSeconds: number;
    /** Maximum of connections of one client address to a process; null is unlimited. */
    connectionsPerAddress: number | null;
    /** Maximum bytes of temporary files, and the free disk space that uploads leave for the journal. */
    spool: { maxBytes: number; reserveBytes: number };
    /** Maximum of lookups of keys that do not exist, per client address and process; null is unlimited. */
    unknownKeysPerMinute: number | null;
  };
  /** The values at which an overloaded server refuses large bodies and then every request. */
  overload: {
    largeBodyBytes: number;
    /** Null is a share of the machine's or container's memory. */
    memoryBytes: { largeBodies: number | null; requests: number | null };
    freeDiskBytes: { largeBodies: number; requests: number };
    lagMs: { largeBodies: number; requests: number };
  };
  /** The server that takes mails, and their sender; null disables mails. */
  mail: { url: string; from: string; allowedDomains: readonly string[] } | null;
  /** The collector of traces, metrics and events (OpenTelemetry); null exports nothing. */
  telemetry: TelemetrySettings | null;
  /** Absolute path. */
  dataDirectory: string;
  /** Address of PostgreSQL; null uses the SQLite file in `dataDirectory`. */
  databaseUrl: string | null;
  /** `poolSize`: maximum of connections to PostgreSQL from one process, beside those of its threads. */
  database: { poolSize: number };
  /** Address of Redis for counters shared between processes; null keeps them in memory. */
  redisUrl: string | null;
  /** Address of S3-compatible storage; null uses the disk. */
  blobUrl: string | null;
  /** S3-compatible storage for the files of ledger entries, and their format; null exports none. */
  ledgerExport: { url: string; format: "parquet" | "jsonl" } | null;
  blobs: { linkHours: number; retentionDays: number };
  /** The request log beside the ledger. */
  requests: { log: "failed" | "all"; slowMs: number; retentionDays: number; maxRows: number };
  /** Cap on the cost of abandoned vendor calls of one key in an hour; null for none. */
  orphanCostPerKeyHour: Nanos | null;
  /** The proxy for calls to vendors: none, or the one that the environment names. */
  outbound: { proxy: "none" | "environment" };
  /** Processes on the port. */
  workers: number;
  /**
   * Number of asynchronous jobs that one process runs at once, and the longest duration of each from its submission.
   */
  jobs: { concurrency: number; deadlineMs: number };
  /** Lowest level of written log lines. */
  logLevel: "debug" | "info" | "warn" | "error";
  /** Number of this process among the workers, from 1; null without a supervisor. */
  worker: number | null;
  /** Number of times that this worker was restarted. */
  restarts: number;
  /** Limits of organizations and keys without their own. */
  limits: { organization: Limits; key: Limits };
  /** `tokensPerSecond` null is unlimited. */
  sandbox: { isEnabled: boolean; tokensPerSecond: number | null };
  /** Limits of repeated calls after a failed attempt. */
  routing: { maxAttempts: number; retryRatio: number; retryFloor: number };
  /** Timeouts of upstream calls where the channel sets none. */
  timeouts: { text: Timeouts; image: Omit<Timeouts, "idleMs"> };
  /** A further way for members to sign in; null for none. */
  identity: IdentitySettings | null;
  /** Secrets that the first start uses instead of generating them. */
  bootstrap: { key: string | null; administratorPassword: string | null };
  models: PatternMap<Model>;
  channels: ReadonlyMap<string, Channel>;
  /** Ids of stored channels that cannot be used here, such as those whose credential no master key decrypts. */
  unusableChannels: readonly string[];
  routes: PatternMap<Route>;
  /** Default prices by model, in force from the beginning of time. */
  prices: PatternMap<PriceRow>;
}

export interface TelemetrySettings {
  /** Base address for OTLP over HTTP, without a trailing slash. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  /** Share of the traces that is exported, 0 to 1. */
  sampleRatio: number;
  /** True where prompts and replies may be exported. */
  isContentExported: boolean;
}

/** The layer that a setting comes from. Precedence: environment, file, database, defaults. */
export type SettingOrigin = "default" | "database" | "file" | "environment";
