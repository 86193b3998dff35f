import { z } from "zod";
import type { SealedSecret } from "../configuration/store-port.ts";
import { MIN_PASSWORD_LENGTH } from "../../lib/secret.ts";
import { ROLES } from "../roles.ts";
import { timeCodec } from "../output.ts";
import { inputError } from "../../domain/schema-problems.ts";

export const roleSchema = z.enum(ROLES);

export const accessOrganizationsSchema = z.union([z.literal("*"), z.array(z.string()).min(1).max(1000)], {
  error: inputError("input.organizations", {}),
});

/** The stored fields of a member that are shown unchanged. */
const storedSchema = z.object({
  id: z.string(),
  name: z.string().describe("For signing in; never changes"),
  email: z.string().nullable().describe("In lower case"),
  role: roleSchema,
  organizations: accessOrganizationsSchema,
  isDisabled: z.boolean(),
  mustChangePassword: z.boolean(),
  lastSeenAt: timeCodec.nullable().describe("Time of the last request, to the minute"),
  createdAt: timeCodec,
  version: z.int().describe("Revision of the last change"),
});

export const memberSchema = storedSchema.extend({
  isTotpOn: z.boolean(),
  hasPassword: z.boolean(),
  hasIdentity: z.boolean().describe("True once the member has signed in at the identity provider"),
});

/** A stored member, who administers the gateway. */
export type MemberRecord = z.output<typeof storedSchema> & {
  /** Argon2id hash; null for a member who signs in only at the identity provider. */
  passwordHash: string | null;
  totp: TotpRecord | null;
  /** Issuer and subject of the member at the identity provider. */
  identity: string | null;
};

/** The second factor of a member. */
export interface TotpRecord {
  /** Base32 text, sealed. */
  secret: SealedSecret;
  /** False until the member has entered a first code, which proves that they have the secret. */
  isConfirmed: boolean;
  /** Time step of the last accepted code. Codes of this step and of earlier steps are refused. */
  lastStep: number;
  /** SHA-256 of the recovery codes that are not used yet. */
  recoveryHashes: string[];
}

/** Maximum length. A longer password would only take more time to hash. */
const MAX_PASSWORD_LENGTH = 256;

const passwordSchema = z.string().min(MIN_PASSWORD_LENGTH).max(MAX_PASSWORD_LENGTH);

/** Schema of a password that a caller presents, right or wrong. */
export const triedPasswordSchema = z.string().max(MAX_PASSWORD_LENGTH);

export const passwordChangeSchema = z.strictObject({ current: triedPasswordSchema, next: passwordSchema });

export const memberEmailSchema = z
  .email({ error: inputError("input.email", {}) })
  .max(254)
  .transform((text) => text.toLowerCase());

const emailSchema = memberEmailSchema.nullable();

export const memberNameSchema = z
  .string()
  .trim()
  .regex(/^[\w.@+-]{1,100}$/, { error: inputError("input.memberName", {}) })
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

/** The stored fields of a console session that are shown unchanged. */
const storedSessionSchema = z.object({
  id: z.string(),
  address: z.string(),
  agent: z.string(),
  createdAt: timeCodec,
  seenAt: timeCodec.describe("To the minute"),
});

export const sessionSchema = storedSessionSchema.extend({
  isThis: z.boolean().describe("True for the session of this request"),
  endsAt: timeCodec.describe("Unless it is used before"),
});

/** A stored session of the console. */
export type SessionRecord = z.output<typeof storedSessionSchema> & {
  /** SHA-256 of the session's token. */
  hash: string;
  memberId: string;
};
