import type { Route } from "../routes.ts";

export interface HealthSettings {
  isDraining(): boolean;
  /** Metrics in Prometheus' text format. */
  metrics(): string;
}

/** What operators' tools ask for. */
export function healthRoutes({ isDraining, metrics }: HealthSettings): Route[] {
  const open = { method: "GET", family: "images", door: "open", because: "it is for the operator's probes" } as const;
  return [
    { ...open, path: "/healthz", name: "health", answer: () => Response.json({ status: "ok" }) },
    {
      ...open,
      path: "/readyz",
      name: "readiness",
      answer: () =>
        isDraining() ? Response.json({ status: "draining" }, { status: 503 }) : Response.json({ status: "ready" }),
    },
    {
      ...open,
      path: "/metrics",
      name: "metrics",
      answer: () =>
        new Response(metrics(), { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } }),
    },
  ];
}
