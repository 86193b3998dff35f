/** An ejection as it is announced to other processes. */
export interface Ejection {
  target: string;
  /** The organization for which it is ejected; null for everyone. */
  organization: string | null;
  reason: "overload" | "account" | "limited";
  durationMs: number;
  /** For how long already, in this process. */
  lastedMs?: number;
}
