import type { Figures } from "./operator-message.ts";

/** Severities of causes. A cause is `critical` when requests fail or are refused, or money is at risk. */
export type Severity = "warning" | "critical";

/** One current problem, of the whole installation or of one organization. */
export interface StatusCause {
  /**
   * `part`: a part of the gateway has a problem · `ejection`: a target is out of service · `model`: no target of a
   * model can be called · `calls`: calls to a vendor fail · `slow`: calls to a vendor take far longer than usual ·
   * `requests`: requests fail · `price`: requests are refused because a price is missing · `budget`: a budget is spent
   * or nearly spent · `notices`: mails or webhooks of alerts do not arrive · `alert`: a rule has found a condition.
   */
  kind:
    "part" | "ejection" | "model" | "calls" | "slow" | "requests" | "price" | "budget" | "notices" | "alert";
  severity: Severity;
  /** The part, channel, target, model, organization, budget or rule that has the problem. */
  subject: string;
  /** Id of the organization that the problem concerns; null for all organizations. */
  organizationId: string | null;
  /** Unix milliseconds at which the problem began; null when the time is unknown. */
  since: number | null;
  /** One sentence about the problem, for operators. */
  message: string;
  /**
   * Code of the sentence; null for an alert whose sentence has none. In the message of an alert, the sentence follows
   * the alert's name.
   */
  code: string | null;
  /** The numbers and names that occur in the message. */
  figures: Figures;
  /** Page below `/console` that shows details. */
  path: string;
}

/** The state of the installation or of one organization, with the current problems. */
export interface InstallationStatus {
  /** The worst severity of the causes. Without causes: `ok`, or `idle` when no model was called recently. */
  state: "ok" | "idle" | Severity;
  /** Unix milliseconds at which the state was determined. */
  checkedAt: number;
  /** The current problems, worst first. */
  causes: readonly StatusCause[];
}
