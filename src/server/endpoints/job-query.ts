import { readUnambiguous } from "../../dialects/request-body.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { JOB_STATUSES, type JobStatus } from "../../domain/job.ts";
import type { JobPage } from "../../jobs/ports.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_OFFSET = 1_000_000;
const MAX_IDS = 100;

/** Reads the query of a list of jobs. Throws an `invalid_parameter` that names the parameter. */
export function readJobPage(query: URLSearchParams): JobPage {
  return {
    limit: readNumber(query, "limit", [1, MAX_LIMIT]) ?? DEFAULT_LIMIT,
    offset: readNumber(query, "offset", [0, MAX_OFFSET]) ?? 0,
    statuses: query.getAll("status").flatMap((text) => text.split(",").map(readStatus)),
    createdFrom: readNumber(query, "created_from", [0, Number.MAX_SAFE_INTEGER]),
    createdTo: readNumber(query, "created_to", [0, Number.MAX_SAFE_INTEGER]),
  };
}

function readNumber(query: URLSearchParams, name: string, [min, max]: [number, number]): number | null {
  const text = query.get(name);
  if (text === null) return null;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const range =
    max === Number.MAX_SAFE_INTEGER ? "Unix milliseconds" : `a whole number from ${min} to ${max}`;
  throw new GatewayError("invalid_parameter", `\`${name}\` must be ${range}.`, { param: name });
}

function readStatus(text: string): JobStatus {
  const status = JOB_STATUSES.find((known) => known === text);
  if (status) return status;
  const message = `\`status\` must be ${JOB_STATUSES.map((known) => `\`${known}\``).join(", ")}.`;
  throw new GatewayError("invalid_parameter", message, { param: "status" });
}

/** Reads `{job_ids: […]}`: up to 100 ids. */
export function readJobIds(body: Uint8Array): string[] {
  const ids = readUnambiguous(body).body["job_ids"];
  const isList = Array.isArray(ids) && ids.length <= MAX_IDS;
  const texts = isList ? ids.filter((id): id is string => typeof id === "string") : [];
  if (isList && texts.length === ids.length && texts.length > 0) return texts;
  const message = `\`job_ids\` must be an array of 1 to ${MAX_IDS} job ids.`;
  throw new GatewayError("invalid_parameter", message, { param: "job_ids" });
}
