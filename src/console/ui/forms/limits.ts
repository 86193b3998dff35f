import type { Input, Output } from "../../api/call.ts";

/** Limits as the gateway returns them: a number, null for unlimited, absent for the default. */
export type OwnLimits = Output<"limits.defaults">["key"];

/** In the order in which they are shown. */
export const LIMITS = [
  "requestsPerMinute",
  "tokensPerMinute",
  "imagesPerMinute",
  "concurrentImages",
  "queuedJobs",
  "runningJobs",
] as const satisfies readonly (keyof OwnLimits)[];

/** Limits of a form as the gateway takes them: what is not there becomes the default again. */
export function toLimits(limits: OwnLimits): NonNullable<Input<"keys.update">["limits"]> {
  const named = Object.entries(limits).map(([name, value]) => [
    name,
    value === undefined ? "default" : value,
  ]);
  return Object.fromEntries(named) as NonNullable<Input<"keys.update">["limits"]>;
}
