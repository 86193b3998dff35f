import { z } from "zod";

/* Settings that several providers have in common. */

export const httpAddress = z.url({ protocol: /^https?$/, error: "must be an http or https address" });

/** A credential, or another value to send in a header. */
export const headerValue = z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII without spaces");

/** The credential; null (`credential: none` in the file) for a server that needs none. */
export const optionalCredential = headerValue.nullable();

/** The operator's own headers, sent with every call. Headers of message framing are refused: the gateway sets them. */
export const extraHeaders = z
  .record(
    z
      .string()
      .regex(/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/, "must be the name of a header in small letters")
      .refine((name) => !FRAMING.has(name), "is a header that the gateway sets itself"),
    z.string().regex(/^[\x20-\x7e]{1,4096}$/, "must be visible ASCII"),
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
