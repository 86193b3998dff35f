import type { Visit } from "../gateway/visit.ts";
import type { AdmittedExchange } from "./exchange.ts";

/** An exchange as the rooms of the gateway see it: without HTTP. */
export function visitOf({ id, principal, request, event, ended }: AdmittedExchange): Visit {
  return { id, principal, signal: request.signal, event, ended };
}
