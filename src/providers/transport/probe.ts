import { UpstreamError } from "../../domain/upstream-error.ts";
import type { Classify, VendorRequest } from "./http.ts";
import { callJson } from "./json-call.ts";

/** Makes a read that the vendor serves to every valid credential, free of charge. */
export async function probeByReading(call: Omit<VendorRequest, "body">, classify: Classify): Promise<void> {
  await callJson("GET", call, classify);
}

/** A model that no vendor has: its refusal by name proves that address and credential were accepted, and costs nothing. */
export const UNKNOWN_MODEL = "gateway-probe";

/**
 * Makes a call that proves the credential by its success, or by a refusal of the unknown model. `statuses` are those
 * of such refusals, for a vendor that shows them only by the status.
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

/** Probes the first way, and the second one when the address does not have the first. */
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
 * True when the model's name was refused. A 404 in the vendor's own words concerns the model; one without concerns the
 * address.
 */
function isRefusalByName(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  const { kind, status, vendorMessage } = error;
  return kind === "rejected" || (status === 404 && vendorMessage !== undefined && vendorMessage !== "");
}
