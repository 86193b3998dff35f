import type { Job } from "../domain/job.ts";

/** Messages about ends of jobs, written with those ends. Methods throw a `DependencyError`. */
export interface WebhookQueue {
  /** Whether the organization has a secret for addresses that its jobs name. */
  isSigned(organizationId: string): Promise<boolean>;
  /**
   * Takes up to `limit` messages that are to be sent now, of each organization in turn. One of which neither `delivered`
   * nor `failed` tells within a minute is due again.
   */
  due(limit: number): Promise<DueWebhook[]>;
  delivered(id: string, result: string): Promise<void>;
  /** The message is sent again after `retryMs`; null gives it up. `result` is shown to operators. */
  failed(id: string, result: string, retryMs: number | null): Promise<void>;
  /** Removes messages created so long ago. Returns how many; call again while there are as many as `limit`. */
  remove(retentionMs: number, limit: number): Promise<number>;
}

export interface DueWebhook {
  id: string;
  event: string;
  url: string;
  /** This one included. */
  attempts: number;
  organizationId: string;
  /** Of a message about a job; null when that is gone. */
  job: Job | null;
  /** Base address of links. */
  linkBase: string | null;
  /** What any other message says, and since when (Unix milliseconds); null for one about a job. */
  content: { data: unknown; at: number } | null;
  /** All of them sign; none when the endpoint was removed. */
  secrets: readonly string[];
}
