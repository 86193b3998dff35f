import type { AlertCondition, AlertFacts, AlertRule } from "../domain/alert.ts";
import type { OperatorMessage } from "../domain/operator-message.ts";
import type { Ejection } from "../gateway/routing/health.ts";

/** The store of alerts. Methods throw a `DependencyError` when the database is unavailable. */
export interface AlertStore {
  /** Tries to make this process the only evaluator of rules for the next `forMs` milliseconds. True on success. */
  takeTurn(processId: string, forMs: number): Promise<boolean>;
  /**
   * Stores the targets that a process has taken out of service. Removes entries of other processes that are more than
   * `forgetMs` milliseconds old.
   */
  noteEjections(processId: string, ejections: readonly Ejection[], forgetMs: number): Promise<void>;
  /** Returns all rules that are not disabled. */
  rules(): Promise<AlertRule[]>;
  /** Returns the facts of an organization (null: of all), with the requests of the last `minutes` minutes. */
  facts(organizationId: string | null, minutes: number): Promise<Omit<AlertFacts, "causes">>;
  /**
   * Opens an event for each new condition and queues its messages. Ends the events whose condition is no longer true.
   * Sends no second message for an open event. Messages contain the name of the installation.
   */
  settle(
    rule: AlertRule,
    conditions: readonly AlertCondition[],
    now: number,
    installation: InstallationName,
  ): Promise<void>;
  /**
   * Returns the mails that are due now. The caller must report the result of each mail within a minute. After a minute
   * without a result, another process may send the mail.
   */
  dueMails(limit: number): Promise<Mail[]>;
  mailSent(id: string): Promise<void>;
  /** Schedules another attempt at the mail after `retryMs` milliseconds. Null ends the attempts. */
  mailFailed(id: string, result: OperatorMessage, retryMs: number | null): Promise<void>;
  /** Removes mails and ended events that are more than `retentionMs` milliseconds old. */
  sweep(retentionMs: number): Promise<void>;
}

/** The name and address that messages use for the installation. */
export interface InstallationName {
  name: string;
  /** Address of the console, without a trailing slash; null when no public address is configured. */
  url: string | null;
}

export interface Mail {
  id: string;
  /** The organization of the rule; null for a rule about the whole installation. */
  organizationId: string | null;
  recipient: string;
  subject: string;
  body: string;
  /** Number of attempts, including the current attempt. */
  attempts: number;
}

/**
 * True when alerts of the organization may still be sent to this address. Since the rule was made, the member may have
 * left, or the settings may have changed.
 */
export type IsRecipient = (email: string, organizationId: string | null) => Promise<boolean>;

/** Sends one mail. Rejects with an `Error` whose message contains the reason. */
export type SendMail = (mail: Pick<Mail, "recipient" | "subject" | "body">) => Promise<void>;
