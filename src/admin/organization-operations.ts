import { z } from "zod";
import { modelListSchema } from "./input.ts";
import { operation } from "./operation.ts";
import {
  createOrganization,
  disableModels,
  enableModels,
  getOrganization,
  listOrganizations,
  organizationChangeSchema,
  organizationCreationSchema,
  organizationListSchema,
  updateOrganization,
} from "./organizations.ts";
import { isoTime, isoTimeSchema, limitsViewSchema, pageOf, versionViewSchema } from "./output.ts";
import type { OrganizationRecord } from "./ports.ts";

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
  promptLogDays: z
    .int()
    .nullable()
    .describe("For how many days prompts and replies are kept for administrators to read; null keeps none"),
});

const organizationSchema = z.object({
  id: z.string(),
  name: z.string(),
  currency: z.string().describe("ISO 4217"),
  isDisabled: z.boolean(),
  models: z
    .union([z.literal("*"), z.object({ except: z.array(z.string()) }), z.array(z.string())])
    .describe("Models that it may call: all, all but some, or some"),
  settings: settingsViewSchema,
  limits: limitsViewSchema,
  routes: z
    .record(
      z.string(),
      z.object({
        strategy: z.enum(["ordered", "weighted"]),
        targets: z.array(z.object({ channel: z.string(), upstreamModel: z.string(), weight: z.number() })),
      }),
    )
    .describe("Routing of its own by model id"),
  createdAt: isoTimeSchema,
  version: versionViewSchema,
});

const idSchema = z.strictObject({ id: z.string() });

export const organizationOperations = {
  "organizations.list": operation({
    method: "GET",
    path: "/organizations",
    summary: "Organizations, oldest first",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: organizationListSchema,
    output: pageOf(organizationSchema),
    async run(context, input) {
      const { data, next } = await listOrganizations(context, input);
      return { data: data.map(toView), next };
    },
  }),
  "organizations.create": operation({
    method: "POST",
    path: "/organizations",
    summary: "Create an organization",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: organizationCreationSchema,
    output: organizationSchema,
    run: async (context, input) => toView(await createOrganization(context, input)),
  }),
  "organizations.get": operation({
    method: "GET",
    path: "/organizations/{id}",
    summary: "One organization",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: organizationSchema,
    run: async (context, { id }) => toView(await getOrganization(context, id, "id")),
  }),
  "organizations.update": operation({
    method: "PATCH",
    path: "/organizations/{id}",
    summary: "Change what the body names; everything else stays",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: organizationChangeSchema.extend(idSchema.shape),
    output: organizationSchema,
    run: async (context, { id, ...change }) => toView(await updateOrganization(context, id, change)),
  }),
  "organizations.enableModels": operation({
    method: "POST",
    path: "/organizations/{id}/enable-models",
    summary: "Let an organization call models besides those that it may call",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: idSchema.extend({ models: z.union([z.literal("*"), modelListSchema.min(1)]) }),
    output: organizationSchema,
    run: async (context, { id, models }) => toView(await enableModels(context, id, models)),
  }),
  "organizations.disableModels": operation({
    method: "POST",
    path: "/organizations/{id}/disable-models",
    summary:
      "Stop an organization from calling models; one that may call all keeps all others, later ones too",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: idSchema.extend({ models: modelListSchema.min(1) }),
    output: organizationSchema,
    run: async (context, { id, models }) => toView(await disableModels(context, id, models)),
  }),
};

function toView({ createdAt, ...shown }: OrganizationRecord): z.input<typeof organizationSchema> {
  return { ...shown, createdAt: isoTime(createdAt) };
}
