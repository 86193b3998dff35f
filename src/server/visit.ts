import type { Visit } from "../gateway/visit.ts";
import type { AdmittedExchange } from "./exchange.ts";

/**
 * An exchange as the rooms of the gateway see it: without HTTP. From now on the caller waits for an answer, however
 * long that takes, so its silence ends nothing; vendors' deadlines do.
 */
export function visitOf({ id, principal, request, server, event, ended }: AdmittedExchange): Visit {
  server.timeout(request, 0);
  return { id, principal, signal: request.signal, event, ended };
}
