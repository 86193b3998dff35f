import type { IdentitySettings } from "../admin/sign-in/identity-provider.ts";
import type { PatternMap } from "../lib/pattern-map.ts";
import type { Channel, Timeouts, Route } from "../domain/channel.ts";
import type { Limits } from "../domain/limits.ts";
import type { Model } from "../domain/model.ts";
import type { PriceRow } from "../domain/price.ts";
import type { AddressList } from "../lib/cidr.ts";
import type { Nanos } from "../lib/money.ts";

/** The whole configuration: validated, secrets resolved, immutable. A reload creates a new object. */
export interface Settings {
  server: {
    host: string;
    /** The port to listen on; 0 uses any free port. */
    port: number;
    /** Separate port for metrics and probes; null when `port` serves metrics. */
    metricsPort: number | null;
    /** Bearer token that requests for metrics must send; null when no token is required. */
    metricsToken: string | null;
    /** Base address of links, without a trailing slash; null when links use the address of the request. */
    publicUrl: string | null;
    /** Addresses of proxies whose `X-Forwarded` headers are trusted. */
    trustedProxies: AddressList;
    /** Public addresses that are never fetched, even when a caller sends a link to them. */
    deniedNetworks: AddressList;
    /** Maximum seconds for which running requests continue after SIGTERM and `leaveSeconds`. */
    drainSeconds: number;
    /** Seconds for which the server accepts requests after SIGTERM while `/readyz` returns 503. */
    leaveSeconds: number;
    /** Maximum seconds without any transfer on a connection. */
    idleSeconds: number;
    /** Milliseconds after which the response of a stream begins even if there is no content yet. */
    firstByteMs: number;
    /** Seconds within which each body must arrive. A large body gets more time. */
    bodyGraceSeconds: number;
    /**
     * Maximum number of connections from one client address, except a trusted proxy's, to one process; null is
     * unlimited.
     */
    connectionsPerAddress: number | null;
    /** Maximum bytes of temporary files, and the free disk space that uploads must leave for the journal. */
    spool: { maxBytes: number; reserveBytes: number };
    /** Maximum number of lookups of unknown keys per minute, client network and process; null is unlimited. */
    unknownKeysPerMinute: number | null;
  };
  /** Networks besides the public internet that stored channels and webhooks may call. */
  allowedNetworks: readonly string[];
  /** The values at which an overloaded server first refuses large bodies and then every request. */
  overload: {
    largeBodyBytes: number;
    /** Memory of the process in bytes; null for a share of the memory of the machine or container. */
    memoryBytes: { largeBodies: number | null; requests: number | null };
    freeDiskBytes: { largeBodies: number; requests: number };
    lagMs: { largeBodies: number; requests: number };
  };
  /** The server that sends mails, and the sender's address; null disables mails. */
  mail: { url: string; from: string; allowedDomains: readonly string[] } | null;
  /** The collector of traces, metrics and events (OpenTelemetry); null exports nothing. */
  telemetry: TelemetrySettings | null;
  /** Absolute path of the folder for data. */
  dataDirectory: string;
  /** Address of PostgreSQL; null uses the SQLite file in `dataDirectory`. */
  databaseUrl: string | null;
  /** `poolSize`: maximum connections from one process to PostgreSQL, without the connections of its threads. */
  database: { poolSize: number };
  /** Address of Redis, which counts limits for all machines together; null when each machine counts for itself. */
  redisUrl: string | null;
  /** Address of S3-compatible storage; null stores blobs on the disk. */
  blobUrl: string | null;
  /**
   * S3-compatible storage to which files of ledger entries are exported, and the format of the files; null exports
   * none.
   */
  ledgerExport: { url: string; format: "parquet" | "jsonl" } | null;
  blobs: { linkHours: number; retentionDays: number };
  /** Settings of the request log, which is kept in addition to the ledger. */
  requests: { log: "failed" | "all"; slowMs: number; retentionDays: number; maxRows: number };
  /** Maximum cost of abandoned vendor calls of one key in an hour; null is unlimited. */
  orphanCostPerKeyHour: Nanos | null;
  /** The proxy for calls to vendors: none, or the proxy that the environment sets. */
  outbound: { proxy: "none" | "environment" };
  /** Number of processes that serve the port. */
  workers: number;
  /** Number of jobs that one process runs at the same time, and maximum duration of a job from its submission. */
  jobs: { concurrency: number; deadlineMs: number };
  /** Lowest level of log lines that are written. */
  logLevel: "debug" | "info" | "warn" | "error";
  /** Number of this process among the workers, from 1; null when no supervisor runs. */
  worker: number | null;
  /** Number of times that the supervisor has restarted this worker. */
  restarts: number;
  /** Default limits, for organizations and keys that have no limits of their own. */
  limits: { organization: Limits; key: Limits };
  /** `tokensPerSecond`: speed of generated replies; null is unlimited. */
  sandbox: { isEnabled: boolean; tokensPerSecond: number | null };
  /** Limits of the calls to vendors for one request, and of repeated calls to a target. */
  routing: { maxAttempts: number; retryRatio: number; retryFloor: number };
  /** Timeouts of calls to vendors, for channels that set none. */
  timeouts: { text: Timeouts; image: Omit<Timeouts, "idleMs"> };
  /** The identity provider by which members can sign in without a password; null when none is configured. */
  identity: IdentitySettings | null;
  /** Secrets that the operator has set, used instead of generated secrets. */
  bootstrap: { key: string | null; administratorPassword: string | null };
  models: PatternMap<Model>;
  channels: ReadonlyMap<string, Channel>;
  /** Ids of stored channels that this process cannot use, such as a channel whose credential no master key decrypts. */
  unusableChannels: readonly string[];
  routes: PatternMap<Route>;
  /** Default prices by model, valid for all times. */
  prices: PatternMap<PriceRow>;
}

export interface TelemetrySettings {
  /** Base address for OTLP over HTTP, without a trailing slash. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  /** Share of the traces that are exported, 0 to 1. */
  sampleRatio: number;
  /** True when prompts and replies may be exported. */
  isContentExported: boolean;
}

/**
 * The layer that sets a value. Precedence: environment, file, database, defaults; for channels, the file comes first.
 */
export type SettingOrigin = "default" | "database" | "file" | "environment";
