import type { Job } from "../domain/job.ts";
import type { AlertData, WebhookFormat, WebhookMessageType } from "../domain/webhook-message.table.ts";

/**
 * Queue of messages about the ends of jobs, which are written in the transactions that end the jobs. Methods throw a
 * `DependencyError`.
 */
export interface WebhookQueue {
  /** True when the organization has a secret to sign messages to the addresses that its jobs name. */
  isSigned(organizationId: string): Promise<boolean>;
  /**
   * Takes up to `limit` due messages; organizations take turns. A message is due again after a minute unless
   * `delivered` or `failed` is called.
   */
  due(limit: number): Promise<DueWebhook[]>;
  delivered(id: string, result: string): Promise<void>;
  /** Schedules the message again after `retryMs`; with null, gives the message up. `result` is shown to operators. */
  failed(id: string, result: string, retryMs: number | null): Promise<void>;
  /**
   * Removes messages that were created more than `retentionMs` ago. Returns their number. Call it again while the
   * number equals `limit`.
   */
  remove(retentionMs: number, limit: number): Promise<number>;
}

export interface DueWebhook {
  id: string;
  event: WebhookMessageType;
  url: string;
  /** Number of attempts including this one. */
  attempts: number;
  organizationId: string;
  /** The job that the message is about; null when the job has been removed, or the message is about something else. */
  job: Job | null;
  /** Base address of the links in the message. */
  linkBase: string | null;
  /**
   * Content of a message that is not about a job, with its time in Unix milliseconds; null for a message about a job.
   */
  content: { data: AlertData; at: number } | null;
  format: WebhookFormat;
  /** True for the address of an endpoint, which a member has added; false for one that a job names. */
  isOfEndpoint: boolean;
  /** Secrets; each of them signs the message. The routing key for PagerDuty. Empty when the endpoint was removed. */
  secrets: readonly string[];
}
