import type { AlertCondition, AlertFacts, AlertRule } from "../domain/alert.ts";
import type { Ejection } from "../gateway/routing/health.ts";

/** The store of alerts. Methods throw a `DependencyError`. */
export interface AlertStore {
  /** Resolves to true when this process becomes the only one that watches, for the given milliseconds. */
  takeTurn(processId: string, forMs: number): Promise<boolean>;
  /**
   * Stores the targets that a process holds out of service now. Removes other processes' entries that are older than
   * `forgetMs`.
   */
  noteEjections(processId: string, ejections: readonly Ejection[], forgetMs: number): Promise<void>;
  /** Returns every rule that is not disabled. */
  rules(): Promise<AlertRule[]>;
  /** Returns the facts of an organization, or with null of all, with its requests of the last so many minutes. */
  facts(organizationId: string | null, minutes: number): Promise<Omit<AlertFacts, "causes">>;
  /**
   * Opens events for new conditions, with their messages, and ends those whose condition no longer holds. Unchanged
   * events are not sent again. Messages name the installation.
   */
  settle(
    rule: AlertRule,
    conditions: readonly AlertCondition[],
    now: number,
    installation: InstallationName,
  ): Promise<void>;
  /**
   * Returns the mails that are due now. The caller must report the result of each within a minute, or it loses the
   * mail to another process.
   */
  dueMails(limit: number): Promise<Mail[]>;
  mailSent(id: string): Promise<void>;
  /** Schedules the mail again after so many milliseconds; null gives it up. */
  mailFailed(id: string, result: string, retryMs: number | null): Promise<void>;
  /** Removes ended events and mails that are older than the retention. */
  sweep(retentionMs: number): Promise<void>;
}

/** The installation as messages name it. */
export interface InstallationName {
  name: string;
  /** Address of its console without a trailing slash; null where no public address is configured. */
  url: string | null;
}

export interface Mail {
  id: string;
  /** The organization of the rule; null for one of the installation. */
  organizationId: string | null;
  recipient: string;
  subject: string;
  body: string;
  /** Number of attempts, this one included. */
  attempts: number;
}

/** True when mail of an organization still goes to this address: rules outlive members and settings. */
export type IsRecipient = (email: string, organizationId: string | null) => Promise<boolean>;

/** Sends one mail. Rejects with an `Error` whose message names the reason. */
export type SendMail = (mail: Pick<Mail, "recipient" | "subject" | "body">) => Promise<void>;
