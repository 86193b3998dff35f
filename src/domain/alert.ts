import type { Period } from "./calendar.ts";
import type { Severity, StatusCause } from "./status.ts";
import type { Nanos } from "../lib/money.ts";

/** The setting of a rule, by what it watches. */
export type AlertSettings =
  | {
      kind: "budget";
      /** Shares of a budget's amount, in percent; each one alerts once a period. */
      percents: readonly number[];
      /** The budget to watch; null watches every budget of the organization and its keys. */
      budgetId: string | null;
    }
  | {
      kind: "error_rate";
      /** Share of the organization's requests that the gateway or its vendors failed, in percent. */
      percent: number;
      /** Length of the window in minutes, and the fewest requests in it. */
      minutes: number;
      minRequests: number;
    }
  | {
      kind: "ejection";
      /** Seconds that a target must be out of service. */
      seconds: number;
    }
  | {
      kind: "status";
      /** Tells of causes of the state from this severity on. */
      severity: Severity;
    };

/** A rule that alerts somebody to something that needs attention. */
export interface AlertRule {
  id: string;
  /** Null for a rule of the installation, which watches all organizations. */
  organizationId: string | null;
  name: string;
  settings: AlertSettings;
  /** Addresses that get a mail. */
  emails: readonly string[];
  /** True when the webhook endpoints of the organization, or of the installation, get a message. */
  usesWebhooks: boolean;
  isDisabled: boolean;
  /** Unix milliseconds. */
  createdAt: number;
}

/** A finding of a rule, with its start and end in Unix milliseconds. */
export interface AlertEvent {
  id: string;
  alertId: string;
  /** Null where a rule of the installation has found it. */
  organizationId: string | null;
  alertName: string;
  kind: AlertSettings["kind"];
  severity: Severity;
  /** The subject: a budget, an organization or a target. */
  subject: string;
  message: string;
  firedAt: number;
  /** Null while the condition lasts. */
  resolvedAt: number | null;
}

/** The facts of one organization, or of all, that rules are compared with. */
export interface AlertFacts {
  budgets: readonly WatchedBudget[];
  /** Requests of the last minutes, the newest first; a minute without requests may be missing. */
  minutes: readonly { at: number; requests: number; failed: number }[];
  ejections: readonly { target: string; reason: string; since: number }[];
  /** Everything that is wrong now, where a rule asks for it. */
  causes: readonly StatusCause[];
  /** Unix milliseconds. */
  now: number;
}

/** A budget in its running period, by the store's clock. */
export interface WatchedBudget {
  id: string;
  /** Name of the key or organization that the budget limits. */
  owner: string;
  amount: Nanos;
  spent: Nanos;
  currency: string;
  period: Period;
  /** Unix milliseconds. */
  periodStart: number;
}

/** A condition that holds now. Two with the same `condition` are the same one. */
export interface AlertCondition {
  condition: string;
  subject: string;
  severity: Severity;
  message: string;
}
