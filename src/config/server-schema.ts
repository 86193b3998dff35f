import { z } from "zod";
import { parseAddressList } from "../lib/cidr.ts";
import { hasPassword, secretReferenceSchema } from "./secret-reference.ts";
import { inputError } from "../domain/schema-problems.ts";

export const httpUrl = z
  .string()
  .refine((text) => isHttpUrl(text), { error: inputError("input.httpAddress", {}) })
  .refine((text) => !hasPassword(text), { error: inputError("input.secret.plain", {}) });

/** A base address. It must not have a query or fragment, because links are made by appending a path to the address. */
const baseUrl = httpUrl.refine((text) => !isHttpUrl(text) || !/[?#]/.test(text), {
  error: 'must end before any "?" or "#": links are made by adding a path',
});

const address = z.string().refine(isAddress, { error: inputError("input.network", {}) });

export const serverSchema = z
  .strictObject({
    host: z.string().min(1).default("127.0.0.1").describe("Address to listen on"),
    port: z.int().min(0).max(65_535).default(8080).describe("Port to listen on; 0 picks a free one"),
    metrics_port: z
      .int()
      .min(1)
      .max(65_535)
      .nullable()
      .default(null)
      .describe("Port of its own for /metrics, /healthz and /readyz; the other one then has no /metrics"),
    metrics_token: secretReferenceSchema
      .nullable()
      .default(null)
      .describe("Bearer token that /metrics needs; none where absent"),
    public_url: baseUrl
      .nullable()
      .default(null)
      .describe("Base address for links, without query or fragment; that of the request where absent"),
    trusted_proxies: z
      .array(address)
      .default([])
      .describe("Addresses and networks whose X-Forwarded headers are trusted"),
    denied_networks: z
      .array(address)
      .default([])
      .describe("Public addresses and networks that links of callers must not reach, such as your own"),
    allowed_networks: z
      .array(address)
      .default([])
      .describe(
        "Addresses and networks, besides the public internet, that endpoints of webhooks may be in, and that channels added by members other than owners may call",
      ),
    drain_seconds: z
      .number()
      .min(0)
      .max(3600)
      .default(30)
      .describe("Seconds in which running requests may go on after SIGTERM and leave_seconds"),
    leave_seconds: z
      .number()
      .min(0)
      .max(3600)
      .default(0)
      .describe("Seconds in which requests are served after SIGTERM while /readyz is 503"),
    connections_per_address: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe(
        "Connections that one address may have to a process, but for trusted proxies; null is no limit",
      ),
    unknown_keys_per_minute: z
      .int()
      .min(1)
      .nullable()
      .default(60)
      .describe("Different unknown keys that one address may send in a minute; null does not bound them"),
    idle_seconds: z
      .int()
      .min(1)
      .max(255)
      .default(75)
      .describe("Maximum silence of a connection; one without a request is closed after about 10 s"),
    first_byte_seconds: z
      .number()
      .min(0.1)
      .max(3600)
      .default(10)
      .describe("Silence after which a stream begins without content and is kept alive"),
    spool_mib: z
      .int()
      .min(1)
      .default(8192)
      .describe("Maximum MiB of temporary files; a key may use a quarter, an organization half"),
    body_grace_seconds: z
      .number()
      .min(0.1)
      .max(3600)
      .default(30)
      .describe("Time in which a body must be complete, plus one second for each 16 KiB"),
  })
  .prefault({});

/** The `mail` part of the configuration file: the server that takes the mails of alerts. */
export const mailSchema = z
  .strictObject({
    url: secretReferenceSchema.describe(
      "Address of the mail server by reference, with its user and password: smtps://user:password@host",
    ),
    from: z.string().min(3).describe("Sender of mails, such as Gateway <gateway@example.com>"),
    allowed_domains: z
      .array(z.string().toLowerCase().min(1))
      .default([])
      .describe("Domains to which alerts may be mailed besides the addresses of members"),
  })
  .nullable()
  .default(null)
  .describe("Mail server for alerts; null sends none");

/** The `telemetry` part of the configuration file: the collector of traces, metrics and events. */
export const telemetrySchema = z
  .strictObject({
    endpoint: z
      .string()
      .regex(/^https?:\/\/[^\s@]+$/, "must be an http or https address without a password")
      .nullable()
      .default(null)
      .describe("Address of an OpenTelemetry collector (OTLP over HTTP), such as http://127.0.0.1:4318"),
    headers: secretReferenceSchema
      .nullable()
      .default(null)
      .describe("Headers for the collector by reference: name=value,name=value with percent-encoded values"),
    service_name: z.string().min(1).default("model-inference-gateway").describe("Name of this service"),
    sample_ratio: z.number().min(0).max(1).default(1).describe("Share of the traces that is exported"),
    content: z
      .boolean()
      .default(false)
      .describe("Export prompts and replies, redacted, of organizations that have them logged"),
  })
  .prefault({})
  .describe("OpenTelemetry; off without an endpoint");

export const overloadSchema = z
  .strictObject({
    large_body_kib: z
      .int()
      .min(1)
      .default(1024)
      .describe("Bodies above this size, and those of unknown length, are large"),
    memory_mib: steps(
      z.int().min(1).nullable().default(null),
      z.int().min(1).nullable().default(null),
    ).describe(
      "Resident memory of a process from which on large bodies, and all requests, are refused; null is 80 and 90 % of the machine's or container's, divided by the workers",
    ),
    free_disk_mib: steps(z.int().min(0).default(512), z.int().min(0).default(64)).describe(
      "Free space for the data folder below which they are refused; 0 disables the check",
    ),
    lag_ms: steps(z.int().min(1).default(500), z.int().min(1).default(2000)).describe(
      "Lateness of the event loop from which on they are refused",
    ),
  })
  .prefault({});

function steps<Value>(largeBodies: z.ZodDefault<z.ZodType<Value>>, requests: z.ZodDefault<z.ZodType<Value>>) {
  return z.strictObject({ large_bodies: largeBodies, requests }).prefault({});
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function isAddress(text: string): boolean {
  try {
    parseAddressList([text]);
    return true;
  } catch {
    return false;
  }
}
