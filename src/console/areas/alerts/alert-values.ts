import type { Input } from "../../api/call.ts";
import type { Alert } from "./views.ts";

export const KINDS = ["budget", "error_rate", "ejection"] as const;

/** The option for every budget. */
export const ALL_BUDGETS = "*";

/** The values of a rule's form: the fields of every kind, of which those of the chosen kind are used. */
export interface AlertValues {
  organizationId: string | null;
  name: string;
  settings: {
    kind: (typeof KINDS)[number];
    percents: string[];
    budgetId: string;
    percent: number | null;
    minutes: number | null;
    minRequests: number | null;
    seconds: number | null;
  };
  emails: string[];
  usesWebhooks: boolean;
}

const DEFAULTS: AlertValues["settings"] = {
  kind: "budget",
  percents: ["80", "100"],
  budgetId: ALL_BUDGETS,
  percent: 5,
  minutes: 10,
  minRequests: 20,
  seconds: 60,
};

export function valuesOf(view: Alert | null, organizationId: string | null): AlertValues {
  if (!view) return { organizationId, name: "", settings: DEFAULTS, emails: [], usesWebhooks: false };
  const { name, settings, emails, usesWebhooks } = view;
  const own =
    settings.kind === "budget"
      ? { percents: settings.percents.map(String), budgetId: settings.budgetId ?? ALL_BUDGETS }
      : settings;
  return {
    organizationId: view.organizationId,
    name,
    settings: { ...DEFAULTS, ...own, kind: settings.kind },
    emails: [...emails],
    usesWebhooks,
  };
}

/** Returns the settings of the chosen kind as the gateway takes them; the gateway refuses a missing number. */
export function toSettings({
  kind,
  percents,
  budgetId,
  ...numbers
}: AlertValues["settings"]): Input<"alerts.create">["settings"] {
  const { percent, minutes, minRequests, seconds } = numbers as Record<keyof typeof numbers, number>;
  if (kind === "error_rate") return { kind, percent, minutes, minRequests };
  if (kind === "ejection") return { kind, seconds };
  return { kind, percents: percents.map(Number), budgetId: budgetId === ALL_BUDGETS ? null : budgetId };
}
