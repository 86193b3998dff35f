import { randomBytes } from "node:crypto";
import { z } from "zod";
import { newId } from "../lib/ids.ts";
import { readLink } from "../lib/safe-fetch.ts";
import { AdminError } from "./admin-error.ts";
import type { AdminContext } from "./context.ts";
import { readInput } from "./input.ts";
import { getOrganization } from "./organizations.ts";
import type { WebhookDelivery, WebhookEndpoint } from "./webhook-ports.ts";

const SECRET_BYTES = 32;

const endpointSchema = z.strictObject({
  organizationId: z.string(),
  url: z
    .string()
    .refine((text) => readLink(text) !== null, { error: "must be an https link to a public address" })
    .nullable(),
});

/**
 * Adds an endpoint and returns its secret, which is shown only now. Without a `url` it is the secret that signs for the
 * `webhook_url` of jobs, of which an organization has one.
 */
export async function addWebhook(
  { store, by, clock }: AdminContext,
  input: unknown,
): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const { organizationId, url } = readInput(endpointSchema, input);
  await getOrganization({ store }, organizationId);
  const others = await store.webhooks.list(organizationId);
  if (others.some((other) => other.url === url))
    throw new AdminError(
      409,
      "url",
      "the organization has this endpoint already; `webhooks rotate` changes its secret",
    );
  const endpoint = { id: newId("hook"), organizationId, url, createdAt: clock.now() };
  const secret = newSecret();
  await store.webhooks.add({ ...endpoint, secret }, by);
  return { endpoint, secret };
}

export function listWebhooks({ store }: AdminContext, organizationId?: string): Promise<WebhookEndpoint[]> {
  return store.webhooks.list(organizationId);
}

export async function removeWebhook({ store, by }: AdminContext, id: string): Promise<void> {
  if (!(await store.webhooks.remove(id, by))) throw unknown(id);
}

/** Returns the new secret. The earlier one signs as well until the overlap has passed. */
export async function rotateWebhook(
  { store, by }: AdminContext,
  id: string,
  { overlapMs }: { overlapMs: number },
): Promise<{ secret: string }> {
  const secret = newSecret();
  if (!(await store.webhooks.rotate(id, secret, overlapMs, by))) throw unknown(id);
  return { secret };
}

export function listDeliveries(
  { store }: AdminContext,
  filter: { organizationId?: string; isFailed: boolean; limit: number },
): Promise<WebhookDelivery[]> {
  return store.webhooks.deliveries(filter);
}

export async function redeliver({ store, by }: AdminContext, id: string): Promise<void> {
  if (!(await store.webhooks.redeliver(id, by)))
    throw new AdminError(404, "id", `there is no delivery "${id}"; \`webhooks deliveries\` lists them`);
}

/** As Standard Webhooks writes secrets. */
function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
}

function unknown(id: string): AdminError {
  return new AdminError(404, "id", `there is no webhook "${id}"; \`webhooks list\` lists them`);
}
