import { z } from "zod";
import { isoTimeSchema, operatorMessageFields } from "../output.ts";
import { channelHealthSchema } from "../status/schema.ts";
import { inputError } from "../../domain/schema-problems.ts";

const id = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, {
  error: inputError("input.channelId", {}),
});
const secret = z.string().min(1).max(65_536);
const address = z
  .url({ protocol: /^https?$/, error: inputError("input.httpAddress", {}) })
  .describe("Address of the vendor; the provider's own where absent");
const headers = z
  .record(z.string().min(1).max(100), z.string().max(4096))
  .describe("Headers of your own for every call, by lower-case name");
const settings = z
  .record(z.string().min(1).max(100), z.unknown())
  .describe("The provider's own settings, as its schema names them");
const milliseconds = z.int().min(1).max(86_400_000);
const deadlines = z
  .strictObject({ firstByteMs: milliseconds, idleMs: milliseconds, totalMs: milliseconds })
  .partial();

/** Text shown in place of a secret. Input with this text keeps the stored secret; 400 when no secret is stored. */
export const MASK = "********";

export const channelCreationSchema = z.strictObject({
  id: id
    .optional()
    .describe("That of the provider's shipped channel where absent, whose models it then serves"),
  provider: z.string().min(1),
  baseUrl: address.optional(),
  credential: secret
    .nullable()
    .optional()
    .describe("Kept encrypted and never shown; null for a server without one"),
  region: z.string().min(1).optional(),
  headers: headers.optional(),
  settings: settings.optional(),
  maxConcurrent: z
    .int()
    .min(1)
    .nullable()
    .optional()
    .describe("Maximum number of concurrent calls from one process"),
  deadlines: deadlines.optional(),
  isOwnServer: z.boolean().optional(),
});

/** Null removes a field. In `headers` and `settings`, null removes a name, and a missing name stays unchanged. */
export const channelChangeSchema = z
  .strictObject({
    baseUrl: address.nullable(),
    credential: secret.nullable(),
    region: z.string().min(1).nullable(),
    headers: z.record(z.string().min(1).max(100), z.string().max(4096).nullable()),
    settings,
    maxConcurrent: z.int().min(1).nullable(),
    deadlines: deadlines.nullable(),
    isOwnServer: z.boolean().nullable(),
    version: z.int(),
  })
  .partial();

/** A channel to test: an existing channel, an existing channel with changes, or a new channel. */
export const channelTestSchema = channelChangeSchema
  .omit({ version: true })
  .extend({ id: z.string().optional(), provider: z.string().optional() });

export const channelSchema = z.object({
  id: z.string(),
  provider: z.string(),
  origin: z.enum(["file", "environment", "database", "catalogue"]),
  baseUrl: z.string().nullable().describe("Where it calls; null where the provider finds it from the region"),
  hasCredential: z.boolean(),
  credentialEnd: z.string().nullable().describe("Last four characters of the credential"),
  region: z.string().nullable(),
  settings: z.record(z.string(), z.unknown()).describe("Secrets masked"),
  headers: z.record(z.string(), z.string()).describe("Masked, unless a header is known to hold no secret"),
  maxConcurrent: z.int().nullable(),
  deadlines: z.object({ firstByteMs: z.int(), idleMs: z.int(), totalMs: z.int() }).partial().nullable(),
  isOwnServer: z.boolean(),
  isUsable: z.boolean(),
  problems: z.array(z.string()).describe("Why it cannot be used"),
  health: channelHealthSchema
    .nullable()
    .describe("Null for one that cannot be used, in the answer to a change, and while the database is away"),
  createdAt: isoTimeSchema.nullable(),
  version: z.int().nullable().describe("Null for one that is not in the database"),
});

export const channelUsesSchema = z.object({
  models: z.array(z.string()).describe("Models whose default route names it"),
  unroutable: z.array(z.string()).describe("Those of them that nothing else serves"),
  fallbackOf: z.array(z.string()).describe("Organizations whose fallback after a timeout it is"),
  organizationRoutes: z.array(z.object({ organizationId: z.string(), model: z.string() })),
});

export const channelTestResultSchema = z.object({
  ok: z.boolean(),
  ms: z.int(),
  ...operatorMessageFields,
});

export const vendorModelsSchema = z.object({
  models: z
    .array(z.string())
    .nullable()
    .describe("The vendor's names, 2,000 at most; null where the call failed or it has no list"),
  ...operatorMessageFields,
});

export const providerSchema = z.object({
  name: z.string(),
  title: z.string(),
  documentation: z.string(),
  settings: z.record(z.string(), z.unknown()).describe("JSON Schema of the provider's own settings"),
  credential: z.enum(["required", "optional", "none"]),
  defaultBaseUrl: z.string().nullable(),
  needsBaseUrl: z.boolean(),
  hasRegion: z.boolean(),
  regions: z.array(z.string()).nullable().describe("The regions there are; null for any"),
  hasHeaders: z.boolean(),
  listsModels: z.boolean().describe("Whether the gateway can read the vendor's list of models"),
  shippedChannels: z
    .array(
      z.object({
        id: z.string(),
        baseUrl: z.string().nullable(),
        settings: z.record(z.string(), z.unknown()),
        models: z.int().describe("Shipped models that it serves"),
        isTaken: z.boolean().describe("Whether there is a channel with this id"),
      }),
    )
    .describe("Ids with which a channel serves shipped models"),
});
