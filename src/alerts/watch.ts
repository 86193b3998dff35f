import type { AlertRule } from "../domain/alert.ts";
import type { Ejection } from "../gateway/routing/health.ts";
import { every, type BackgroundWork } from "../lib/waiting.ts";
import { conditionsOf } from "./conditions.ts";
import { sendDueMails } from "./mail.ts";
import type { StatusCause } from "../domain/status.ts";
import type { AlertStore, InstallationName, IsRecipient, SendMail } from "./ports.ts";

interface AlertOptions {
  store: AlertStore;
  processId: string;
  ejections(): readonly Ejection[];
  /** Returns all current problems of one organization; null means all organizations. */
  causes(organizationId: string | null): Promise<readonly StatusCause[]>;
  installation(): InstallationName;
  /** Sends one mail; null when no mail server is configured. */
  sendMail: SendMail | null;
  isRecipient: IsRecipient;
  onProblem(message: string, cause: unknown): void;
}

const WATCH_MS = 10_000;
const TURN_MS = 3 * WATCH_MS;
const FORGET_MS = 6 * WATCH_MS;
const MAIL_MS = 2_000;
const SWEEP_MS = 60 * 60_000;
const RETENTION_MS = 90 * 24 * 60 * 60_000;

/** Evaluates all rules, sends mails and removes old alerts at intervals. Only one process at a time evaluates rules. */
export function startAlerts(options: AlertOptions): BackgroundWork {
  const { store, sendMail, isRecipient, onProblem } = options;
  const failed = (message: string) => (error: unknown) => onProblem(message, error);
  const work = [
    every(WATCH_MS, () => watch(options), failed("alerts were not compared")),
    every(SWEEP_MS, () => store.sweep(RETENTION_MS), failed("old alerts were not removed")),
  ];
  if (sendMail)
    work.push(
      every(
        MAIL_MS,
        () => sendDueMails(store, sendMail, isRecipient, onProblem),
        failed("mails were not sent"),
      ),
    );
  return { stop: async () => void (await Promise.all(work.map((one) => one.stop()))) };
}

/** Stores this process's ejected targets. Evaluates every rule if `takeTurn` makes this process the evaluator. */
export async function watch({
  store,
  processId,
  ejections,
  causes: causesOf,
  installation,
}: Pick<AlertOptions, "store" | "processId" | "ejections" | "causes" | "installation">): Promise<void> {
  await store.noteEjections(processId, ejections(), FORGET_MS);
  if (!(await store.takeTurn(processId, TURN_MS))) return;
  const byOrganization = Map.groupBy(await store.rules(), ({ organizationId }) => organizationId);
  for (const [organizationId, rules] of byOrganization) {
    const asksForState = rules.some(({ settings }) => settings.kind === "status");
    const causes = asksForState ? await causesOf(organizationId) : [];
    const facts = { ...(await store.facts(organizationId, longestMinutes(rules))), causes };
    for (const rule of rules) await store.settle(rule, conditionsOf(rule, facts), facts.now, installation());
  }
}

function longestMinutes(rules: readonly AlertRule[]): number {
  const minutes = rules.map(({ settings }) => (settings.kind === "error_rate" ? settings.minutes : 0));
  return Math.max(...minutes);
}
