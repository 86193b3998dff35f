import type { Server } from "bun";
import type { Principal } from "../domain/api-key.ts";
import type { RequestEvent } from "../domain/request-event.ts";

/** One HTTP request and what is known about it so far. */
export interface HttpExchange {
  request: Request;
  server: Server<undefined>;
  /** The `{…}` part of the route's path, decoded; empty where the path has none. */
  parameter: string;
  /** The gateway's own id, which keys the ledger. */
  id: string;
  event: RequestEvent;
  /** Tells the listeners; called by whoever sends the last byte. */
  ended(): void;
}

/** An exchange whose key has been accepted. */
export interface AuthenticatedExchange extends HttpExchange {
  principal: Principal;
}
