/** The temporary removal of a target from service, as announced to other processes. */
export interface Ejection {
  /** Name of the target, by `targetName`. */
  target: string;
  /** The organization for which it is ejected; null for everyone. */
  organization: string | null;
  reason: "overload" | "account" | "limited";
  durationMs: number;
  /** Time that the target has been out of service in this process. */
  lastedMs?: number;
}
