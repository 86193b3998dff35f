import { z } from "zod";

/** Settings that several providers have in common. */

export const httpAddress = z.url({ protocol: /^https?$/, error: "must be an http or https address" });

/** A credential or another value that is sent in a header. */
export const headerValue = z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII without spaces");

/** Whether several images are made by as many parallel calls, where one call makes one. */
export const fanOutSetting = z.boolean().default(false);

/** Milliseconds between two polls of a job. */
export const pollIntervalSetting = z.int().min(5).max(60_000).default(500);

export function withoutEndSlash(address: string): string {
  return address.replace(/(?<!\/)\/+$/, "");
}
