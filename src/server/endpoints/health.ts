import type { HttpExchange } from "../http-exchange.ts";
import type { Lifecycle } from "../lifecycle.ts";
import { idHeaders } from "../respond.ts";
import type { Route } from "../routes.ts";

export interface HealthSettings {
  lifecycle: Lifecycle;
  /** Metrics of every process on the port, in Prometheus' text format. */
  metrics(): Promise<string>;
}

/** Health, readiness and metrics for operators. */
export function healthRoutes({ lifecycle, metrics }: HealthSettings): Route[] {
  const open = {
    method: "GET",
    family: "images",
    auth: "public",
    because: "it is for the operator's probes",
  } as const;
  const ids = ({ requestId }: HttpExchange): Record<string, string> => idHeaders(requestId);
  return [
    {
      ...open,
      path: "/healthz",
      name: "health",
      handle: (exchange: HttpExchange) => Response.json({ status: "ok" }, { headers: ids(exchange) }),
    },
    {
      ...open,
      path: "/readyz",
      name: "readiness",
      handle: (exchange: HttpExchange) =>
        lifecycle.phase === "serving"
          ? Response.json({ status: "ready" }, { headers: ids(exchange) })
          : Response.json({ status: "draining" }, { status: 503, headers: ids(exchange) }),
    },
    {
      ...open,
      path: "/metrics",
      name: "metrics",
      handle: async (exchange: HttpExchange) =>
        new Response(await metrics(), {
          headers: { ...ids(exchange), "content-type": "text/plain; version=0.0.4; charset=utf-8" },
        }),
    },
  ];
}
