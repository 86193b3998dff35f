import type { LiveSettings } from "./reload.ts";
import type { Degradation } from "../admin/context.ts";
import type { Health } from "../gateway/routing/health.ts";
import { type BackgroundWork, every } from "../lib/waiting.ts";
import type { ConnectionLimit, Overload, UndeclaredProxy } from "../server/index.ts";
import type { Blobs } from "../storage/blobs/index.ts";
import type { LimitCounters } from "../storage/counters/index.ts";
import type { Storage } from "../storage/index.ts";
import type { LedgerExport } from "../storage/ledger-export/ledger-export.ts";
import type { LogOutput } from "../telemetry/log-output.ts";
import type { Gauge } from "../telemetry/metrics.ts";
import { operatorMessage } from "../domain/operator-message.ts";

/** The objects whose state the metrics and the console show. */
export interface StatusSources {
  live: LiveSettings;
  storage: Storage;
  blobs: Blobs;
  health: Health;
  counters: LimitCounters;
  overload: Overload;
  connections: ConnectionLimit;
  undeclaredProxy: UndeclaredProxy;
  logOutput: LogOutput;
  /** Null when no export is configured. */
  ledgerExport: LedgerExport | null;
}

/** Returns metrics that are read from the parts of a running gateway at each scrape. */
export function gauges({
  live,
  storage,
  blobs,
  health,
  counters,
  overload,
  connections,
  logOutput,
  ledgerExport,
}: StatusSources): Gauge[] {
  return [
    {
      name: "gateway_requests_running",
      value: () => connections.running,
    },
    {
      name: "gateway_worker_restarts_total",
      value: () => live.current.restarts,
    },
    {
      name: "gateway_revision",
      value: () => storage.snapshot.revision(),
    },
    {
      name: "gateway_configuration_reload_ok",
      value: () => Number(live.isNewest),
    },
    {
      name: "gateway_overload_step",
      value: () => overload.step,
    },
    {
      name: "gateway_free_disk_bytes",
      value: () => overload.sample.freeDiskBytes,
    },
    {
      name: "gateway_event_loop_lag_seconds",
      value: () => overload.sample.lagMs / 1000,
    },
    {
      name: "gateway_closed_connections_total",
      value: () => connections.closed,
    },
    {
      name: "gateway_log_lines_lost_total",
      value: logOutput.lost,
    },
    {
      name: "gateway_ledger_backlog",
      value: storage.backlog,
    },
    {
      name: "gateway_ledger_export_lag_seconds",
      value: () => ledgerExport?.lagSeconds() ?? 0,
    },
    {
      name: "gateway_ledger_export_failures_total",
      value: () => ledgerExport?.failures() ?? 0,
    },
    {
      name: "gateway_recovered_charges_total",
      value: storage.recovered,
    },
    {
      name: "gateway_restored_charges_total",
      value: storage.restored,
    },
    {
      name: "gateway_journal_quarantined_files",
      value: storage.quarantined,
    },
    {
      name: "gateway_journal_writable",
      value: () => Number(storage.journal.isWritable()),
    },
    {
      name: "gateway_live_processes",
      value: storage.processes,
    },
    {
      name: "gateway_database_up",
      value: () => Number(storage.snapshot.isDatabaseUp() && storage.damage() === null),
    },
    {
      name: "gateway_object_storage_up",
      value: () => Number(blobs.isRemoteUp()),
    },
    {
      name: "gateway_pending_images",
      value: blobs.pending,
    },
    {
      name: "gateway_ledger_refused_entries",
      value: storage.refused,
    },
    {
      name: "gateway_ledger_differences",
      value: () => storage.verification().differences,
    },
    {
      name: "gateway_ledger_verified_timestamp_seconds",
      value: () => storage.verification().at / 1000,
    },
    {
      name: "gateway_ejected_targets",
      value: () => new Set(health.ejections().map(({ target }) => target)).size,
    },
    {
      name: "gateway_unusable_channels",
      value: () => live.current.unusableChannels.length,
    },
    {
      name: "gateway_limits_degraded",
      value: () => Number(counters.isDegraded()),
    },
    {
      name: "gateway_snapshot_age_seconds",
      value: () => storage.snapshot.ageMs() / 1000,
    },
  ];
}

const CHECK_MS = 2_000;

type Sources = Pick<
  StatusSources,
  "live" | "storage" | "blobs" | "counters" | "overload" | "undeclaredProxy"
>;

/** The parts of this process that do not work properly, each with the time at which its problem began. */
export interface Degradations extends BackgroundWork {
  now(): Degradation[];
}

/** Checks every part repeatedly, the first time immediately, so that the beginning of each state is known. */
export function watchDegradations(sources: Sources, clock: () => number): Degradations {
  const since = new Map<string, number>();
  const check = (): Degradation[] => {
    const found = degraded(sources);
    const parts = new Set(found.map(({ part }) => part));
    for (const part of since.keys()) if (!parts.has(part)) since.delete(part);
    for (const part of parts) if (!since.has(part)) since.set(part, clock());
    return found.map((one) => Object.assign({ since: since.get(one.part) ?? null }, one));
  };
  check();
  return { now: check, ...every(CHECK_MS, check, () => {}) };
}

/**
 * Maximum number of charges that may wait for the ledger while the database is available. A process can post more
 * charges than this in one second.
 */
const MAX_BACKLOG = 5_000;

function degraded({
  live,
  storage,
  blobs,
  counters,
  overload,
  undeclaredProxy,
}: Sources): Omit<Degradation, "since">[] {
  const { differences } = storage.verification();
  const isDamaged = storage.damage() !== null;
  const isAway = isDamaged || !storage.snapshot.isDatabaseUp();
  const isFull = !storage.journal.isWritable();
  const { unusableChannels } = live.current;
  const all: [isDegraded: boolean, part: Omit<Degradation, "since">][] = [
    [
      isAway,
      {
        part: "database",
        isCritical: true,
        ...operatorMessage(isDamaged ? "part.database.damaged" : "part.database", {}),
        path: "/",
      },
    ],
    [
      isFull,
      {
        part: "journal",
        isCritical: true,
        ...operatorMessage("part.journal", {}),
        path: "/",
      },
    ],
    [
      !blobs.isRemoteUp(),
      {
        part: "object storage",
        ...operatorMessage("part.objectStorage", {}),
        path: "/images/gallery",
      },
    ],
    [counters.isDegraded(), { part: "limits", ...operatorMessage("part.limits", {}), path: "/" }],
    [
      overload.step > 0,
      {
        part: "overload",
        isCritical: true,
        ...operatorMessage("part.overload", {}),
        path: "/",
      },
    ],
    [
      !isAway && storage.backlog() > MAX_BACKLOG,
      {
        part: "backlog",
        ...operatorMessage("part.backlog", { count: storage.backlog() }),
        path: "/money/ledger",
      },
    ],
    [
      storage.refused() > 0,
      {
        part: "refused entries",
        isCritical: true,
        ...operatorMessage("part.refusedEntries", { count: storage.refused() }),
        path: "/money/ledger",
      },
    ],
    [
      storage.quarantined() > 0,
      {
        part: "quarantine",
        ...operatorMessage("part.quarantine", { count: storage.quarantined() }),
        path: "/money/ledger",
      },
    ],
    [undeclaredProxy.peer !== null, { part: "proxy", ...undeclaredProxy.message }],
    [
      differences > 0,
      {
        part: "ledger",
        isCritical: true,
        ...operatorMessage("part.ledger", { count: differences }),
        path: "/money/ledger",
      },
    ],
    [
      !live.isNewest,
      {
        part: "configuration",
        ...operatorMessage("part.configuration", {}),
      },
    ],
    [
      unusableChannels.length > 0,
      {
        part: "channels",
        ...operatorMessage("part.channels", { channels: unusableChannels.join(", ") }),
        path: "/models/providers",
      },
    ],
  ];
  return all.filter(([isDegraded]) => isDegraded).map(([, part]) => part);
}
