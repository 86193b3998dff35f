import type { IdentitySettings } from "../admin/identity-provider.ts";
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
    /** Port of its own for metrics and probes; null serves metrics on `port`. */
    metricsPort: number | null;
    /** Bearer token that metrics need; null is none. */
    metricsToken: string | null;
    /** Base address for links, without a trailing slash; null is the address of the request. */
    publicUrl: string | null;
    /** Peers whose `X-Forwarded-For` is trusted. */
    trustedProxies: AddressList;
    /** Public addresses that links of callers must not reach. */
    deniedNetworks: AddressList;
    /** How long running requests may go on after SIGTERM. */
    drainSeconds: number;
    /** How long the server goes on serving after SIGTERM while `/readyz` answers 503. */
    leaveSeconds: number;
    /** Longest silence of a connection. */
    idleSeconds: number;
    /** Time that a body of any size may take to arrive. */
    bodyGraceSeconds: number;
    /** Connections of one client address to a process; null does not bound them. */
    connectionsPerAddress: number | null;
    /** Maximum bytes of temporary files, and the free disk space that uploads leave to the journal. */
    spool: { maxBytes: number; reserveBytes: number };
    /** Lookups of keys that do not exist, per client address and process; null does not bound them. */
    unknownKeysPerMinute: number | null;
  };
  /** From which values on an overloaded server refuses large bodies and then every request. */
  overload: {
    largeBodyBytes: number;
    /** Null is a share of the machine's or container's memory. */
    memoryBytes: { largeBodies: number | null; requests: number | null };
    freeDiskBytes: { largeBodies: number; requests: number };
    lagMs: { largeBodies: number; requests: number };
  };
  /** The server that takes mails, and their sender; null sends none. */
  mail: { url: string; from: string; allowedDomains: readonly string[] } | null;
  /** Absolute path. */
  dataDirectory: string;
  /** PostgreSQL; null is the SQLite file in `dataDirectory`. */
  databaseUrl: string | null;
  /** `poolSize`: most connections to PostgreSQL from one process, beside those of its threads. */
  database: { poolSize: number };
  /** Counters shared between processes; null keeps them in memory. */
  redisUrl: string | null;
  /** S3-compatible storage; null is the disk. */
  blobUrl: string | null;
  blobs: { linkHours: number; retentionDays: number };
  /** The request log beside the ledger. */
  requests: { log: "failed" | "all"; slowMs: number; retentionDays: number; maxRows: number };
  /** Cap on the cost of abandoned vendor calls, of one key in an hour; null is none. */
  orphanCostPerKeyHour: Nanos | null;
  /** Whether vendors are called through the proxy that the environment names. */
  outbound: { proxy: "none" | "environment" };
  /** Processes on the port. */
  workers: number;
  /** Asynchronous jobs that one process runs at once, and how long each may take from its submission on. */
  jobs: { concurrency: number; deadlineMs: number };
  /** Least important log lines that are written. */
  logLevel: "debug" | "info" | "warn" | "error";
  /** Which of them this process is, from 1, when their supervisor has started it; else null. */
  worker: number | null;
  /** How often that worker was started again. */
  restarts: number;
  /** Limits of organizations and keys without their own. */
  limits: { organization: Limits; key: Limits };
  /** `tokensPerSecond` null is unpaced. */
  sandbox: { isEnabled: boolean; tokensPerSecond: number | null };
  /** How far a request may go on after a failed attempt. */
  routing: { maxAttempts: number; retryRatio: number; retryFloor: number };
  /** Deadlines of upstream calls where the channel has none of its own. */
  timeouts: { text: Timeouts; image: Omit<Timeouts, "idleMs"> };
  /** Where members may sign in besides here; null is nowhere. */
  identity: IdentitySettings | null;
  /** Secrets that the first start uses instead of generating them. */
  bootstrap: { key: string | null; administratorPassword: string | null };
  models: PatternMap<Model>;
  channels: ReadonlyMap<string, Channel>;
  /** Ids of stored channels that cannot be used here, such as those whose credential no master key opens. */
  unusableChannels: readonly string[];
  routes: PatternMap<Route>;
  /** Default prices by model, in force from the beginning of time. */
  prices: PatternMap<PriceRow>;
}

/** Which layer a setting came from: the environment wins over the file, that over the database, that over defaults. */
export type Origin = "default" | "database" | "file" | "environment";
