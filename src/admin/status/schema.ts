import { z } from "zod";
import { figuresSchema, isoTimeSchema, messageCodeSchema, timeCodec } from "../output.ts";

export const causeSchema = z.object({
  kind: z.enum([
    "part",
    "ejection",
    "model",
    "calls",
    "slow",
    "requests",
    "price",
    "budget",
    "notices",
    "alert",
  ]),
  severity: z.enum(["warning", "critical"]),
  subject: z
    .string()
    .describe("The part, channel, target, model, organization, budget or rule that it is about"),
  organizationId: z.string().nullable().describe("Null where it concerns all"),
  since: timeCodec.nullable(),
  message: z.string(),
  code: messageCodeSchema.nullable().describe("Which sentence it is; null for an alert that has none"),
  figures: figuresSchema,
  path: z.string().describe("Page below `/console` that shows more"),
});

export const channelHealthSchema = z.object({
  state: z
    .enum(["ok", "slow", "failing", "ejected", "idle", "untried"])
    .describe("By the calls of the last 15 minutes: `idle` without any, `untried` where there never was one"),
  since: isoTimeSchema.nullable().describe("Start of the trouble, probes that failed included"),
  reason: z
    .string()
    .nullable()
    .describe("Why it is out of service, or the outcome of most calls that failed"),
  targets: z.array(z.string()).describe("Its models that are out of service"),
  nextProbeAt: isoTimeSchema
    .nullable()
    .describe("From when on the next request tries it again; null while it is in service"),
  requests: z.int().describe("Calls of the last 15 minutes"),
  errorRate: z.number().nullable().describe("From 0 to 1"),
  p95Ms: z.number().nullable().describe("Milliseconds; null where nothing was measured"),
});

export const statusSchema = z.object({
  state: z
    .enum(["ok", "idle", "warning", "critical"])
    .describe("The worst severity of the causes; without any `idle` when nothing was called for 15 minutes"),
  checkedAt: timeCodec,
  causes: z.array(causeSchema).describe("Everything that is wrong now, the worst first"),
});
