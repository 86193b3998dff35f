import { readRequest } from "../../dialects/chat/index.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import { rateHeaders } from "../../dialects/rate-headers.ts";
import type { Core } from "../../gateway/core.ts";
import { handleChat } from "../../gateway/chat.ts";
import { readJsonBody } from "../body.ts";
import type { BodyLimits } from "../body-limits.ts";
import { contextOf, queryOf, suspendIdleTimeout, type AuthenticatedExchange } from "../http-exchange.ts";
import { baseHeaders } from "../respond.ts";
import type { Route, RouteResult } from "../routes.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/** The text endpoints. */
export function textRoutes(core: Core, bodyLimits: BodyLimits): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/chat/completions",
      name: "chat",
      family: "chat",
      auth: "key",
      scope: "ai:llm",
      pipeline: "text",
      handle: (exchange) => chat(core, bodyLimits, exchange),
    },
  ];
}

async function chat(
  core: Core,
  bodyLimits: BodyLimits,
  exchange: AuthenticatedExchange,
): Promise<RouteResult> {
  const { request, requestId } = exchange;
  refuseProvider(request);
  const payload = readRequest(await readJsonBody(exchange, bodyLimits, MAX_BYTES));
  await exchange.claimOutcome?.(payload.raw);
  suspendIdleTimeout(exchange);
  const outcome = await handleChat(core, contextOf(exchange), payload);
  const headers = Object.assign(baseHeaders(requestId), rateHeaders(outcome.rate, "chat"));
  if (outcome.coveredTokens !== null) headers["x-gateway-max-tokens"] = String(outcome.coveredTokens);
  if (outcome.kind === "whole") {
    headers["content-type"] = "application/json";
    return new Response(outcome.text, { headers });
  }
  headers["content-type"] = "text/event-stream";
  headers["cache-control"] = "no-cache";
  // nginx buffers responses unless told otherwise.
  headers["x-accel-buffering"] = "no";
  return { response: new Response(outcome.body, { headers }), ended: outcome.ended };
}

/** The gateway chooses the provider. A body field of that name is refused by the dialect. */
function refuseProvider({ headers, url }: Request): void {
  const isInHeader = headers.has("x-provider");
  const isInQuery = url.includes("?") && queryOf(url).has("provider");
  if (!isInHeader && !isInQuery) return;
  const where = isInHeader ? "the `X-Provider` header" : "the `provider` query parameter";
  const message = `Remove ${where}: the gateway chooses the provider by itself.`;
  throw new GatewayError("provider_not_allowed", message, { param: "provider" });
}
