import { UpstreamError, type UpstreamErrorKind } from "../../../domain/upstream-error.ts";
import { isObject } from "../../../lib/json.ts";
import { parseVendorObject } from "../../sse/vendor-frames.ts";
import { ownValue } from "../../../lib/own-value.ts";

/**
 * Reads a vendor's reply, or one event of its stream, which have the same form. Throws an `UpstreamError` for an error
 * and for what is not an object.
 */
export function parseEvent(text: string, parse?: (text: string) => unknown): Record<string, unknown> {
  return requireEvent(parseVendorObject(text, "an event", parse));
}

/** The same of a parsed reply. */
export function requireEvent(event: unknown): Record<string, unknown> {
  if (!isObject(event)) throw new UpstreamError("broken", "an event is not an object");
  if (event["error"]) throw inStreamError(event["error"]);
  return event;
}

/** Kinds by canonical code (google.rpc.Code); trouble of the vendor is the rest. */
const KINDS: Readonly<Record<string, UpstreamErrorKind>> = {
  RESOURCE_EXHAUSTED: "limited",
  UNAUTHENTICATED: "account",
  PERMISSION_DENIED: "account",
  INVALID_ARGUMENT: "rejected",
};

/** Vendors report trouble inside a running stream as an event with `error`. */
function inStreamError(error: unknown): UpstreamError {
  const { status = "", code = "", message = error } = isObject(error) ? error : {};
  const named = `${String(status)} ${String(code)}`.replace(/[^\w./ -]/g, "?").slice(0, 100);
  const vendorMessage = String(message).slice(0, 300);
  const kind = ownValue(KINDS, String(status)) ?? "overloaded";
  return new UpstreamError(kind, `error inside the stream: ${named}`, { vendorMessage });
}
