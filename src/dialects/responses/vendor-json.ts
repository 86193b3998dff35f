import { UpstreamError } from "../../domain/upstream-error.ts";
import { isObject } from "../../lib/json.ts";

/** Parses an event or a response of a vendor. Throws an `UpstreamError` for what is no JSON object. */
export function parseVendorObject(text: string, what: "an event" | "the response"): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UpstreamError("broken", `${what} is not JSON`, { cause });
  }
  if (!isObject(value)) throw new UpstreamError("broken", `${what} is not an object`);
  return value;
}

/** A text or number of a vendor as text; empty for anything else. */
export function wordOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}
