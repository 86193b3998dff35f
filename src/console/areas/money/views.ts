import type { Output } from "../../api/call.ts";

/** Records of the pages of money, as the gateway returns them. */
export type Budget = Output<"budgets.list">["data"][number];
export type Entry = Output<"ledger.list">["data"][number];
/** A charge with its corrections. */
export type ChargeView = Output<"ledger.get">;
export type LimitsView = Output<"limits.defaults">["key"];

/** The owner of a row of limits: an organization, a key that has limits of its own, or the defaults of either. */
export interface LimitsOwner {
  kind: "organization" | "key";
  /** Null for the defaults. */
  id: string | null;
  name: string;
  version: number;
  limits: LimitsView;
  defaults: LimitsView;
}
