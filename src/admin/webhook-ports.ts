import type { Actor } from "./actor.ts";
import type { ListPosition, OrganizationFilter } from "./list-page.ts";

/** An address that is told of the ends of an organization's jobs. */
export interface WebhookEndpoint {
  id: string;
  organizationId: string;
  /** Null is every `webhook_url` that a job names. */
  url: string | null;
  /** Unix milliseconds. */
  createdAt: number;
}

/** One message to one address, and what became of it. Times are Unix milliseconds. */
export interface WebhookDelivery {
  id: string;
  organizationId: string;
  jobId: string;
  event: string;
  url: string;
  status: "waiting" | "delivered" | "failed";
  attempts: number;
  nextAt: number | null;
  createdAt: number;
  endedAt: number | null;
  lastResult: string | null;
}

/** Which messages are meant; what is absent does not matter. */
interface DeliveryFilter extends OrganizationFilter {
  jobId?: string;
  status?: WebhookDelivery["status"];
}

export interface WebhookStore {
  add(endpoint: WebhookEndpoint & { secret: string }, by: Actor): Promise<void>;
  list(organizationId?: string): Promise<WebhookEndpoint[]>;
  /** False when there is no such endpoint. */
  remove(id: string, by: Actor): Promise<boolean>;
  /** Gives an endpoint another secret; the earlier one signs, too, for so long. False when there is no such endpoint. */
  rotate(id: string, secret: string, overlapMs: number, by: Actor): Promise<boolean>;
  /** Newest first. */
  deliveries(page: DeliveryFilter & { below?: ListPosition; limit: number }): Promise<WebhookDelivery[]>;
  /** Sends a message again, from now on as often as a new one. False when there is none, in some organizations when named. */
  redeliver(id: string, by: Actor, organizationIds?: readonly string[]): Promise<boolean>;
}
