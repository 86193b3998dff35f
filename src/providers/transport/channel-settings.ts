import { z } from "zod";

/** Settings that several providers have in common. */

export const httpAddress = z.url({ protocol: /^https?$/, error: "must be an http or https address" });

/** A credential that goes into a header. */
export const headerWord = z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII without spaces");

/** Whether several images are made by as many calls at once, where a call gives one. */
export const fanOutSetting = z.boolean().default(false);

/** Milliseconds between two looks at a job. */
export const pollIntervalMs = z.int().min(5).max(60_000).default(500);

export function withoutEndSlash(address: string): string {
  return address.replace(/(?<!\/)\/+$/, "");
}
