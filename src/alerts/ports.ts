import type { AlertCondition, AlertFacts, AlertRule } from "../domain/alert.ts";
import type { Ejection } from "../gateway/routing/ejection.ts";

/** What alerts need of the store. Methods throw a `DependencyError`. */
export interface AlertStore {
  /** Whether this process is the one that watches now, for so many milliseconds more; any other one is not. */
  takeTurn(processId: string, forMs: number): Promise<boolean>;
  /** Notes what a process holds out of service now. Others' notes that are older than `forgetMs` are forgotten. */
  noteEjections(processId: string, ejections: readonly Ejection[], forgetMs: number): Promise<void>;
  /** Every rule that is not disabled. */
  rules(): Promise<AlertRule[]>;
  /** Facts of an organization, with its requests of the last so many minutes. */
  facts(organizationId: string, minutes: number): Promise<AlertFacts>;
  /**
   * Opens events for conditions that are new, with their messages, and ends those whose condition holds no more. What
   * is unchanged is sent to nobody again.
   */
  settle(rule: AlertRule, conditions: readonly AlertCondition[], now: number): Promise<void>;
  /** Mails that are to be sent now; whoever does not say what became of one in a minute has lost it. */
  dueMails(limit: number): Promise<Mail[]>;
  mailSent(id: string): Promise<void>;
  /** It is sent again after so many milliseconds; null gives it up. */
  mailFailed(id: string, result: string, retryMs: number | null): Promise<void>;
  /** Removes ended events and mails that are so old. */
  sweep(retentionMs: number): Promise<void>;
}

export interface Mail {
  id: string;
  /** Whose rule it tells of; null where an earlier version has written it. */
  organizationId: string | null;
  recipient: string;
  subject: string;
  body: string;
  /** This one included. */
  attempts: number;
}

/** Whether mail of an organization still goes to this address: rules outlive members and settings. */
export type IsRecipient = (email: string, organizationId: string | null) => Promise<boolean>;

/** Sends one mail. Rejects with an `Error` whose message says why it could not. */
export type SendMail = (mail: Pick<Mail, "recipient" | "subject" | "body">) => Promise<void>;
