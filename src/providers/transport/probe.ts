import { UpstreamError } from "../../domain/upstream-error.ts";
import type { Classify, VendorRequest } from "./http.ts";
import { callJson } from "./json-call.ts";

/** Makes a read call that the vendor serves to every valid credential, free of charge. */
export async function probeByReading(call: Omit<VendorRequest, "body">, classify: Classify): Promise<void> {
  await callJson("GET", call, classify);
}

/**
 * A model that no vendor has. A refusal that names it proves that the vendor accepted address and credential, and costs
 * nothing.
 */
export const UNKNOWN_MODEL = "gateway-probe";

/**
 * Makes a call that proves the credential by its success or by a refusal of the unknown model. `statuses` are the
 * statuses of such refusals, for a vendor that shows them in no other way.
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

/** Probes by `first`, and by `second` when the address does not offer the first way. */
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
 * True when the model's name was refused. A 404 with a message of the vendor concerns the model; a 404 without one
 * concerns the address.
 */
function isRefusalByName(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  const { kind, status, vendorMessage } = error;
  return kind === "rejected" || (status === 404 && vendorMessage !== undefined && vendorMessage !== "");
}
