import { z } from "zod";
import {
  MAX_LISTED,
  limitsSchema,
  modelListSchema,
  nameSchema,
  timeSchema,
  versionSchema,
} from "../input.ts";
import { amountCodec, limitsViewSchema, timeCodec, versionViewSchema } from "../output.ts";
import { parseAddressList } from "../../lib/cidr.ts";
import { isWellFormedSecret } from "../../lib/secret.ts";
import { pageFields } from "../paging.ts";
import { inputError } from "../../domain/schema-problems.ts";

export const KEY_STATES = ["active", "disabled", "expired"] as const;
export type KeyState = (typeof KEY_STATES)[number];

export const keySchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  name: z.string(),
  prefix: z.string().describe("First characters of the secret"),
  scopes: z.array(z.enum(["ai:*", "ai:image", "ai:llm"])),
  models: z.union([z.literal("*"), z.array(z.string())]),
  addresses: z.array(z.string()).nullable(),
  limits: limitsViewSchema,
  isDisabled: z.boolean(),
  refuseIgnored: z
    .boolean()
    .describe(
      "Refuses a field that would have no effect, in place of naming it in `x-gateway-ignored-params`",
    ),
  expiresAt: timeCodec.nullable(),
  createdAt: timeCodec,
  version: versionViewSchema,
});

export type KeyRecord = z.output<typeof keySchema> & {
  /** Lower-case hex SHA-256 of the secret. */
  hash: string;
};

/** A key in a list, with its budgets and the times of its last uses. */
export const listedKeySchema = keySchema.extend({
  lastUsedAt: timeCodec.nullable().describe("When it was last charged for a request"),
  lastSeenAt: timeCodec
    .nullable()
    .describe("When its last request came, also one that was refused or failed"),
  budgets: z.array(
    z.object({
      id: z.string(),
      amount: amountCodec,
      spent: amountCodec,
      period: z.enum(["total", "day", "month"]),
    }),
  ),
});

const scopesSchema = z.array(z.enum(["ai:*", "ai:image", "ai:llm"])).min(1);

const modelsSchema = z.union([z.literal("*"), modelListSchema], {
  error: inputError("input.models", { most: MAX_LISTED }),
});

const addressesSchema = z
  .array(z.string().refine(isAddress, { error: inputError("input.network", {}) }))
  .min(1)
  .max(MAX_LISTED)
  .nullable();

const expirySchema = timeSchema.nullable();

export const keyCreationSchema = z.strictObject({
  organizationId: z.string(),
  name: nameSchema,
  scopes: scopesSchema.default(["ai:*"]),
  models: modelsSchema.default("*"),
  addresses: addressesSchema.default(null),
  limits: limitsSchema.default({}),
  refuseIgnored: z.boolean().default(false),
  expiresAt: expirySchema.default(null),
  secret: z
    .string()
    .refine(isWellFormedSecret, {
      error: inputError("input.keySecret", {}),
    })
    .describe("Of a key that moves here from another gateway; made anew when absent")
    .optional(),
});

export const keyChangeSchema = z
  .strictObject({
    name: nameSchema,
    scopes: scopesSchema,
    models: modelsSchema,
    addresses: addressesSchema,
    limits: limitsSchema,
    isDisabled: z.boolean(),
    refuseIgnored: z.boolean(),
    expiresAt: expirySchema,
    version: versionSchema,
  })
  .partial();

export const keyListSchema = z.strictObject({
  organizationId: z.string().optional(),
  search: z.string().optional(),
  state: z.enum(KEY_STATES).optional(),
  ...pageFields,
});

const MAX_OVERLAP_MS = 90 * 24 * 60 * 60_000;

export const keyRotationSchema = z.strictObject({ overlapMs: z.int().min(0).max(MAX_OVERLAP_MS) });

function isAddress(text: string): boolean {
  try {
    parseAddressList([text]);
    return true;
  } catch {
    return false;
  }
}
