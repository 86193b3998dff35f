import { timingSafeEqual } from "node:crypto";
import { GatewayError } from "../../domain/gateway-error.ts";
import { type HttpExchange, readSecret } from "../http-exchange.ts";
import type { Lifecycle } from "../endpoint.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";

interface HealthSettings {
  lifecycle: Lifecycle;
  /** Returns why the process is not ready although it serves; null when it is ready. */
  unready(): string | null;
  /** Returns the metrics of every process on the port, in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Bearer token that `/metrics` requires; null for none. */
  metricsToken: string | null;
}

/** Routes of health, readiness and metrics for operators. */
export function healthRoutes({ lifecycle, unready, metrics, metricsToken }: HealthSettings): HttpRoute[] {
  const open = {
    method: "GET",
    family: "images",
    isProbe: true,
    auth: "public",
    because: "it is for the operator's probes",
  } as const;
  const ready = ({ requestId }: HttpExchange): Response => {
    const headers = baseHeaders(requestId);
    if (lifecycle.phase !== "serving") return Response.json({ status: "draining" }, { status: 503, headers });
    const reason = unready();
    if (reason !== null) return Response.json({ status: "unready", reason }, { status: 503, headers });
    return Response.json({ status: "ready" }, { headers });
  };
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
      handle: ready,
    },
    {
      ...open,
      // The check of a load balancer that names no path (HAProxy manual, `option httpchk`).
      method: "OPTIONS",
      path: "/",
      name: "readiness",
      handle: ready,
    },
    {
      ...open,
      path: "/metrics",
      name: "metrics",
      handle: async ({ request, requestId }: HttpExchange) => {
        if (metricsToken !== null) requireToken(request.headers, metricsToken);
        const type = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
        return new Response(await metrics(), { headers: { ...baseHeaders(requestId), ...type } });
      },
    },
  ];
}

/** Compares hashes, whose lengths are equal, so that the comparison takes the same time for every token. */
function requireToken(headers: Headers, token: string): void {
  const hash = (text: string): Uint8Array => new Bun.CryptoHasher("sha256").update(text).digest();
  if (timingSafeEqual(hash(readSecret(headers, []) ?? ""), hash(token))) return;
  const message = "Send the token for metrics as `Authorization: Bearer …`.";
  throw new GatewayError("authentication_required", message);
}
