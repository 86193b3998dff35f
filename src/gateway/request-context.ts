import type { Principal } from "../domain/api-key.ts";
import type { RequestEvent } from "../domain/request-event.ts";

/** One admitted request on its way through the gateway. */
export interface RequestContext {
  /** The gateway's own id of it, which keys the ledger. */
  id: string;
  principal: Principal;
  /** Aborted when the caller hangs up. */
  signal: AbortSignal;
  /** What the log will say; filled in as it becomes known. */
  event: RequestEvent;
  /** To be called once, when the last byte of a streamed answer has gone or will never go. */
  ended(): void;
}
