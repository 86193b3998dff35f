import { z } from "zod";
import { nameSchema, timeSchema } from "../input.ts";
import { timeCodec } from "../output.ts";
import { accessOrganizationsSchema, roleSchema } from "../members/schema.ts";

/** A bearer token for the administrative interface. */
export const tokenSchema = z.object({
  id: z.string(),
  memberId: z.string().describe("Who created it; it never may do more than that member"),
  name: z.string(),
  role: roleSchema,
  organizations: accessOrganizationsSchema,
  prefix: z.string().describe("First characters of the token"),
  expiresAt: timeCodec,
  lastUsedAt: timeCodec.nullable(),
  createdAt: timeCodec,
});

export type AdminTokenRecord = z.output<typeof tokenSchema> & {
  /** SHA-256 of the token. */
  hash: string;
};

export const tokenCreationSchema = z.strictObject({
  name: nameSchema,
  role: roleSchema,
  organizations: accessOrganizationsSchema,
  expiresAt: timeSchema,
});
