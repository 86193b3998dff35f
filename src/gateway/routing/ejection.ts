/** A target taken out of service for a while, as it is announced to other processes. */
export interface Ejection {
  /** Name of the target, by `targetName`. */
  target: string;
  /** The organization for which it is ejected; null for everyone. */
  organization: string | null;
  reason: "overload" | "account" | "limited";
  durationMs: number;
  /** For how long it was out of service already, in this process. */
  lastedMs?: number;
}
