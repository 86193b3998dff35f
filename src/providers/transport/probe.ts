import { UpstreamError } from "../../domain/upstream-error.ts";
import type { Classify, VendorRequest } from "./http.ts";
import { callJson } from "./json-call.ts";

/** A read that the vendor serves to every valid credential, free of charge. */
export async function probeByReading(call: Omit<VendorRequest, "body">, classify: Classify): Promise<void> {
  await callJson("GET", call, classify);
}

/** A model that no vendor has: its refusal by name proves that address and credential were accepted, and costs nothing. */
export const UNKNOWN_MODEL = "gateway-probe";

/**
 * Makes a call whose refusal for the unknown model, or a success, is the proof. `statuses` are those of such refusals
 * where the vendor's say it and nothing else does.
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

/** Tries the second way where the address does not have the first one. */
export async function probeByEither(first: () => Promise<void>, second: () => Promise<void>): Promise<void> {
  try {
    await first();
  } catch (error) {
    const isMissing = error instanceof UpstreamError && (error.status === 404 || error.status === 405);
    if (!isMissing) throw error;
    await second();
  }
}

/** A 404 in the vendor's own words is of the model; one without is of the address. */
function isRefusalByName(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  const { kind, status, vendorMessage } = error;
  return kind === "rejected" || (status === 404 && vendorMessage !== undefined && vendorMessage !== "");
}
