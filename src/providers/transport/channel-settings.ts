import { z } from "zod";
import { inputError } from "../../domain/schema-problems.ts";

/* Settings that several providers have in common. */

export const httpAddress = z.url({ protocol: /^https?$/, error: inputError("input.httpAddress", {}) });

/** A credential, or another value to send in a header. */
export const headerValue = z.string().regex(/^[\x21-\x7e]+$/, { error: inputError("input.headerValue", {}) });

/** The credential; null (`credential: none` in the file) for a server that needs none. */
export const optionalCredential = headerValue.nullable();

/** The operator's own headers, sent with every call. Headers of message framing are refused: the gateway sets them. */
export const extraHeaders = z
  .record(
    z
      .string()
      .regex(/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/, { error: inputError("input.headerName", {}) })
      .refine((name) => !FRAMING.has(name), { error: inputError("input.ownHeader", {}) }),
    z.string().regex(/^[\x20-\x7e]{1,4096}$/, { error: inputError("input.headerText", {}) }),
  )
  .default({});

const FRAMING: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "transfer-encoding",
]);

export const fanOutSetting = z
  .boolean()
  .default(false)
  .describe("True to make several images by as many parallel calls when a call makes one");

export const pollIntervalSetting = z
  .int()
  .min(5)
  .max(60_000)
  .default(500)
  .describe("Milliseconds between two polls of a job");

export function withoutEndSlash(address: string): string {
  return address.replace(/(?<!\/)\/+$/, "");
}
