import { UpstreamError } from "../../domain/upstream-error.ts";
import { MAX_TEXT_BYTES, parseResponse, readText, type Classify, type VendorRequest } from "./http.ts";
import { sendJson } from "./json-call.ts";

/**
 * Makes a read-only call that the vendor serves to every valid credential, free of charge. The response may be any
 * JSON, because some vendors return a list that is not in an object.
 */
export async function probeByReading(call: Omit<VendorRequest, "body">, classify: Classify): Promise<void> {
  const response = await sendJson("GET", call, classify);
  parseResponse(await readText(response, MAX_TEXT_BYTES, call.signal));
}

/**
 * The name of a model that no vendor has. A refusal of this name proves that the vendor accepted address and
 * credential. A refused call costs nothing.
 */
export const UNKNOWN_MODEL = "gateway-probe";

/**
 * Proves a credential by a call that succeeds or whose unknown model is refused. `statuses` are the statuses of these
 * refusals. They are needed for a vendor whose refusals cannot be recognized in another way.
 */
export async function probeByRefusal(
  call: () => Promise<unknown>,
  statuses: readonly number[] = [],
): Promise<void> {
  try {
    await call();
  } catch (error) {
    const isNamed = error instanceof UpstreamError && statuses.includes(error.status ?? 0);
    if (!isNamed && !isRefusalByName(error)) throw error;
  }
}

/** Probes by `first`. If the address does not offer this call, probes by `second`. */
export async function probeByEither(first: () => Promise<void>, second: () => Promise<void>): Promise<void> {
  try {
    await first();
  } catch (error) {
    const isMissing = error instanceof UpstreamError && (error.status === 404 || error.status === 405);
    if (!isMissing) throw error;
    await second();
  }
}

/**
 * True when the vendor refused the request or the model's name. A 404 is about the model only if it has a vendor's
 * message.
 */
function isRefusalByName(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  const { kind, status, vendorMessage } = error;
  return kind === "rejected" || (status === 404 && vendorMessage !== undefined && vendorMessage !== "");
}
