import { hostname } from "node:os";
import type { RunningGateway } from "../admin/context.ts";
import { isRecipient } from "../admin/alerts/recipients.ts";
import { openMailer } from "../alerts/mail.ts";
import type { InstallationName, SendMail } from "../alerts/ports.ts";
import { startAlerts } from "../alerts/watch.ts";
import { operatorMessage } from "../domain/operator-message.ts";
import type { InstallationStatus } from "../domain/status.ts";
import type { Health } from "../gateway/routing/health.ts";
import { systemClock } from "../lib/clock.ts";
import { type BackgroundWork, every, nextTurn } from "../lib/waiting.ts";
import { type LedgerExport, startLedgerExport } from "../storage/ledger-export/ledger-export.ts";
import type { SystemLog } from "../telemetry/log.ts";
import type { PromptRecorder, RequestRecorder } from "../telemetry/request-recorder.ts";
import type { TrafficCounters } from "../telemetry/traffic-counters.ts";
import type { AdminStore } from "../admin/admin-store.ts";
import type { ProcessBasis } from "./core.ts";
import { databaseOf } from "./stores.ts";
import type { LiveSettings } from "./reload.ts";
import { countText } from "../lib/count-text.ts";

interface Recorders {
  traffic: TrafficCounters;
  prompts: PromptRecorder;
  recorder: RequestRecorder;
}

interface RecordingParts extends Recorders {
  store: Pick<AdminStore, "usage" | "requests" | "pictures" | "prompts">;
  live: LiveSettings;
  onProblem: SystemLog;
}

/** The background work that writes recorded requests to the database and removes old ones. */
export interface Recording extends BackgroundWork {
  /** Writes the counts of requests immediately. */
  writeCounts(): Promise<void>;
}

const TRAFFIC_MS = 10_000;
const RECORDS_MS = 1_000;
const SWEEP_MS = 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** Maximum counts or records in one transaction: few, because SQLite blocks the thread that serves requests. */
const BATCH = 100;
/** Maximum prompts in one transaction. It is smaller than `BATCH`, because prompts are longer than records. */
const PROMPT_BATCH = 20;

/** Starts the background work that writes counts and records of requests to the database and removes old ones. */
export function startRecording({ live, storage, onProblem }: ProcessBasis, recorders: Recorders): Recording {
  const parts: RecordingParts = { store: storage.admin, live, onProblem, ...recorders };
  const work = [
    every(
      TRAFFIC_MS,
      () => writeTraffic(parts),
      (error) => onProblem("counts of requests were not written", error),
    ),
    every(RECORDS_MS, () => writeRecords(parts), ignore),
    every(
      SWEEP_MS,
      () => sweep(parts),
      (error) => onProblem("old records of requests were not removed", error),
    ),
    every(SWEEP_MS, dropReport(parts), ignore),
  ];
  return {
    writeCounts: () => writeTraffic(parts),
    async stop() {
      await Promise.all(work.map((one) => one.stop()));
      await writeTraffic(parts).catch(ignore);
      await writeRecords(parts);
    },
  };
}

async function writeTraffic({ store, traffic }: RecordingParts): Promise<void> {
  const counts = traffic.take();
  for (let start = 0; start < counts.length; start += BATCH) {
    try {
      await store.usage.addTraffic(counts.slice(start, start + BATCH));
    } catch (error) {
      traffic.giveBack(counts.slice(start));
      throw error;
    }
    await nextTurn();
  }
}

/**
 * Writes records, pictures and prompts. Data that cannot be written is lost, but the log also has the facts of the
 * records.
 */
async function writeRecords({ store, recorder, prompts }: RecordingParts): Promise<void> {
  const { records, pictures } = recorder.take();
  for (let start = 0; start < records.length; start += BATCH) {
    const batch = records.slice(start, start + BATCH);
    await store.requests.add(batch).catch(() => recorder.lose(batch.length));
    await nextTurn();
  }
  for (let start = 0; start < pictures.length; start += BATCH)
    await store.pictures.add(pictures.slice(start, start + BATCH)).catch(ignore);
  for (;;) {
    const batch = prompts.take(PROMPT_BATCH);
    if (batch.length === 0) return;
    await store.prompts.add(batch).catch(ignore);
    await nextTurn();
  }
}

async function sweep({ store, live }: RecordingParts): Promise<void> {
  const { requests, blobs } = live.current;
  const now = systemClock.now();
  while ((await store.requests.sweep(now - requests.retentionDays * DAY_MS, requests.maxRows)) > 0)
    await nextTurn();
  while ((await store.prompts.sweep(now)) > 0) await nextTurn();
  while ((await store.pictures.sweep(now - blobs.retentionDays * DAY_MS)) > 0) await nextTurn();
  await store.usage.maintain();
}

/** Returns a function that reports how many requests were left out of the request log since its last call. */
function dropReport({ recorder, onProblem }: RecordingParts): () => void {
  let reported = 0;
  return () => {
    const dropped = recorder.dropped - reported;
    reported = recorder.dropped;
    if (dropped > 0)
      onProblem(
        `${countText(dropped, "request was", "requests were")} left out of the request log to stay within its bounds`,
        null,
      );
  };
}

function ignore(): void {}

/** Starts the export of posted entries to files for a data warehouse; null when no export is configured. */
export function openLedgerExport({ live, processId, onProblem }: ProcessBasis): LedgerExport | null {
  const { ledgerExport } = live.current;
  if (!ledgerExport) return null;
  const { database: location } = databaseOf(live.current);
  return startLedgerExport({ ...ledgerExport, location, processId, onProblem });
}

/** The background work that detects states that need attention and sends mails and webhook messages about them. */
export interface OpenedAlerts extends BackgroundWork {
  testMail: RunningGateway["testMail"];
}

export function openAlerts(
  { live, storage, processId, onProblem, calls }: ProcessBasis,
  health: Health,
  statusOf: (organizationId: string | null) => Promise<InstallationStatus>,
): OpenedAlerts {
  const { mail } = live.current;
  const sendMail = mail && openMailer(mail);
  const work = startAlerts({
    store: calls.mails(storage.alerts),
    processId,
    ejections: () => health.ejections(),
    causes: async (organizationId) => (await statusOf(organizationId)).causes,
    installation: () => installationOf(live.current.server.publicUrl),
    sendMail,
    isRecipient: async (email, organizationId) =>
      live.current.mail !== null &&
      (await isRecipient(storage.admin, live.current.mail, email, organizationId)),
    onProblem,
  });
  return { stop: () => work.stop(), testMail: (recipient) => testMail(sendMail, recipient) };
}

/** Returns the name of the installation: the host of its public address, or else the name of this machine. */
function installationOf(publicUrl: string | null): InstallationName {
  return { name: publicUrl === null ? hostname() : new URL(publicUrl).host, url: publicUrl };
}

async function testMail(sendMail: SendMail | null, recipient: string) {
  if (!sendMail) return { isSent: false, ...operatorMessage("mail.notConfigured", {}) };
  try {
    const body = "This mail shows that the gateway can send alerts to this address.\n";
    await sendMail({ recipient, subject: "[gateway] Test", body });
    return { isSent: true, ...operatorMessage("mail.sent", {}) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { isSent: false, ...operatorMessage("mail.refused", { detail }) };
  }
}
