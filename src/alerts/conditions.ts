import type { AlertCondition, AlertFacts, AlertRule, AlertSettings, WatchedBudget } from "../domain/alert.ts";
import { budgetFigures } from "../domain/budget-level.ts";
import { EJECTION_REASONS } from "../domain/status.ts";
import { countText } from "../lib/count-text.ts";

const MINUTE_MS = 60_000;

/** Searches the facts for conditions about which the rule alerts. */
export function conditionsOf({ settings }: Pick<AlertRule, "settings">, facts: AlertFacts): AlertCondition[] {
  if (settings.kind === "budget") return budgetConditions(settings, facts);
  if (settings.kind === "error_rate") return errorConditions(settings, facts);
  if (settings.kind === "status") return statusConditions(settings, facts);
  return ejectionConditions(settings, facts);
}

function budgetConditions(
  { percents, budgetId }: Extract<AlertSettings, { kind: "budget" }>,
  { budgets }: AlertFacts,
): AlertCondition[] {
  const watched = budgets.filter(({ id }) => budgetId === null || id === budgetId);
  return watched.flatMap((budget) => {
    const reached = percents.filter((percent) => isReached(budget, percent));
    return reached.map((percent) => ({
      condition: `${budget.id} ${budget.periodStart} ${percent}`,
      subject: budget.id,
      severity: percent >= 100 ? ("critical" as const) : ("warning" as const),
      message: budgetMessage(budget, percent),
    }));
  });
}

function isReached({ spent, amount }: WatchedBudget, percent: number): boolean {
  return amount > 0n && spent * 100n >= amount * BigInt(percent);
}

function budgetMessage(budget: WatchedBudget, percent: number): string {
  const figures = budgetFigures(budget);
  return percent >= 100
    ? `${budget.owner} has spent all of its budget: ${figures}. Its requests are refused.`
    : `${budget.owner} has spent at least ${percent} % of its budget: ${figures}.`;
}

function errorConditions(
  { percent, minutes, minRequests }: Extract<AlertSettings, { kind: "error_rate" }>,
  facts: AlertFacts,
): AlertCondition[] {
  const since = facts.now - minutes * MINUTE_MS;
  const recent = facts.minutes.filter(({ at }) => at + MINUTE_MS > since);
  const requests = recent.reduce((sum, minute) => sum + minute.requests, 0);
  const failed = recent.reduce((sum, minute) => sum + minute.failed, 0);
  if (requests < minRequests || failed * 100 < requests * percent) return [];
  const share = Math.round((failed / requests) * 100);
  const message = `${failed} of ${countText(requests, "request")} (${share} %) failed within ${countText(minutes, "minute")}.`;
  return [{ condition: "error rate", subject: "requests", severity: "critical", message }];
}

function ejectionConditions(
  { seconds }: Extract<AlertSettings, { kind: "ejection" }>,
  { ejections, now }: AlertFacts,
): AlertCondition[] {
  return ejections
    .filter(({ since }) => now - since >= seconds * 1000)
    .map(({ target, reason, since }) => ({
      condition: target,
      subject: target,
      severity: "warning",
      message: `${target} has been out of service since ${new Date(since).toISOString()}: ${EJECTION_REASONS[reason] ?? reason}.`,
    }));
}

/**
 * Kinds of causes that alerts themselves produce: an undelivered mail or webhook (`notices`) and an open alert. A rule
 * that alerted about these kinds would alert about itself.
 */
const CAUSED_BY_ALERTS: ReadonlySet<string> = new Set(["notices", "alert"]);

function statusConditions(
  { severity }: Extract<AlertSettings, { kind: "status" }>,
  { causes }: AlertFacts,
): AlertCondition[] {
  return causes
    .filter(
      (cause) =>
        !CAUSED_BY_ALERTS.has(cause.kind) && (severity === "warning" || cause.severity === "critical"),
    )
    .map(({ kind, subject, organizationId, severity: own, message }) => ({
      condition: `${kind} ${subject} ${organizationId ?? ""}`,
      subject,
      severity: own,
      message,
    }));
}
