import { z } from "zod";
import { operation } from "./operation.ts";
import { doneSchema, isoTime, isoTimeSchema, pageOf } from "./output.ts";
import type { WebhookDelivery, WebhookEndpoint } from "./webhook-ports.ts";
import {
  addWebhook,
  deliveryListSchema,
  listDeliveries,
  listWebhooks,
  redeliver,
  removeWebhook,
  rotateWebhook,
  webhookCreationSchema,
  webhookListSchema,
  webhookRotationSchema,
} from "./webhooks.ts";

const webhookSchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  url: z.string().nullable().describe("Null signs for the `webhook_url` of jobs"),
  createdAt: isoTimeSchema,
});

const deliverySchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  jobId: z.string(),
  event: z.string(),
  url: z.string(),
  status: z.enum(["waiting", "delivered", "failed"]),
  attempts: z.int(),
  nextAt: isoTimeSchema.nullable(),
  createdAt: isoTimeSchema,
  endedAt: isoTimeSchema.nullable(),
  lastResult: z.string().nullable().describe("What the last attempt ended with"),
});

const secretSchema = z.string().describe("Signs messages as Standard Webhooks; shown only now");

const idSchema = z.strictObject({ id: z.string() });

export const webhookOperations = {
  "webhooks.list": operation({
    method: "GET",
    path: "/webhooks",
    summary: "Addresses that are told of the ends of jobs, oldest first",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: webhookListSchema,
    output: pageOf(webhookSchema),
    async run(context, input) {
      const { data, next } = await listWebhooks(context, input);
      return { data: data.map(toView), next };
    },
  }),
  "webhooks.create": operation({
    method: "POST",
    path: "/webhooks",
    summary: "Tell an address of every end of a job; without an address, sign for the `webhook_url` of jobs",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: webhookCreationSchema,
    output: z.object({ secret: secretSchema, webhook: webhookSchema }),
    async run(context, input) {
      const { endpoint, secret } = await addWebhook(context, input);
      return { secret, webhook: toView(endpoint) };
    },
  }),
  "webhooks.remove": operation({
    method: "DELETE",
    path: "/webhooks/{id}",
    summary: "Remove an address; what waits for it is not sent any more",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: doneSchema,
    async run(context, { id }) {
      await removeWebhook(context, id);
      return { done: true as const };
    },
  }),
  "webhooks.rotate": operation({
    method: "POST",
    path: "/webhooks/{id}/rotate",
    summary: "Sign with another secret; the earlier one signs, too, for `overlapMs`",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: webhookRotationSchema.extend(idSchema.shape),
    output: z.object({ secret: secretSchema }),
    run: (context, { id, ...input }) => rotateWebhook(context, id, input),
  }),
  "deliveries.list": operation({
    method: "GET",
    path: "/deliveries",
    summary: "Messages and what became of them, newest first",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: deliveryListSchema,
    output: pageOf(deliverySchema),
    async run(context, input) {
      const { data, next } = await listDeliveries(context, input);
      return { data: data.map(toDeliveryView), next };
    },
  }),
  "deliveries.redeliver": operation({
    method: "POST",
    path: "/deliveries/{id}/redeliver",
    summary: "Send a message again",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: doneSchema,
    async run(context, { id }) {
      await redeliver(context, id);
      return { done: true as const };
    },
  }),
};

function toView({ createdAt, ...shown }: WebhookEndpoint): z.input<typeof webhookSchema> {
  return { ...shown, createdAt: isoTime(createdAt) };
}

function toDeliveryView(delivery: WebhookDelivery): z.input<typeof deliverySchema> {
  const timeOf = (at: number | null) => (at === null ? null : isoTime(at));
  return {
    ...delivery,
    nextAt: timeOf(delivery.nextAt),
    createdAt: isoTime(delivery.createdAt),
    endedAt: timeOf(delivery.endedAt),
  };
}
