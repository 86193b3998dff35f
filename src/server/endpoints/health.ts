import type { Exchange } from "../exchange.ts";
import { idHeaders } from "../respond.ts";
import type { Route } from "../routes.ts";

export interface HealthSettings {
  isDraining(): boolean;
  /** Metrics of every process on the port, in Prometheus' text format. */
  metrics(): Promise<string>;
}

/** What operators' tools ask for. */
export function healthRoutes({ isDraining, metrics }: HealthSettings): Route[] {
  const open = {
    method: "GET",
    family: "images",
    door: "open",
    because: "it is for the operator's probes",
  } as const;
  const ids = ({ event }: Exchange): Record<string, string> => idHeaders(event.requestId);
  return [
    {
      ...open,
      path: "/healthz",
      name: "health",
      answer: (exchange: Exchange) => Response.json({ status: "ok" }, { headers: ids(exchange) }),
    },
    {
      ...open,
      path: "/readyz",
      name: "readiness",
      answer: (exchange: Exchange) =>
        isDraining()
          ? Response.json({ status: "draining" }, { status: 503, headers: ids(exchange) })
          : Response.json({ status: "ready" }, { headers: ids(exchange) }),
    },
    {
      ...open,
      path: "/metrics",
      name: "metrics",
      answer: async (exchange: Exchange) =>
        new Response(await metrics(), {
          headers: { ...ids(exchange), "content-type": "text/plain; version=0.0.4; charset=utf-8" },
        }),
    },
  ];
}
