import type { AlertCondition, AlertFacts, AlertRule, AlertSettings, WatchedBudget } from "../domain/alert.ts";
import { budgetFigures } from "../domain/budget-level.ts";
import { operatorMessage, type OperatorMessage } from "../domain/operator-message.ts";

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
    return reached.map((percent) =>
      Object.assign(budgetMessage(budget, percent), {
        condition: `${budget.id} ${budget.periodStart} ${percent}`,
        subject: budget.id,
        severity: percent >= 100 ? ("critical" as const) : ("warning" as const),
      }),
    );
  });
}

function isReached({ spent, amount }: WatchedBudget, percent: number): boolean {
  return amount > 0n && spent * 100n >= amount * BigInt(percent);
}

function budgetMessage(budget: WatchedBudget, percent: number): OperatorMessage {
  const figures = { owner: budget.owner, percent, ...budgetFigures(budget) };
  return operatorMessage(percent >= 100 ? "finding.budget.spent" : "finding.budget", figures);
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
  const message = operatorMessage("finding.requests", { failed, all: requests, share, minutes });
  return [{ condition: "error rate", subject: "requests", severity: "critical", ...message }];
}

function ejectionConditions(
  { seconds }: Extract<AlertSettings, { kind: "ejection" }>,
  { ejections, now }: AlertFacts,
): AlertCondition[] {
  return ejections
    .filter(({ since }) => now - since >= seconds * 1000)
    .map(({ target, reason, since }) =>
      Object.assign(
        operatorMessage("finding.ejection", { target, since: new Date(since).toISOString(), reason }),
        { condition: target, subject: target, severity: "warning" as const },
      ),
    );
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
    .map(({ kind, subject, organizationId, severity: own, message, code, figures }) => ({
      condition: `${kind} ${subject} ${organizationId ?? ""}`,
      subject,
      severity: own,
      message,
      code,
      figures,
    }));
}
