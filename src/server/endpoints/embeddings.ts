import { readRequest } from "../../dialects/embeddings/index.ts";
import { rateHeaders } from "../../dialects/rate-headers.ts";
import type { Core } from "../../gateway/core.ts";
import { handleEmbeddings } from "../../gateway/embeddings.ts";
import { type BodyLimits, readJsonBody } from "../entrance/body.ts";
import { contextOf, suspendIdleTimeout, type AuthenticatedExchange } from "../http-exchange.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";
import { refuseProvider, withPathModel } from "./text.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/** Routes for embeddings of texts, in OpenAI's protocol. */
export function embeddingRoutes(core: Core, bodyLimits: BodyLimits): HttpRoute[] {
  return [
    {
      method: "POST",
      path: "/v1/embeddings",
      name: "embeddings",
      family: "chat",
      auth: "key",
      scope: "ai:llm",
      pipeline: "text",
      handle: (exchange) => handle(core, bodyLimits, exchange),
    },
  ];
}

async function handle(
  core: Core,
  bodyLimits: BodyLimits,
  exchange: AuthenticatedExchange,
): Promise<Response> {
  refuseProvider(exchange.request);
  const bytes = await readJsonBody(exchange, bodyLimits, MAX_BYTES);
  const payload = readRequest(withPathModel(bytes, exchange));
  await exchange.claimOutcome?.(payload.raw);
  suspendIdleTimeout(exchange);
  const { text, limitState } = await handleEmbeddings(core, contextOf(exchange), payload);
  const headers = Object.assign(baseHeaders(exchange.requestId), rateHeaders(limitState, "chat"));
  headers["content-type"] = "application/json";
  return new Response(text, { headers });
}
