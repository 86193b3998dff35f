import { timingSafeEqual } from "node:crypto";
import type { InstallationStatus } from "../../domain/status.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { type HttpExchange, queryOf, readSecret } from "../http-exchange.ts";
import type { Lifecycle } from "../endpoint.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";

interface HealthSettings {
  lifecycle: Lifecycle;
  /** Returns the reason why the process is not ready although it serves requests; null when the process is ready. */
  unready(): string | null;
  status(): Promise<InstallationStatus>;
  /** Returns the metrics of every process on the port, in Prometheus' text format. */
  metrics(): Promise<string>;
  /**
   * Bearer token that `/metrics` requires; null for none. Only for callers with this token, `/readyz` names
   * organizations, models and vendors.
   */
  metricsToken: string | null;
}

/** Routes of health, readiness and metrics for operators. */
export function healthRoutes(settings: HealthSettings): HttpRoute[] {
  const { lifecycle, unready, metrics, metricsToken } = settings;
  const open = {
    method: "GET",
    family: "images",
    isProbe: true,
    auth: "public",
    because: "it is for the operator's probes",
  } as const;
  const detailsOf = sharedDetails(settings);
  const ready = async (exchange: HttpExchange): Promise<Response> => {
    const { requestId, request } = exchange;
    const details = queryOf(request.url).has("verbose") ? await detailsOf(request.headers) : {};
    const headers = baseHeaders(requestId);
    if (lifecycle.phase !== "serving")
      return Response.json({ status: "draining", ...details }, { status: 503, headers });
    const reason = unready();
    if (reason === null) return Response.json({ status: "ready", ...details }, { headers });
    const body = { status: "unready", reason, ...details };
    return Response.json(body, { status: 503, headers });
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
      // This endpoint is for load balancers without a configured path (HAProxy manual, `option httpchk`).
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

/** Time for which the installation's state is reused, so that many callers cost no more than one. */
const STATUS_MS = 2_000;

/**
 * Returns a function for the additional fields of `/readyz?verbose`. Callers with the metrics token get the names of
 * organizations, models and vendors. All other callers get only kind, severity and time of each cause, and the name of
 * a failed part of the program.
 */
function sharedDetails({ status, metricsToken }: HealthSettings): (headers: Headers) => Promise<object> {
  let read: { at: number; status: Promise<InstallationStatus> } | null = null;
  return async (headers) => {
    const now = performance.now();
    if (!read || now - read.at > STATUS_MS) read = { at: now, status: status() };
    const { state, checkedAt, causes } = await read.status;
    const isTold = metricsToken !== null && isToken(headers, metricsToken);
    return {
      state,
      checkedAt: new Date(checkedAt).toISOString(),
      causes: causes.map((cause) => {
        const { kind, severity, subject, since } = cause;
        const shown = { kind, severity, since: since === null ? null : new Date(since).toISOString() };
        if (!isTold) return kind === "part" ? Object.assign(shown, { subject }) : shown;
        const { organizationId, message, path } = cause;
        return Object.assign(shown, { subject, organizationId, message, path });
      }),
    };
  };
}

/** Compares hashes, which have equal length, so that the comparison takes the same time for every token. */
function isToken(headers: Headers, token: string): boolean {
  const hash = (text: string): Uint8Array => new Bun.CryptoHasher("sha256").update(text).digest();
  return timingSafeEqual(hash(readSecret(headers, []) ?? ""), hash(token));
}

function requireToken(headers: Headers, token: string): void {
  if (isToken(headers, token)) return;
  const message = "Send the token for metrics as `Authorization: Bearer …`.";
  throw new GatewayError("authentication_required", message);
}
