import type { RequestContext } from "../gateway/request-context.ts";
import type { AuthenticatedExchange } from "./http-exchange.ts";

/**
 * An exchange as the rooms of the gateway see it: without HTTP. From now on the caller waits for an answer, however
 * long that takes, so its silence ends nothing; vendors' deadlines do.
 */
export function contextOf({
  id,
  principal,
  request,
  server,
  event,
  ended,
}: AuthenticatedExchange): RequestContext {
  server.timeout(request, 0);
  return { id, principal, signal: request.signal, event, ended };
}
