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
import { countText } from "../lib/count-text.ts";

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

const DAMAGED = "The database is damaged: stop the gateway and run restore --force with a backup.";
const AWAY = "The database is unavailable: charges wait in the journal.";

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
    [isAway, { part: "database", isCritical: true, message: isDamaged ? DAMAGED : AWAY, path: "/" }],
    [
      isFull,
      {
        part: "journal",
        isCritical: true,
        message: "The disk refuses charges: requests are refused.",
        path: "/",
      },
    ],
    [
      !blobs.isRemoteUp(),
      {
        part: "object storage",
        message: "The object storage is unavailable: pictures wait on the local disk.",
        path: "/images/gallery",
      },
    ],
    [
      counters.isDegraded(),
      { part: "limits", message: "Redis is unavailable: each process counts limits by itself.", path: "/" },
    ],
    [
      overload.step > 0,
      {
        part: "overload",
        isCritical: true,
        message: "This server refuses requests because it lacks memory, disk or time.",
        path: "/",
      },
    ],
    [
      !isAway && storage.backlog() > MAX_BACKLOG,
      {
        part: "backlog",
        message: `${countText(storage.backlog(), "charge waits", "charges wait")} for the ledger.`,
        path: "/money/ledger",
      },
    ],
    [
      storage.refused() > 0,
      {
        part: "refused entries",
        isCritical: true,
        message: `${countText(storage.refused(), "charge was", "charges were")} refused by the database.`,
        path: "/money/ledger",
      },
    ],
    [
      storage.quarantined() > 0,
      {
        part: "quarantine",
        message: `${countText(storage.quarantined(), "journal file was", "journal files were")} not understood.`,
        path: "/money/ledger",
      },
    ],
    [undeclaredProxy.message !== null, { part: "proxy", message: undeclaredProxy.message ?? "" }],
    [
      differences > 0,
      {
        part: "ledger",
        isCritical: true,
        message: `The last verification of the ledger found ${countText(differences, "difference")}.`,
        path: "/money/ledger",
      },
    ],
    [
      !live.isNewest,
      {
        part: "configuration",
        message: "The newest configuration was refused, and the one before it runs: the log says why.",
      },
    ],
    [
      unusableChannels.length > 0,
      {
        part: "channels",
        message: `Channels that cannot be used: ${unusableChannels.join(", ")}.`,
        path: "/models/providers",
      },
    ],
  ];
  return all.filter(([isDegraded]) => isDegraded).map(([, part]) => part);
}
