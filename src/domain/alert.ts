import type { Period } from "./budget-period.ts";
import type { Nanos } from "../lib/money.ts";

/** What a rule watches. */
export type AlertSettings =
  | {
      kind: "budget";
      /** Shares of a budget's amount, in percent; each tells once a period. */
      percents: readonly number[];
      /** Only of this budget; null is every one of the organization and its keys. */
      budgetId: string | null;
    }
  | {
      kind: "error_rate";
      /** Share of the organization's requests that the gateway or its vendors failed, in percent. */
      percent: number;
      /** Over so many minutes, with at least so many requests. */
      minutes: number;
      minRequests: number;
    }
  | {
      kind: "ejection";
      /** A target must be out of service for so long. */
      seconds: number;
    };

/** A rule by which an organization is told that something needs attention. */
export interface AlertRule {
  id: string;
  organizationId: string;
  name: string;
  settings: AlertSettings;
  /** Addresses that get a mail. */
  emails: readonly string[];
  /** Whether the organization's webhook endpoints get a message. */
  usesWebhooks: boolean;
  isDisabled: boolean;
  /** Unix milliseconds. */
  createdAt: number;
}

/** Something that a rule has found, from when to when. Times are Unix milliseconds. */
export interface AlertEvent {
  id: string;
  alertId: string;
  organizationId: string;
  alertName: string;
  kind: AlertSettings["kind"];
  /** What it is about: a budget, an organization or a target. */
  subject: string;
  message: string;
  firedAt: number;
  /** Null while it lasts. */
  resolvedAt: number | null;
}

/** What rules are compared with, of one organization. */
export interface AlertFacts {
  budgets: readonly WatchedBudget[];
  /** Requests of the last minutes, the newest first; of a minute without any there may be none. */
  minutes: readonly { at: number; requests: number; failed: number }[];
  ejections: readonly { target: string; reason: string; since: number }[];
  /** Unix milliseconds. */
  now: number;
}

/** A budget in the period that runs by the store's clock. */
export interface WatchedBudget {
  id: string;
  /** Name of the key or organization that it bounds. */
  owner: string;
  amount: Nanos;
  spent: Nanos;
  currency: string;
  period: Period;
  /** Unix milliseconds. */
  periodStart: number;
}

/** Something that holds now. Two with the same `condition` are the same one. */
export interface AlertCondition {
  condition: string;
  subject: string;
  message: string;
}
