import type { HttpExchange } from "../http-exchange.ts";
import type { Lifecycle } from "../lifecycle.ts";
import { baseHeaders } from "../respond.ts";
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
    isProbe: true,
    auth: "public",
    because: "it is for the operator's probes",
  } as const;
  return [
    {
      ...open,
      path: "/healthz",
      name: "health",
      handle: (exchange: HttpExchange) =>
        Response.json({ status: "ok" }, { headers: baseHeaders(exchange.requestId) }),
    },
    {
      ...open,
      path: "/readyz",
      name: "readiness",
      handle: (exchange: HttpExchange) =>
        lifecycle.phase === "serving"
          ? Response.json({ status: "ready" }, { headers: baseHeaders(exchange.requestId) })
          : Response.json({ status: "draining" }, { status: 503, headers: baseHeaders(exchange.requestId) }),
    },
    {
      ...open,
      path: "/metrics",
      name: "metrics",
      handle: async (exchange: HttpExchange) =>
        new Response(await metrics(), {
          headers: {
            ...baseHeaders(exchange.requestId),
            "content-type": "text/plain; version=0.0.4; charset=utf-8",
          },
        }),
    },
  ];
}
