/** Severities of causes: `critical` when requests are refused or money is at risk. */
export type Severity = "warning" | "critical";

/** One thing that is wrong now, of the whole installation or of one organization. */
export interface StatusCause {
  /**
   * `part`: a part of the gateway · `ejection`: a target out of service ·
   * `model`: no target of it can be called · `calls`: calls to a vendor fail · `slow`: they take far longer than usual ·
   * `requests`: requests fail · `price`: requests are refused for want of a price · `notices`: mails or webhooks of
   * alerts do not arrive · `alert`: a rule has found something.
   */
  kind: "part" | "ejection" | "model" | "calls" | "slow" | "requests" | "price" | "notices" | "alert";
  severity: Severity;
  /** The part, channel, target, model, organization or rule that it is about. */
  subject: string;
  /** The organization that it concerns; null for all. */
  organizationId: string | null;
  /** Unix milliseconds, as far as it is known. */
  since: number | null;
  /** A sentence for operators. */
  message: string;
  /** The numbers and names of the message. */
  figures: Readonly<Record<string, string | number>>;
  /** Page below `/console` that shows more. */
  path: string;
}

/** The verdict on whether all is well now. */
export interface InstallationStatus {
  /** The worst severity of the causes; without any `idle` when nothing was called for a while. */
  state: "ok" | "idle" | Severity;
  /** Unix milliseconds. */
  checkedAt: number;
  /** The worst first. */
  causes: readonly StatusCause[];
}

/** The reasons for which targets are out of service, in words for operators. */
export const EJECTION_REASONS: Readonly<Record<string, string>> = {
  account: "the vendor refuses the credential, its balance or its access to the model",
  limited: "the vendor's limits are reached",
  overload: "its calls fail in a row",
};
