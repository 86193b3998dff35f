import type { Output } from "../../api/call.ts";

export type Budget = Output<"budgets.list">["data"][number];
export type Entry = Output<"ledger.list">["data"][number];
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
