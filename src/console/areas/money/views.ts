import type { Output } from "../../api/call.ts";

/** A budget as the gateway returns it. */
export type Budget = Output<"budgets.list">["data"][number];
/** A ledger entry as the gateway returns it. */
export type Entry = Output<"ledger.list">["data"][number];
/** A charge with its corrections. */
export type ChargeView = Output<"ledger.get">;
export type LimitsView = Output<"limits.defaults">["key"];

/** The owner of limits: an organization, a key with limits of its own, or the defaults of either kind. */
export interface LimitsOwner {
  kind: "organization" | "key";
  /** Id of the organization or key; null for the defaults. */
  id: string | null;
  name: string;
  version: number;
  limits: LimitsView;
  defaults: LimitsView;
}
