import { z } from "zod";
import { addressOf } from "./address-schema.ts";
import { DEFAULT_KEY_LIMITS, DEFAULT_ORGANIZATION_LIMITS, type Limits } from "../domain/limits.ts";
import { consoleSchema } from "./console-schema.ts";
import { channelIdSchema, channelSchema, deadlineFields } from "./channel-schema.ts";
import { mailSchema, overloadSchema, serverSchema, telemetrySchema } from "./server-schema.ts";
import { secretReferenceSchema } from "./secret-reference.ts";
import { decimal, modelEntrySchema, modelIdSchema } from "./model-schema.ts";
import { targetReasoningSchema } from "../admin/input.ts";

/** A model of the operator, or the fields in which the shipped model with the same id is changed. */
export const fileModelSchema = modelEntrySchema.omit({ upstream_model: true }).extend({
  route: z
    .strictObject({
      strategy: z
        .enum(["ordered", "weighted"])
        .default("ordered")
        .describe("Order of the targets: as listed, or at random by weight"),
      targets: z
        .array(
          z.strictObject({
            channel: z.string().min(1).describe("Id of the channel that is called"),
            upstream_model: z
              .string()
              .min(1)
              .optional()
              .describe("The vendor's name; the model's id where absent"),
            weight: z
              .int()
              .min(1)
              .max(1_000_000)
              .default(1)
              .describe("Its share of the requests of a weighted route"),
            reasoning: targetReasoningSchema,
            context_window: z
              .int()
              .min(1)
              .optional()
              .describe("The context of this target; the model's where absent"),
          }),
        )
        .min(1),
    })
    .optional()
    .describe("Targets of its requests: in order, or by weight with the rest as fallbacks"),
});

/** The whole configuration file. Every key is optional, and unknown keys are refused. */
export const fileSchema = z.strictObject({
  $schema: z.string().optional().describe("Lets editors find the schema"),
  server: serverSchema,
  overload: overloadSchema,
  console: consoleSchema,
  mail: mailSchema,
  telemetry: telemetrySchema,
  data_dir: z.string().min(1).default("./data").describe("Folder of the SQLite file, blobs and the journal"),
  database_url: addressOf("postgres://host/database").describe("PostgreSQL instead of SQLite"),
  database: z
    .strictObject({
      pool_size: z
        .int()
        .min(1)
        .max(1000)
        .default(10)
        .describe(
          "Maximum number of connections to PostgreSQL per process, beside one that writes the ledger and, while administration reads, up to five",
        ),
    })
    .prefault({}),
  redis_url: addressOf("redis://host:6379").describe("Counters shared between processes"),
  blob_url: addressOf("s3://bucket/prefix").describe(
    "S3-compatible storage instead of the disk: s3://ID:SECRET@bucket/prefix?endpoint=…&region=…&style=path",
  ),
  ledger_export: z
    .strictObject({
      url: addressOf("s3://bucket/prefix").describe(
        "S3-compatible storage of the files, an address like that of blob_url; null exports nothing",
      ),
      format: z.enum(["parquet", "jsonl"]).default("parquet").describe("Parquet, or one JSON object a line"),
    })
    .prefault({})
    .describe("Posted ledger entries as files for a warehouse, each minute"),
  blobs: z
    .strictObject({
      link_hours: z
        .number()
        .min(0.01)
        .max(168)
        .default(24)
        .describe("Hours for which a link to an image is valid"),
      retention_days: z.number().min(0.01).max(3650).default(7).describe("Days for which an image is stored"),
    })
    .prefault({}),
  requests: z
    .strictObject({
      log: z
        .enum(["failed", "all"])
        .default("failed")
        .describe(
          "Requests in the request log: those that failed, took several attempts or were slow, or all with a key",
        ),
      slow_seconds: z
        .number()
        .min(0.001)
        .max(3600)
        .default(60)
        .describe("Seconds from which on a request is slow"),
      retention_days: z
        .number()
        .min(0.01)
        .max(3650)
        .default(14)
        .describe("Days for which the request log keeps a request"),
      max_rows: z
        .int()
        .min(1000)
        .default(1_000_000)
        .describe("Requests in the log beyond which the oldest are removed"),
    })
    .prefault({}),
  master_key: masterKey(
    "32 bytes in base64 that encrypt credentials in the database; a file in data_dir without it",
  ),
  master_key_previous: masterKey("The earlier master key, while credentials are encrypted again"),
  log_level: z
    .enum(["debug", "info", "warn", "error"])
    .default("info")
    .describe("Lowest level of log lines that are written; probes are debug"),
  outbound: z
    .strictObject({
      proxy: z
        .enum(["none", "environment"])
        .default("none")
        .describe("Proxy for calls to vendors: none, or that of HTTP_PROXY and HTTPS_PROXY"),
    })
    .prefault({}),
  workers: z.int().min(1).max(256).default(1).describe("Number of processes on the port"),
  jobs: z
    .strictObject({
      concurrency: z
        .int()
        .min(0)
        .max(1000)
        .default(16)
        .describe("Asynchronous jobs that one process runs at once; 0 leaves them to other processes"),
      deadline_seconds: z
        .int()
        .min(10)
        .max(86_400)
        .default(1800)
        .describe("Seconds from a job's submission after which it fails"),
    })
    .prefault({}),
  billing: z
    .strictObject({
      orphan_cost_per_key_hour: decimal
        .nullable()
        .default(null)
        .describe("Cap on what abandoned vendor calls of a key may cost in an hour; null is none"),
    })
    .prefault({}),
  limits: z
    .strictObject({
      default: limitsOf(DEFAULT_ORGANIZATION_LIMITS).describe("Of every organization without its own"),
      key: limitsOf(DEFAULT_KEY_LIMITS).describe("Of every key without its own"),
    })
    .prefault({}),
  sandbox: z
    .strictObject({
      enabled: z
        .boolean()
        .nullable()
        .default(null)
        .describe("Serves the built-in sandbox; null serves it while no vendor is configured"),
      tokens_per_second: z
        .number()
        .positive()
        .nullable()
        .default(null)
        .describe("Speed of its text; null is unlimited"),
    })
    .prefault({}),
  deadlines: z
    .strictObject({
      text: deadlinesOf({ first_byte_ms: 300_000, idle_ms: 300_000, total_ms: 600_000 }).describe(
        "Of text requests",
      ),
      image: deadlinesOf({ first_byte_ms: 600_000, idle_ms: 60_000, total_ms: 900_000 })
        .unwrap()
        .omit({ idle_ms: true })
        .prefault({})
        .describe("Of image requests"),
    })
    .prefault({}),
  routing: z
    .strictObject({
      max_attempts: z
        .int()
        .min(1)
        .max(100)
        .default(3)
        .describe("Maximum number of calls to vendors for one request"),
      retry_ratio: z
        .number()
        .min(0)
        .max(100)
        .default(0.2)
        .describe("Repeated calls to a target within ten seconds, as a share of its first calls"),
      retry_floor: z
        .int()
        .min(0)
        .default(3)
        .describe("Repeated calls to a target that are always possible within ten seconds"),
    })
    .prefault({}),
  channels: z.record(channelIdSchema, channelSchema).default({}).describe("Channels by id"),
  models: z.record(modelIdSchema, fileModelSchema).default({}).describe("Models by the id callers use"),
  catalogue: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe("Whether the shipped vendors and models are used, but for the sandbox"),
    })
    .prefault({}),
});

export type FileSettings = z.output<typeof fileSchema>;
export type FileModel = z.output<typeof fileModelSchema>;

/** Keys that other gateways use, each with the name of the same setting in this gateway. */
export const SYNONYMS: Readonly<Record<string, string>> = {
  api_key: "credential",
  apikey: "credential",
  key: "credential",
  token: "credential",
  secret: "credential",
  type: "provider",
  url: "base_url",
  endpoint: "base_url",
  api_base: "base_url",
  listen: "host",
  bind: "host",
  timeout: "deadlines",
  concurrency: "max_concurrent",
  pricing: "price",
  routes: "route",
};

function limitsOf(defaults: Limits) {
  const limit = (fallback: number | null, what: string) =>
    z.int().min(0).nullable().default(fallback).describe(`${what}; null is no limit`);
  return z
    .strictObject({
      requests_per_minute: limit(defaults.requestsPerMinute, "Text requests a minute"),
      tokens_per_minute: limit(defaults.tokensPerMinute, "Tokens of text requests a minute"),
      images_per_minute: limit(defaults.imagesPerMinute, "Requested images a minute"),
      concurrent_images: limit(defaults.concurrentImages, "Synchronous image requests at once"),
      queued_jobs: limit(defaults.queuedJobs, "Jobs that wait"),
      running_jobs: limit(defaults.runningJobs, "Jobs that run at once"),
    })
    .prefault({});
}

function deadlinesOf(defaults: Record<keyof typeof deadlineFields, number>) {
  return z
    .strictObject({
      first_byte_ms: deadlineFields.first_byte_ms.default(defaults.first_byte_ms),
      idle_ms: deadlineFields.idle_ms.default(defaults.idle_ms),
      total_ms: deadlineFields.total_ms.default(defaults.total_ms),
    })
    .prefault({});
}

function masterKey(description: string) {
  return secretReferenceSchema.nullable().default(null).describe(description);
}
