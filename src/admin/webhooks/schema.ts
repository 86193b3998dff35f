import { z } from "zod";
import { WEBHOOK_FORMATS } from "../../domain/webhook-message.table.ts";
import { readAddress } from "../../lib/safe-fetch.ts";
import { figuresSchema, messageCodeSchema, timeCodec } from "../output.ts";
import { isMasked } from "./shown-address.ts";
import { pageFields } from "../paging.ts";
import { inputError } from "../../domain/schema-problems.ts";

const FORMATS =
  "`standard`: signed messages about jobs and alerts; `slack`: an incoming webhook, `pagerduty`: the Events API v2, about alerts alone";

/** An address that gets messages about an organization's jobs and alerts, or about the alerts of the installation. */
export const webhookSchema = z.object({
  id: z.string(),
  organizationId: z.string().nullable().describe("Null for the alerts of the installation"),
  format: z.enum(WEBHOOK_FORMATS).describe(FORMATS),
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
  organizationId: z.string().nullable(),
  jobId: z.string().describe("Empty of an alert"),
  event: z.string(),
  url: z.string(),
  status: z.enum(["waiting", "delivered", "failed"]),
  attempts: z.int(),
  nextAt: timeCodec.nullable(),
  createdAt: timeCodec,
  endedAt: timeCodec.nullable(),
  lastResult: z.string().nullable().describe("What the last attempt ended with"),
  resultCode: messageCodeSchema.nullable().describe("Which sentence the result is"),
  resultFigures: figuresSchema,
});

export type WebhookDelivery = z.output<typeof deliverySchema>;

export const webhookCreationSchema = z.strictObject({
  organizationId: z.string().nullable().describe("Null for the alerts of the installation"),
  format: z.enum(WEBHOOK_FORMATS).default("standard").describe(FORMATS),
  url: z
    .string()
    .refine((text) => readAddress(text) !== null, { error: inputError("input.webhookUrl", {}) })
    .refine((text) => !isMasked(text), { error: inputError("input.unmasked", {}) })
    .nullable()
    .default(null)
    .describe("Null signs for the `webhook_url` of jobs; with `pagerduty` it is the usual address"),
  routingKey: z
    .string()
    .regex(/^[A-Za-z0-9]{32}$/, { error: inputError("input.routingKey", {}) })
    .optional()
    .describe("The integration key of a service, with `pagerduty` alone; it is not shown again"),
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
