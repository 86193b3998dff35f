import type { Actor } from "../actor.ts";
import type { WebhookDelivery, WebhookEndpoint } from "./schema.ts";
import type { ListPosition, OrganizationFilter } from "../list-page.ts";

/** Filter of messages; an absent field matches every message. */
interface DeliveryFilter extends OrganizationFilter {
  jobId?: string;
  status?: WebhookDelivery["status"];
}

export interface WebhookStore {
  add(endpoint: WebhookEndpoint & { secret: string }, by: Actor): Promise<void>;
  /**
   * Returns the endpoints of an organization, for null the endpoints of the installation, for undefined all endpoints.
   */
  list(organizationId?: string | null): Promise<WebhookEndpoint[]>;
  /** Removes an endpoint. Returns false when there is no such endpoint. */
  remove(id: string, by: Actor): Promise<boolean>;
  /**
   * Gives an endpoint a new secret. The earlier secret also signs during the overlap. Returns false when there is no
   * such endpoint, or when its messages are not signed.
   */
  rotate(id: string, secret: string, overlapMs: number, by: Actor): Promise<boolean>;
  /** Returns a page of messages, newest first. */
  deliveries(page: DeliveryFilter & { below?: ListPosition; limit: number }): Promise<WebhookDelivery[]>;
  /**
   * Sends a message again, with as many attempts as a new message. Returns false when there is no such message.
   * `organizationIds` restricts the search to these organizations.
   */
  redeliver(id: string, by: Actor, organizationIds?: readonly string[]): Promise<boolean>;
}
