import type { Input, Output } from "./api.ts";

/** Limits as the gateway returns them: a number, null for unlimited, absent for the default. */
export type OwnLimits = Output<"limits.defaults">["key"];

/** Limits of a form as the gateway takes them: what is not there becomes the default again. */
export function toLimits(limits: OwnLimits): NonNullable<Input<"keys.update">["limits"]> {
  const named = Object.entries(limits).map(([name, value]) => [
    name,
    value === undefined ? "default" : value,
  ]);
  return Object.fromEntries(named) as NonNullable<Input<"keys.update">["limits"]>;
}
