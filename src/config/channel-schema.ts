import { z } from "zod";
import {
  isSecretReference,
  secretReferenceSchema,
  wrongSecret,
  type OpenedSecret,
} from "./secret-reference.ts";
import { httpUrl } from "./server-schema.ts";
import { inputError } from "../domain/schema-problems.ts";

const integerMs = z.int().min(1).max(86_400_000);
/** The fields of timeouts. They occur in the defaults for all channels and in each channel. */
export const deadlineFields = {
  first_byte_ms: integerMs.describe("Until the first byte of a stream, or the response with images"),
  idle_ms: integerMs.describe("Longest silence in a response"),
  total_ms: integerMs.describe("The whole call"),
};

/** Value of `credential` for a channel whose server requires no credential. */
export const NO_CREDENTIAL = "none";

/** A channel in the configuration file: one connection to a vendor. */
export const channelSchema = z.strictObject({
  provider: z.string().min(1).describe("Name of the provider adapter"),
  base_url: httpUrl.optional().describe("Address of the vendor; the provider's own where absent"),
  credential: z
    .union([secretReferenceSchema, z.literal(NO_CREDENTIAL)], { error: wrongSecret })
    .optional()
    .describe('A secret by reference: {env: NAME} or {file: path}; "none" for a server without one'),
  headers: z
    .record(z.string().min(1), z.union([secretReferenceSchema, z.string()]))
    .optional()
    .describe("Headers of your own for every call, by lower-case name; secrets by reference"),
  region: z.string().min(1).optional().describe("For vendors that have regions"),
  settings: z
    .record(z.string(), z.unknown())
    .default({})
    .describe("The provider's own settings; secrets in it by reference, too"),
  own_server: z
    .boolean()
    .optional()
    .describe("True for a server of your own: chat requests with links are then refused for it"),
  max_concurrent: z.int().min(1).optional().describe("Maximum number of concurrent calls from one process"),
  deadlines: z.strictObject(deadlineFields).partial().optional().describe("In place of the general ones"),
});

export const channelIdSchema = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, {
  error: inputError("input.channelId.unusable", {}),
});

type FileChannel = z.output<typeof channelSchema>;

/** A channel that the file, the database or the catalogue declares. */
export type DeclaredChannel = Omit<FileChannel, "credential" | "headers"> & {
  credential?: FileChannel["credential"] | OpenedSecret;
  headers?: Record<string, NonNullable<FileChannel["headers"]>[string] | OpenedSecret>;
  private_networks?: true;
};

const NOT_TEXT = inputError("input.text", {});
const sealedSchema = z.strictObject({ sealed: z.string() });

/**
 * A channel in the database. Its secrets are sealed; they are never references, because whoever writes the channel may
 * not read the variables and files of the process.
 */
export const storedChannelSchema = channelSchema.extend({
  credential: z.union([sealedSchema, z.literal(NO_CREDENTIAL)], { error: NOT_TEXT }).optional(),
  headers: z.record(z.string().min(1), z.union([sealedSchema, z.string()], { error: NOT_TEXT })).optional(),
  settings: z
    .record(
      z.string(),
      z.unknown().refine((value) => !isSecretReference(value), {
        error: inputError("input.stored.reference", {}),
      }),
    )
    .default({}),
  private_networks: z
    .literal(true)
    .optional()
    .describe("True when an owner chose its addresses, which may then be private ones"),
});

export type StoredChannel = z.output<typeof storedChannelSchema>;

/** True when a part of a stored channel is a sealed secret. */
export function isSealed(part: unknown): part is { sealed: string } {
  return sealedSchema.safeParse(part).success;
}
