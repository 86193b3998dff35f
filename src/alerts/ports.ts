import type { AlertCondition, AlertFacts, AlertRule } from "../domain/alert.ts";
import type { Ejection } from "../gateway/routing/health.ts";

/** The store of alerts. Methods throw a `DependencyError`. */
export interface AlertStore {
  /** Resolves to true when this process now is the only one that evaluates rules, for `forMs` milliseconds. */
  takeTurn(processId: string, forMs: number): Promise<boolean>;
  /**
   * Stores the targets that a process has taken out of service. Removes entries of other processes that are older than
   * `forgetMs`.
   */
  noteEjections(processId: string, ejections: readonly Ejection[], forgetMs: number): Promise<void>;
  /** Returns every rule that is not disabled. */
  rules(): Promise<AlertRule[]>;
  /** Returns the facts of one organization, or of all when null, with the requests of the last `minutes` minutes. */
  facts(organizationId: string | null, minutes: number): Promise<Omit<AlertFacts, "causes">>;
  /**
   * Opens an event for each new condition and queues its messages, and ends the events whose condition no longer holds.
   * An event that is already open sends nothing again. Messages contain the name of the installation.
   */
  settle(
    rule: AlertRule,
    conditions: readonly AlertCondition[],
    now: number,
    installation: InstallationName,
  ): Promise<void>;
  /**
   * Returns the mails that are due now. The caller must report the result of each mail within a minute; after that,
   * another process may send it.
   */
  dueMails(limit: number): Promise<Mail[]>;
  mailSent(id: string): Promise<void>;
  /** Schedules another attempt at the mail after `retryMs` milliseconds; null gives the mail up. */
  mailFailed(id: string, result: string, retryMs: number | null): Promise<void>;
  /** Removes ended events and mails that are older than `retentionMs`. */
  sweep(retentionMs: number): Promise<void>;
}

/** The name and address of the installation in messages. */
export interface InstallationName {
  name: string;
  /** Address of the console, without a trailing slash; null when no public address is configured. */
  url: string | null;
}

export interface Mail {
  id: string;
  /** The organization of the rule; null for a rule of the installation. */
  organizationId: string | null;
  recipient: string;
  subject: string;
  body: string;
  /** Number of attempts, including the current one. */
  attempts: number;
}

/**
 * True when alerts of the organization may still go to this address. The member may have left, or the settings may have
 * changed, after the rule was made.
 */
export type IsRecipient = (email: string, organizationId: string | null) => Promise<boolean>;

/** Sends one mail. Rejects with an `Error` whose message contains the reason. */
export type SendMail = (mail: Pick<Mail, "recipient" | "subject" | "body">) => Promise<void>;
