import type { ByteStream } from "../../lib/byte-stream.ts";
import { SlicedStream } from "../../lib/sliced-stream.ts";
import { brokenResponse, type VendorResponse } from "./http.ts";

/**
 * Returns the events of a response as bytes; null when the vendor sent a whole JSON response although a stream was
 * requested.
 */
export function openEvents(response: VendorResponse): ByteStream | null {
  const { headers, body } = response;
  if (headers.get("content-type")?.startsWith("application/json")) return null;
  if (!body || headers.get("content-length") === "0") throw brokenResponse("gave an empty response");
  return new SlicedStream(body);
}
