import type { Output } from "../../api/call.ts";

/** What the pages of money show, as the gateway returns it. */
export type Budget = Output<"budgets.list">["data"][number];
export type Entry = Output<"ledger.list">["data"][number];
/** A charge with its corrections. */
export type Charge = Output<"ledger.get">;
export type Limits = Output<"limits.defaults">["key"];

/** Whose limits a row shows: an organization, a key that has limits of its own, or the defaults of either. */
export interface LimitsOwner {
  kind: "organization" | "key";
  /** Null is the default. */
  id: string | null;
  name: string;
  version: number;
  limits: Limits;
  defaults: Limits;
}
