import type { Nanos } from "../lib/money.ts";
import type { Attempt } from "./ledger.ts";
import type { Usage } from "./usage.ts";

/** A finished request, for the listeners (log, metrics). */
export interface RequestEvent {
  requestId: string;
  /** Route name, such as `chat` or `images.generations`; a closed set. */
  route: string;
  status: number;
  /** Error code when it did not succeed. */
  code: string | null;
  /** Unix milliseconds at which it began. */
  at: number;
  /** Monotonic milliseconds at which it began. */
  startedAt: number;
  durationMs: number;
  /** Milliseconds to the first byte of a stream. */
  firstByteMs: number | null;
  organizationId: string | null;
  keyId: string | null;
  model: string | null;
  channel: string | null;
  isStream: boolean;
  usage: Usage | null;
  /** Pictures beyond those requested; neither delivered nor billed. */
  surplus: number;
  amount: Nanos;
  attempts: Attempt[];
  /** A problem for the operator's log; never the caller's content. */
  cause: unknown;
}
