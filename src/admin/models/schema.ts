import { z } from "zod";
import { flagSchema, targetReasoningSchema } from "../input.ts";
import { pageFields } from "../paging.ts";

const id = z.string().min(1).max(128);

const route = z.strictObject({
  strategy: z.enum(["ordered", "weighted"]).default("ordered"),
  targets: z
    .array(
      z.strictObject({
        channel: z.string().min(1),
        upstreamModel: z
          .string()
          .min(1)
          .optional()
          .describe("The vendor's name; the model's id where absent"),
        weight: z.int().min(1).max(1_000_000).default(1),
        reasoning: targetReasoningSchema,
      }),
    )
    .min(1)
    .max(16),
});

const fields = {
  displayName: z.string().min(1).max(200),
  isDisabled: z.boolean().describe("Callers see nothing of a disabled model"),
  route: route.describe("Where its requests go, unless an organization has a route of its own"),
  definition: z
    .record(z.string(), z.unknown())
    .describe("Everything else, as under `models.<id>` in the configuration file"),
};

export const modelCreationSchema = z.strictObject({
  id,
  displayName: fields.displayName.optional(),
  isDisabled: fields.isDisabled.optional(),
  route: fields.route.optional(),
  definition: fields.definition.optional(),
});

/** Null removes a field, or a name in `definition`. The catalogue's value then applies, if there is one. */
export const modelChangeSchema = z.strictObject({
  displayName: fields.displayName.nullable().optional(),
  isDisabled: fields.isDisabled.nullable().optional(),
  route: fields.route.nullable().optional(),
  definition: fields.definition.optional(),
  version: z.int().nullable().optional(),
});

export const modelsInputSchema = z.strictObject({
  id: id.optional().describe("Exactly this model"),
  organizationId: z.string().optional().describe("Whose prices are shown; else those of every organization"),
  search: z.string().max(200).optional().describe("A part of the id, the name or the owner"),
  type: z.enum(["image", "chat", "messages", "embedding"]).optional(),
  origin: z.enum(["file", "database", "catalogue"]).optional(),
  isRoutable: flagSchema.optional(),
  cursor: z.string().max(200).optional(),
  limit: pageFields.limit,
});

const amounts = z.record(z.string(), z.string());

export const modelSchema = z.object({
  id: z.string(),
  type: z.enum(["image", "chat", "messages", "embedding"]),
  displayName: z.string(),
  ownedBy: z.string(),
  origin: z.enum(["file", "environment", "database", "catalogue"]),
  isOverride: z.boolean().describe("Whether it changes a shipped model"),
  isRoutable: z.boolean().describe("Whether a channel serves it now"),
  isDisabled: z.boolean(),
  isRetired: z.boolean(),
  shutdownDate: z.string().nullable(),
  endpoints: z.array(z.string()),
  route: z.object({
    strategy: z.enum(["ordered", "weighted"]),
    targets: z.array(
      z.object({
        channel: z.string(),
        upstreamModel: z.string(),
        weight: z.int(),
        reasoning: targetReasoningSchema,
      }),
    ),
    isOwn: z.boolean().describe("Whether it is declared, not the catalogue's"),
  }),
  image: z
    .object({
      family: z.enum(["A", "B", "C", "D"]),
      tiers: z.array(z.enum(["1K", "2K", "4K"])),
      ratios: z.array(z.string()),
      sizes: z.record(z.string(), z.record(z.string(), z.string())),
      bounds: z
        .object({
          minPixels: z.int(),
          maxPixels: z.int(),
          maxEdge: z.int(),
          multiple: z.int(),
          maxRatio: z.number(),
        })
        .nullable(),
      qualities: z.array(z.string()).describe("Empty where the request's quality is not used"),
      backgrounds: z.array(z.string()),
      formats: z.array(z.string()),
      vendorFormats: z.array(z.string()).describe("Those that need no conversion"),
      maxReferences: z.int(),
      hasMasks: z.boolean(),
      maxImages: z.int(),
    })
    .nullable(),
  text: z
    .object({
      maxOutputTokens: z.int(),
      defaultOutputTokens: z.int(),
      modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }),
      hasTools: z.boolean(),
      reasoning: z.string().nullable(),
      allowedFeatures: z.array(z.string()).nullable(),
    })
    .nullable(),
  embedding: z.object({ dimensions: z.int() }).nullable(),
  price: z
    .object({
      currency: z.string(),
      unit: z.enum(["image", "token"]),
      perImage: z.record(z.string(), amounts).nullable().describe("By tier, then by quality or `*`"),
      perMillion: amounts.nullable().describe("By category of tokens"),
    })
    .nullable()
    .describe("Price in force now: the named organization's, else the default one"),
  definition: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe("What is declared, as in the configuration file"),
  problems: z.array(z.string()),
  version: z.int().nullable().describe("Null for one that is not in the database"),
});
