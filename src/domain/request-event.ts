import type { Nanos } from "../lib/money.ts";
import type { Attempt } from "./ledger.ts";
import type { Usage } from "./usage.ts";

/** What happened to one request, told to the listeners (log, metrics) after its end. */
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
  /** Pictures a vendor made beyond those asked for; neither delivered nor billed. */
  surplus: number;
  amount: Nanos;
  attempts: Attempt[];
  /** Trouble worth an operator's eye; never the caller's content. */
  cause: unknown;
}
