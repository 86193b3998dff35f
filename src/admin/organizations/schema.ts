import { z } from "zod";
import {
  MAX_LISTED,
  currencySchema,
  limitsSchema,
  modelListSchema,
  nameSchema,
  targetReasoningSchema,
  versionSchema,
} from "../input.ts";
import { limitsViewSchema, timeCodec, versionViewSchema } from "../output.ts";
import { pageFields } from "../paging.ts";
import { inputError } from "../../domain/schema-problems.ts";

/** Models that an organization may call: all models, including later ones; all except some; or only some. */
const enabledModelsSchema = z.union([
  z.literal("*"),
  z.object({ except: z.array(z.string()) }),
  z.array(z.string()),
]);

export type EnabledModels = z.output<typeof enabledModelsSchema>;

const routeRecordSchema = z.object({
  strategy: z.enum(["ordered", "weighted"]),
  targets: z.array(
    z.object({
      channel: z.string(),
      upstreamModel: z.string(),
      weight: z.number(),
      reasoning: targetReasoningSchema,
    }),
  ),
});

export type RouteRecord = z.output<typeof routeRecordSchema>;

const settingsViewSchema = z.object({
  forceImageUrls: z
    .boolean()
    .nullable()
    .describe("Whether image responses have links in place of data; null leaves it to the request"),
  nativeImageUrls: z.boolean().describe("The same for the native protocol"),
  fallbackAfterMs: z.int().nullable().describe("Milliseconds after which the next target is tried"),
  fallbackChannel: z
    .string()
    .nullable()
    .describe(
      "The channel called after that time, where the model has a target there; null is the next target",
    ),
  linkHours: z.number().nullable().describe("How long links to pictures are valid; null is as configured"),
  callerGone: z.enum(["abort", "drain"]).describe("What becomes of a call whose caller hangs up"),
  failOverRefusals: z.boolean().describe("Whether a content refusal tries the next target"),
  refuseIgnored: z
    .boolean()
    .describe(
      "Refuses a field that would have no effect, in place of naming it in `x-gateway-ignored-params`",
    ),
  promptLogDays: z
    .int()
    .nullable()
    .describe("For how many days prompts and replies are kept for administrators to read; null keeps none"),
});

export const organizationSchema = z.object({
  id: z.string(),
  name: z.string(),
  currency: z.string().describe("ISO 4217"),
  isDisabled: z.boolean(),
  models: enabledModelsSchema.describe("Models that it may call: all, all but some, or some"),
  settings: settingsViewSchema,
  limits: limitsViewSchema,
  routes: z.record(z.string(), routeRecordSchema).describe("Routing of its own by model id"),
  createdAt: timeCodec,
  version: versionViewSchema,
});

export type OrganizationRecord = z.output<typeof organizationSchema>;

const settingsSchema = z
  .strictObject({
    forceImageUrls: z.boolean().nullable(),
    nativeImageUrls: z.boolean(),
    fallbackAfterMs: z.int().min(1000).max(3_600_000).nullable(),
    fallbackChannel: z.string().nullable(),
    linkHours: z.number().min(0.01).max(168).nullable(),
    callerGone: z.enum(["abort", "drain"]),
    failOverRefusals: z.boolean(),
    refuseIgnored: z.boolean(),
    promptLogDays: z.int().min(1).max(365).nullable(),
  })
  .partial();

const modelsSchema = z.union(
  [z.literal("*"), modelListSchema, z.strictObject({ except: modelListSchema.min(1) })],
  { error: inputError("input.enabledModels", { most: MAX_LISTED }) },
);

export const organizationListSchema = z.strictObject({ search: z.string().optional(), ...pageFields });

export const organizationCreationSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, {
      error: inputError("input.organizationId", {}),
    })
    .optional(),
  name: nameSchema,
  currency: currencySchema.default("USD"),
  models: modelsSchema.default("*"),
  settings: settingsSchema.default({}),
  limits: limitsSchema.default({}),
});

export const organizationChangeSchema = z.strictObject({
  name: nameSchema.optional(),
  isDisabled: z.boolean().optional(),
  models: modelsSchema.optional(),
  version: versionSchema,
  settings: settingsSchema.optional(),
  limits: limitsSchema.optional(),
});
