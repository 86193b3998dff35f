import { operatorMessage } from "../../domain/operator-message.ts";
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { newId } from "../../lib/ids.ts";
import { NetworkGuard } from "../../lib/network-guard.ts";
import { readAddress, readLink } from "../../lib/safe-fetch.ts";
import { AdminError } from "../admin-error.ts";
import type { AdminContext } from "../context.ts";
import { PAGERDUTY_ADDRESS } from "../../dialects/alert-formats.ts";
import { decidesForAll } from "../sign-in/signed-in.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { pageByName, readCursor, toPage, type Page } from "../paging.ts";
import {
  deliveryListSchema,
  type WebhookDelivery,
  type WebhookEndpoint,
  webhookCreationSchema,
  webhookListSchema,
  webhookRotationSchema,
} from "./schema.ts";
import { shownAddress } from "./shown-address.ts";

const SECRET_BYTES = 32;
/** Maximum number of endpoints of one organization, or of the installation. One event can cause a message to each. */
const MAX_WEBHOOKS = 20;

/**
 * Adds an endpoint. Returns its secret if its messages are signed; the secret is shown only once. An endpoint without a
 * `url` has the secret that signs messages to the `webhook_url` of jobs; an organization has one such secret.
 */
export async function addWebhook(
  context: AdminContext,
  { routingKey, ...fields }: z.output<typeof webhookCreationSchema>,
): Promise<{ endpoint: WebhookEndpoint; secret: string | null }> {
  const { store, by, clock } = context;
  const { organizationId, format } = fields;
  if (organizationId !== null) await getOrganization({ store }, organizationId);
  else if (!decidesForAll(context))
    throw new AdminError(403, "organizationId", operatorMessage("error.webhook.installation", {}));
  if ((format === "pagerduty") !== (routingKey !== undefined))
    throw new AdminError(400, "routingKey", operatorMessage("error.webhook.routingKey", {}));
  const url = format === "pagerduty" ? (fields.url ?? PAGERDUTY_ADDRESS) : fields.url;
  if (url === null && (format !== "standard" || organizationId === null))
    throw new AdminError(400, "url", operatorMessage("error.webhook.url", {}));
  if (url !== null && !isReachable(url, context.catalogue.allowedNetworks))
    throw new AdminError(400, "url", operatorMessage("error.webhook.address", {}));
  const others = await store.webhooks.list(organizationId);
  if (routingKey === undefined && others.some((other) => other.url === url))
    throw new AdminError(409, "url", operatorMessage("error.webhook.taken", {}));
  if (others.length >= MAX_WEBHOOKS)
    throw new AdminError(409, null, operatorMessage("error.webhook.most", { most: MAX_WEBHOOKS }));
  const endpoint = { id: newId("hook"), organizationId, format, url, createdAt: clock.now() };
  const secret = format === "standard" ? newSecret() : null;
  await store.webhooks.add({ ...endpoint, secret: secret ?? routingKey ?? "" }, by);
  return { endpoint, secret };
}

/**
 * True for a link to an allowed address. If there are allowed networks, every host name is accepted here, because each
 * call checks its address.
 */
function isReachable(url: string, networks: readonly string[]): boolean {
  if (readLink(url)) return true;
  const link = networks.length === 0 ? null : readAddress(url);
  return link !== null && (!link.isAddress || new NetworkGuard(networks).allows(link.host));
}

/** Returns endpoints, oldest first. */
export async function listWebhooks(
  context: AdminContext,
  input: z.output<typeof webhookListSchema>,
): Promise<Page<WebhookEndpoint>> {
  const { organizationId, ...page } = input;
  if (organizationId !== undefined) await getOrganization(context, organizationId);
  const endpoints = await context.store.webhooks.list(organizationId);
  const shown = endpoints.map((endpoint) =>
    Object.assign({ ...endpoint }, { url: shownAddress(context, endpoint.url) }),
  );
  return pageByName(shown, page, ({ id }) => id);
}

export async function removeWebhook({ store, by }: AdminContext, id: string): Promise<void> {
  if (!(await store.webhooks.remove(id, by))) throw unknown(id);
}

/** Gives an endpoint a new secret and returns it. The earlier secret also signs until the overlap has passed. */
export async function rotateWebhook(
  { store, by }: AdminContext,
  id: string,
  input: z.output<typeof webhookRotationSchema>,
): Promise<{ secret: string }> {
  const { overlapMs } = input;
  const secret = newSecret();
  if (!(await store.webhooks.rotate(id, secret, overlapMs, by)))
    throw new AdminError(404, "id", `there is no webhook "${id}" that signs its messages`);
  return { secret };
}

/** Returns the messages to endpoints with the state of their delivery, newest first. */
export async function listDeliveries(
  context: AdminContext,
  input: z.output<typeof deliveryListSchema>,
): Promise<Page<WebhookDelivery>> {
  const { cursor, limit, ...filter } = input;
  if (filter.organizationId !== undefined) await getOrganization(context, filter.organizationId);
  const page = { ...filter, below: readCursor(cursor), limit: limit + 1 };
  const deliveries = await context.store.webhooks.deliveries(page);
  const shown = deliveries.map((delivery) =>
    Object.assign({ ...delivery }, { url: shownAddress(context, delivery.url) }),
  );
  return toPage(shown, limit);
}

export async function redeliver({ store, by }: AdminContext, id: string): Promise<void> {
  if (!(await store.webhooks.redeliver(id, by)))
    throw new AdminError(404, "id", operatorMessage("error.missing", { noun: "delivery", id }));
}

/** Makes a secret in the form that Standard Webhooks defines. */
function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
}

function unknown(id: string): AdminError {
  return new AdminError(404, "id", operatorMessage("error.missing", { noun: "webhook", id }));
}
