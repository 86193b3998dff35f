import { readPostgresAddress } from "../lib/postgres-address.ts";
import { readS3Address } from "../lib/s3-address.ts";
import { resolveIdentity } from "./console-schema.ts";
import { hasScheme } from "./address-schema.ts";
import { type FileSettings } from "./file-schema.ts";
import type { ReportProblem } from "./problems.ts";
import type { Settings } from "./settings.ts";
import { resolveSecret, type SecretSource } from "./secret-reference.ts";

/** Resolves all references to secrets except the master keys and the secrets of channels. */
export async function resolveReferences(
  effective: FileSettings,
  secrets: SecretSource,
  report: ReportProblem,
) {
  return {
    ...(await resolveAddresses(effective, secrets, report)),
    metricsToken: await resolveMetricsToken(effective, secrets, report),
    identity: await resolveIdentity(effective.console, secrets, report),
    mail: await resolveMail(effective, secrets, report),
    telemetry: await resolveTelemetry(effective, secrets, report),
  };
}

/** Resolves the addresses that the file may give as references, because an address may contain a password. */
async function resolveAddresses(effective: FileSettings, secrets: SecretSource, report: ReportProblem) {
  const { database_url, redis_url, blob_url, ledger_export } = effective;
  const read = async (
    path: string,
    written: typeof blob_url,
    problemOf: (address: string) => string | null,
  ) => {
    if (written === null) return null;
    const isPlain = typeof written === "string";
    const resolved = isPlain ? { secret: written } : await resolveSecret(written, secrets);
    if ("problem" in resolved) {
      report(path, resolved.problem);
      return null;
    }
    const problem = problemOf(resolved.secret);
    if (problem !== null) report(!isPlain && "env" in written ? written.env : path, problem);
    return resolved.secret;
  };
  const isS3 = problemOfReading(readS3Address);
  const exportUrl = await read("ledger_export.url", ledger_export.url, isS3);
  return {
    databaseUrl: await read("database_url", database_url, problemOfReading(readPostgresAddress)),
    redisUrl: await read("redis_url", redis_url, problemOfRedis),
    blobUrl: await read("blob_url", blob_url, isS3),
    ledgerExport: exportUrl === null ? null : { url: exportUrl, format: ledger_export.format },
  };
}

async function resolveMetricsToken(
  { server }: FileSettings,
  secrets: SecretSource,
  report: ReportProblem,
): Promise<string | null> {
  if (server.metrics_token === null) return null;
  const resolved = await resolveSecret(server.metrics_token, secrets);
  if ("secret" in resolved) return resolved.secret;
  report("server.metrics_token", resolved.problem);
  return null;
}

async function resolveMail(
  { mail }: FileSettings,
  secrets: SecretSource,
  report: ReportProblem,
): Promise<Settings["mail"]> {
  if (mail === null) return null;
  const resolved = await resolveSecret(mail.url, secrets);
  if ("problem" in resolved) report("mail.url", resolved.problem);
  else if (hasScheme(resolved.secret, "smtp://host"))
    return { url: resolved.secret, from: mail.from, allowedDomains: mail.allowed_domains };
  else report("mail.url", "must be an address such as smtps://user:password@host");
  return null;
}

async function resolveTelemetry(
  { telemetry }: FileSettings,
  secrets: SecretSource,
  report: ReportProblem,
): Promise<Settings["telemetry"]> {
  const { endpoint, headers, service_name, sample_ratio, content } = telemetry;
  if (endpoint === null) return null;
  const resolved = headers === null ? { secret: "" } : await resolveSecret(headers, secrets);
  if ("problem" in resolved) {
    report("telemetry.headers", resolved.problem);
    return null;
  }
  const pairs = headerPairs(resolved.secret);
  if (pairs === null)
    report("telemetry.headers", "must be name=value,name=value with percent-encoded values");
  return {
    endpoint: endpoint.endsWith("/") ? endpoint.slice(0, -1) : endpoint,
    headers: pairs ?? {},
    serviceName: service_name,
    sampleRatio: sample_ratio,
    isContentExported: content,
  };
}

/**
 * Reads headers in the form of `OTEL_EXPORTER_OTLP_HEADERS` (W3C Baggage without properties). Returns null for a text
 * of another form.
 */
function headerPairs(text: string): Record<string, string> | null {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  try {
    return Object.fromEntries(
      pairs.map((pair) => {
        const end = pair.indexOf("=");
        const name = pair.slice(0, Math.max(end, 0)).trim();
        if (!/^[\w.-]+$/.test(name)) throw new URIError(pair);
        return [name, decodeURIComponent(pair.slice(end + 1).trim())];
      }),
    );
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

/**
 * Returns a check that parses an address before anything else happens. The first start prints a new key and password
 * only once; they would be lost if parsing the address failed later.
 */
function problemOfReading(read: (address: string) => unknown) {
  return (address: string): string | null => {
    try {
      read(address);
      return null;
    } catch (error) {
      if (error instanceof RangeError) return error.message;
      throw error;
    }
  };
}

/** The client's own error for a wrong path repeats the path, which may be a part of a password that is not escaped. */
function problemOfRedis(address: string): string | null {
  const example = "redis://host:6379";
  if (!hasScheme(address, example)) return `must be an address such as ${example}`;
  const path = URL.parse(address)?.pathname ?? "";
  return /^\/?\d{0,9}$/.test(path) ? null : `must have only the number of a database after ${example}/`;
}
