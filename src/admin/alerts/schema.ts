import { z } from "zod";
import { nameSchema, versionSchema } from "../input.ts";
import { figuresSchema, messageCodeSchema, timeCodec, versionViewSchema } from "../output.ts";
import { pageFields } from "../paging.ts";
import { inputError } from "../../domain/schema-problems.ts";

export const alertSchema = z.object({
  id: z.string(),
  organizationId: z.string().nullable().describe("Null for a rule of the installation"),
  name: z.string(),
  settings: z.discriminatedUnion("kind", [
    z.object({
      kind: z.literal("budget"),
      percents: z.array(z.int()).readonly().describe("Shares of the amount, in percent"),
      budgetId: z.string().nullable().describe("Null is every budget of the organization and its keys"),
    }),
    z.object({ kind: z.literal("error_rate"), percent: z.int(), minutes: z.int(), minRequests: z.int() }),
    z.object({ kind: z.literal("ejection"), seconds: z.int() }),
    z.object({ kind: z.literal("status"), severity: z.enum(["warning", "critical"]) }),
  ]),
  emails: z.array(z.string()).readonly(),
  usesWebhooks: z
    .boolean()
    .describe("Whether the webhook endpoints of the organization, or of the installation, get a message"),
  isDisabled: z.boolean(),
  createdAt: timeCodec,
  version: versionViewSchema,
});

export type AlertRecord = z.output<typeof alertSchema>;

export const eventSchema = z.object({
  id: z.string(),
  alertId: z.string(),
  organizationId: z.string().nullable(),
  alertName: z.string(),
  kind: z.enum(["budget", "error_rate", "ejection", "status"]),
  severity: z.enum(["warning", "critical"]),
  subject: z.string().describe("A budget's id, a target, `requests`, or the subject of a cause"),
  message: z.string(),
  code: messageCodeSchema
    .nullable()
    .describe("Which sentence it is; null for one that an earlier version has found"),
  figures: figuresSchema,
  firedAt: timeCodec,
  resolvedAt: timeCodec.nullable().describe("Null while it lasts"),
  endReason: z
    .enum(["disabled", "removed"])
    .nullable()
    .describe("What ended it with its alert; null where it lasts or what was found is over"),
});

/** A message about an event, and the state of its delivery. */
export const noticeSchema = z.object({
  way: z.enum(["mail", "webhook"]),
  to: z.string(),
  status: z.enum(["waiting", "delivered", "failed"]),
  attempts: z.int(),
  result: z.string().nullable().describe("What the last attempt ended with"),
  resultCode: messageCodeSchema.nullable().describe("Which sentence the result is"),
  resultFigures: figuresSchema,
});

export type AlertNotice = z.output<typeof noticeSchema>;

export const toldEventSchema = eventSchema.extend({
  notices: z.array(noticeSchema).describe("Its messages; none where a rule only lists what it finds"),
});

const MAX_EMAILS = 20;

const settingsSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("budget"),
    percents: z.array(z.int().min(1).max(100)).min(1).max(10).default([80, 100]),
    budgetId: z.string().nullable().default(null),
  }),
  z.strictObject({
    kind: z.literal("error_rate"),
    percent: z.int().min(1).max(100).default(5),
    minutes: z.int().min(1).max(1440).default(10),
    minRequests: z.int().min(1).max(1_000_000).default(20),
  }),
  z.strictObject({
    kind: z.literal("ejection"),
    seconds: z.int().min(10).max(86_400).default(60),
  }),
  z.strictObject({
    kind: z.literal("status"),
    severity: z.enum(["warning", "critical"]).default("critical"),
  }),
]);

const ruleFields = {
  name: nameSchema,
  settings: settingsSchema,
  emails: z.array(z.email({ error: inputError("input.email", {}) })).max(MAX_EMAILS),
  usesWebhooks: z.boolean(),
};

export const alertCreationSchema = z.strictObject({
  organizationId: z
    .string()
    .nullable()
    .default(null)
    .describe("Null for a rule of the installation, which watches all organizations"),
  ...ruleFields,
  emails: ruleFields.emails.default([]),
  usesWebhooks: ruleFields.usesWebhooks.default(false),
});

export const alertChangeSchema = z
  .strictObject({ ...ruleFields, isDisabled: z.boolean() })
  .partial()
  .extend({ version: versionSchema });

export const alertListSchema = z.strictObject({ organizationId: z.string().optional(), ...pageFields });

export const alertEventListSchema = alertListSchema.extend({
  state: z.enum(["open", "all"]).default("all"),
});
