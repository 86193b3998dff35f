import { z } from "zod";
import { MIN_PASSWORD_LENGTH } from "../../lib/secret.ts";
import { ROLES } from "../roles.ts";
import { timeCodec } from "../output.ts";

export const roleSchema = z.enum(ROLES);

export const accessOrganizationsSchema = z.union([z.literal("*"), z.array(z.string()).min(1).max(1000)], {
  error: 'must be "*" or a list of organization ids',
});

export const memberSchema = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  role: roleSchema,
  organizations: accessOrganizationsSchema,
  isDisabled: z.boolean(),
  isTotpOn: z.boolean(),
  hasPassword: z.boolean(),
  mustChangePassword: z.boolean(),
  hasIdentity: z.boolean().describe("Whether the member has signed in at the identity provider"),
  lastSeenAt: timeCodec.nullable(),
  createdAt: timeCodec,
  version: z.int(),
});

/** Longer ones only cost time to hash. */
const MAX_PASSWORD_LENGTH = 256;

const passwordSchema = z
  .string()
  .min(MIN_PASSWORD_LENGTH, { error: `must have at least ${MIN_PASSWORD_LENGTH} characters` })
  .max(MAX_PASSWORD_LENGTH);

/** A password that somebody tries, right or wrong. */
export const triedPasswordSchema = z.string().max(MAX_PASSWORD_LENGTH);

export const passwordChangeSchema = z.strictObject({ current: triedPasswordSchema, next: passwordSchema });

export const memberEmailSchema = z
  .email({ error: "must be an e-mail address" })
  .max(254)
  .transform((text) => text.toLowerCase());

const emailSchema = memberEmailSchema.nullable();

export const memberNameSchema = z
  .string()
  .trim()
  .regex(/^[\w.@+-]{1,100}$/, { error: "must be letters, digits and . _ @ + - only, at most 100" })
  .describe("What the member signs in with");

export const memberCreationSchema = z.strictObject({
  name: memberNameSchema,
  email: emailSchema.default(null),
  role: roleSchema,
  organizations: accessOrganizationsSchema,
  password: passwordSchema
    .nullable()
    .optional()
    .describe("Absent: one is generated; null: none, for the identity provider"),
});

export const memberChangeSchema = z
  .strictObject({
    email: emailSchema,
    role: roleSchema,
    organizations: accessOrganizationsSchema,
    isDisabled: z.boolean(),
    isTotpOn: z.literal(false).describe("Turns TOTP off for a member who lost the authenticator"),
    version: z.int(),
  })
  .partial();
