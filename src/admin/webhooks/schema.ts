import { z } from "zod";
import { readLink } from "../../lib/safe-fetch.ts";
import { timeCodec } from "../output.ts";
import { isMasked } from "./shown-address.ts";
import { pageFields } from "../paging.ts";

/** An address that receives a message when a job of an organization ends. */
export const webhookSchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  url: z
    .string()
    .nullable()
    .describe("Null signs for the `webhook_url` of jobs; its path is masked for roles below admin"),
  createdAt: timeCodec,
});

export type WebhookEndpoint = z.output<typeof webhookSchema>;

/** A message to one address, and the state of its delivery. */
export const deliverySchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  jobId: z.string(),
  event: z.string(),
  url: z.string(),
  status: z.enum(["waiting", "delivered", "failed"]),
  attempts: z.int(),
  nextAt: timeCodec.nullable(),
  createdAt: timeCodec,
  endedAt: timeCodec.nullable(),
  lastResult: z.string().nullable().describe("What the last attempt ended with"),
});

export type WebhookDelivery = z.output<typeof deliverySchema>;

export const webhookCreationSchema = z.strictObject({
  organizationId: z.string(),
  url: z
    .string()
    .refine((text) => readLink(text) !== null, { error: "must be an https link to a public address" })
    .refine((text) => !isMasked(text), { error: "must be the address itself, not one that is shown masked" })
    .nullable()
    .default(null),
});

export const webhookListSchema = z.strictObject({ organizationId: z.string().optional(), ...pageFields });

const MAX_OVERLAP_MS = 90 * 24 * 60 * 60_000;

export const webhookRotationSchema = z.strictObject({
  overlapMs: z
    .int()
    .min(0)
    .max(MAX_OVERLAP_MS)
    .default(24 * 60 * 60_000),
});

export const deliveryListSchema = z.strictObject({
  organizationId: z.string().optional(),
  jobId: z.string().optional(),
  status: z.enum(["waiting", "delivered", "failed"]).optional(),
  ...pageFields,
});
