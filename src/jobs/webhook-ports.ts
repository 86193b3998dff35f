import type { Job } from "../domain/job.ts";

/**
 * Messages about the ends of jobs, written in the same transaction as those ends. Methods throw a `DependencyError`.
 */
export interface WebhookQueue {
  /** True when the organization has a secret that signs messages to addresses named by its jobs. */
  isSigned(organizationId: string): Promise<boolean>;
  /**
   * Takes up to `limit` due messages, of each organization in turn. A message is due again when neither `delivered` nor
   * `failed` is called within a minute.
   */
  due(limit: number): Promise<DueWebhook[]>;
  delivered(id: string, result: string): Promise<void>;
  /** Schedules the message again after `retryMs`; null gives it up. `result` is shown to operators. */
  failed(id: string, result: string, retryMs: number | null): Promise<void>;
  /**
   * Removes messages created more than `retentionMs` ago. Returns their number; call it again while it equals `limit`.
   */
  remove(retentionMs: number, limit: number): Promise<number>;
}

export interface DueWebhook {
  id: string;
  event: string;
  url: string;
  /** Number of attempts, this one included. */
  attempts: number;
  organizationId: string;
  /** The job of the message; null when the job has been removed or the message is about something else. */
  job: Job | null;
  /** Base address of links. */
  linkBase: string | null;
  /** Content of a message that is not about a job, with its time in Unix milliseconds; null for one about a job. */
  content: { data: unknown; at: number } | null;
  /** Every secret signs the message; empty when the endpoint was removed. */
  secrets: readonly string[];
}
