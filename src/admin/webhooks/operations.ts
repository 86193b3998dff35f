import { z } from "zod";
import { operation } from "../operation.ts";
import { doneSchema, pageOf } from "../output.ts";
import {
  addWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  removeWebhook,
  rotateWebhook,
} from "./webhooks.ts";
import {
  deliveryListSchema,
  deliverySchema,
  webhookCreationSchema,
  webhookListSchema,
  webhookRotationSchema,
  webhookSchema,
} from "./schema.ts";

const SECRET = "Signs messages as Standard Webhooks; shown only now";
const secretSchema = z.string().describe(SECRET);

const idSchema = z.strictObject({ id: z.string() });

export const webhookOperations = {
  "webhooks.list": operation({
    method: "GET",
    path: "/webhooks",
    summary: "Addresses that are told of the ends of jobs and of alerts, oldest first",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: webhookListSchema,
    output: pageOf(webhookSchema),
    run: listWebhooks,
  }),
  "webhooks.create": operation({
    method: "POST",
    path: "/webhooks",
    summary:
      "Tell an address of every end of a job and of alerts, or Slack or PagerDuty of alerts; without an address, sign for the `webhook_url` of jobs",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: webhookCreationSchema,
    output: z.object({
      secret: z.string().nullable().describe(`${SECRET}. Null where they are not signed`),
      webhook: webhookSchema,
    }),
    async run(context, input) {
      const { endpoint, secret } = await addWebhook(context, input);
      return { secret, webhook: endpoint };
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
    run: listDeliveries,
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
