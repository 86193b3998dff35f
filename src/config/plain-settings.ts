import type { Timeouts } from "../domain/channel.ts";
import type { Limits } from "../domain/limits.ts";
import { parseAddressList } from "../lib/cidr.ts";
import { parseNanos, type Nanos } from "../lib/money.ts";
import type { FileSettings } from "./file-schema.ts";

const MIB = 1024 * 1024;

/** Returns the settings that need no secrets, channels or models, under their names in the code. */
export function plainSettings(
  effective: FileSettings,
  { isSandboxOn, metricsToken }: { isSandboxOn: boolean; metricsToken: string | null },
) {
  const { server, database, blobs, sandbox, limits, deadlines, routing } = effective;
  return {
    allowedNetworks: server.allowed_networks,
    server: {
      host: server.host,
      port: server.port,
      metricsPort: server.metrics_port,
      metricsToken,
      publicUrl: server.public_url?.replace(/(?<!\/)\/+$/, "") ?? null,
      trustedProxies: parseAddressList(server.trusted_proxies),
      deniedNetworks: parseAddressList(server.denied_networks),
      drainSeconds: server.drain_seconds,
      leaveSeconds: server.leave_seconds,
      idleSeconds: server.idle_seconds,
      firstByteMs: server.first_byte_seconds * 1000,
      bodyGraceSeconds: server.body_grace_seconds,
      connectionsPerAddress: server.connections_per_address,
      spool: {
        maxBytes: server.spool_mib * MIB,
        reserveBytes: effective.overload.free_disk_mib.large_bodies * MIB,
      },
      unknownKeysPerMinute: server.unknown_keys_per_minute,
    },
    database: { poolSize: database.pool_size },
    requests: {
      log: effective.requests.log,
      slowMs: effective.requests.slow_seconds * 1000,
      retentionDays: effective.requests.retention_days,
      maxRows: effective.requests.max_rows,
    },
    blobs: { linkHours: blobs.link_hours, retentionDays: blobs.retention_days },
    overload: toOverload(effective.overload),
    outbound: effective.outbound,
    workers: effective.workers,
    jobs: {
      concurrency: effective.jobs.concurrency,
      deadlineMs: effective.jobs.deadline_seconds * 1000,
    },
    logLevel: effective.log_level,
    orphanCostPerKeyHour: parsedAmount(effective.billing.orphan_cost_per_key_hour),
    limits: { organization: toLimits(limits.default), key: toLimits(limits.key) },
    sandbox: { isEnabled: isSandboxOn, tokensPerSecond: sandbox.tokens_per_second },
    routing: {
      maxAttempts: routing.max_attempts,
      retryRatio: routing.retry_ratio,
      retryFloor: routing.retry_floor,
    },
    timeouts: { text: toTimeouts(deadlines.text), image: toImageTimeouts(deadlines.image) },
  };
}

function toOverload({ large_body_kib, memory_mib, free_disk_mib, lag_ms }: FileSettings["overload"]) {
  const bytes = (mib: number | null): number | null => mib && mib * MIB;
  return {
    largeBodyBytes: large_body_kib * 1024,
    memoryBytes: { largeBodies: bytes(memory_mib.large_bodies), requests: bytes(memory_mib.requests) },
    freeDiskBytes: { largeBodies: free_disk_mib.large_bodies * MIB, requests: free_disk_mib.requests * MIB },
    lagMs: { largeBodies: lag_ms.large_bodies, requests: lag_ms.requests },
  };
}

function parsedAmount(amount: string | null): Nanos | null {
  return amount === null ? null : parseNanos(amount);
}

function toLimits(limits: FileSettings["limits"]["key"]): Limits {
  return {
    requestsPerMinute: limits.requests_per_minute,
    tokensPerMinute: limits.tokens_per_minute,
    imagesPerMinute: limits.images_per_minute,
    concurrentImages: limits.concurrent_images,
    queuedJobs: limits.queued_jobs,
    runningJobs: limits.running_jobs,
  };
}

function toImageTimeouts(timeouts: FileSettings["deadlines"]["image"]): Omit<Timeouts, "idleMs"> {
  return { firstByteMs: timeouts.first_byte_ms, totalMs: timeouts.total_ms };
}

function toTimeouts(timeouts: FileSettings["deadlines"]["text"]): Timeouts {
  return {
    firstByteMs: timeouts.first_byte_ms,
    idleMs: timeouts.idle_ms,
    totalMs: timeouts.total_ms,
  };
}
