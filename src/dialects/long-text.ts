import { GatewayError } from "../domain/gateway-error.ts";
import type { SpooledString } from "../lib/json-spool.ts";

const MAX_BYTES = 1024 * 1024;

/** Reads a long text, such as a prompt, that was stored on disk. Throws `invalid_parameter` for more than 1 MiB. */
export async function readLongText(text: SpooledString, param: string): Promise<string> {
  if (text.byteLength <= MAX_BYTES) return text.blob.text();
  throw new GatewayError("invalid_parameter", "A text may have at most 1 MiB.", { param });
}
