import type { Job } from "../domain/job.ts";
import type { OperatorMessage } from "../domain/operator-message.ts";
import type { AlertData, WebhookFormat, WebhookMessageType } from "../domain/webhook-message.table.ts";

/** Queue of messages to webhooks. The transaction that ends a job writes its message. Throws a `DependencyError`. */
export interface WebhookQueue {
  /** Resolves to true when the organization has a secret for signing messages to the webhook addresses of its jobs. */
  isSigned(organizationId: string): Promise<boolean>;
  /**
   * Takes up to `limit` due messages. Organizations take turns. A message is due again after a minute if neither
   * `delivered` nor `failed` is called for it.
   */
  due(limit: number): Promise<DueWebhook[]>;
  delivered(id: string, result: OperatorMessage): Promise<void>;
  /** Schedules the message again after `retryMs` milliseconds; null ends the attempts. Operators see `result`. */
  failed(id: string, result: OperatorMessage, retryMs: number | null): Promise<void>;
  /**
   * Removes messages that were created more than `retentionMs` ago. Returns the number of removed messages. While the
   * number equals `limit`, call this method again.
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
  /** The job that the message reports. Null when the job was removed or the message reports something else. */
  job: Job | null;
  /** Base address of the links in the message; null when `job` is null. */
  linkBase: string | null;
  /** Content of a message that does not report a job, with its event's time in Unix milliseconds; otherwise null. */
  content: { data: AlertData; at: number } | null;
  format: WebhookFormat;
  /** True for the address of an endpoint that a member added. False for an address in a job. */
  isOfEndpoint: boolean;
  /** Secrets that each sign a `standard` message, or PagerDuty's routing key. Empty when the endpoint was removed. */
  secrets: readonly string[];
}
