import type { Period } from "./calendar.ts";
import type { Figures } from "./operator-message.ts";
import type { Severity, StatusCause } from "./status.ts";
import type { Nanos } from "../lib/money.ts";

/** The settings of an alert rule. `kind` is the kind of facts that the rule watches. */
export type AlertSettings =
  | {
      kind: "budget";
      /** Percentages of a budget's amount. The rule alerts in each period when one of them is reached. */
      percents: readonly number[];
      /**
       * The budget to watch; null watches every budget of the rule's organization and its keys, or of all
       * organizations.
       */
      budgetId: string | null;
    }
  | {
      kind: "error_rate";
      /** The rule alerts from this percentage of requests that fail because of the gateway or its vendors. */
      percent: number;
      /** Length of the watched time in minutes. The rule needs at least `minRequests` requests in this time. */
      minutes: number;
      minRequests: number;
    }
  | {
      kind: "ejection";
      /** Seconds for which a target must be out of service before the rule alerts. */
      seconds: number;
    }
  | {
      kind: "status";
      /** Lowest severity of problems for which the rule alerts. */
      severity: Severity;
    };

/** A rule that alerts people when something needs their attention. */
export interface AlertRule {
  id: string;
  /** Null for a rule of the installation, which watches all organizations. */
  organizationId: string | null;
  name: string;
  settings: AlertSettings;
  /** Addresses that get a mail about each alert. */
  emails: readonly string[];
  /** True when the webhook endpoints of the organization or installation also get a message. */
  usesWebhooks: boolean;
  isDisabled: boolean;
  /** Unix milliseconds at which the rule was created. */
  createdAt: number;
}

/** A condition that a rule has found, with its start and end in Unix milliseconds. */
export interface AlertEvent {
  id: string;
  alertId: string;
  /** The organization of the rule; null for a rule of the installation. */
  organizationId: string | null;
  alertName: string;
  kind: AlertSettings["kind"];
  severity: Severity;
  /** Id of the budget, name of the target, subject of the problem, or `requests` for a rule about failed requests. */
  subject: string;
  message: string;
  /** Code of the message; null for an event that an earlier version has found. */
  code: string | null;
  figures: Figures;
  firedAt: number;
  /** Unix milliseconds at which the condition ended; null while it lasts. */
  resolvedAt: number | null;
  /** The reason why the event ended before its condition; otherwise null. */
  endReason: "disabled" | "removed" | null;
}

/** The facts with which rules are evaluated, about one organization or about all organizations. */
export interface AlertFacts {
  budgets: readonly WatchedBudget[];
  /**
   * Requests and failed requests in each of the last minutes, newest first. Minutes without requests may be missing.
   */
  minutes: readonly { at: number; requests: number; failed: number }[];
  ejections: readonly { target: string; reason: string; since: number }[];
  /** The current problems; empty when no rule of the organization needs them. */
  causes: readonly StatusCause[];
  /** Unix milliseconds at which these facts were read. */
  now: number;
}

/** A budget in its current period, by the store's clock. */
export interface WatchedBudget {
  id: string;
  /** Name of the key or organization that the budget limits. */
  owner: string;
  amount: Nanos;
  spent: Nanos;
  currency: string;
  period: Period;
  /** Unix milliseconds at which the period began. */
  periodStart: number;
}

/** A condition that is met now. `condition` identifies it among all conditions of the rule. */
export interface AlertCondition extends Pick<
  AlertEvent,
  "subject" | "severity" | "message" | "code" | "figures"
> {
  condition: string;
}
